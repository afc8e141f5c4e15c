package sacct

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"accordion/core"
	"accordion/core/ep"
	"accordion/slurm/output"
	"accordion/traces/swf"
)

// LeftOut counts what the accounting has and a workload does not.
type LeftOut struct {
	Unfinished int // jobs that wait or run
	Expanders  int // allocations that the sidecar made for jobs that grew, and merged into them
	Broken     int // jobs that end before they begin: the database lost something
	Damaged    int // resized jobs of which a row cannot be read
	Sizes      int // resized jobs whose sizes make no profile

	Unread            // what cannot be read
	Clusters []string // of whose jobs there are some, where these are several
}

// Warnings returns what is to be told next to the counts, a line each.
func (l *LeftOut) Warnings() []string {
	all := l.Unread.Warnings()
	if len(l.Clusters) > 0 {
		all = append(all, fmt.Sprintf("the accounting is of %d clusters (%s), and a workload log of one machine: print one by sacct --clusters=NAME, or keep one by "+
			"accordion trace filter --partition", len(l.Clusters), strings.Join(l.Clusters, ", ")))
	}
	return all
}

// String says what is left out; "" when nothing is.
func (l LeftOut) String() string {
	var parts []string
	for _, p := range []struct {
		count int
		what  string
	}{{l.Unfinished, "jobs that wait or run"}, {l.Expanders, "expanders of jobs that grew"}, {l.Broken, "jobs that end before they begin"},
		{l.Damaged, "resized jobs of which a row cannot be read"}, {l.Sizes, "resized jobs whose sizes make no profile"}} {
		if p.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.count, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// Workload reads Slurm's accounting, as Command prints it, as a workload log: one record a job, in the order of submission, second
// 0 being the first submission. Columns may be in any order among others; times without a zone are the zone's.
//
// The rows of a job that was resized, all but the last RESIZING, become one evolving job, with its companions: its profile is the sizes
// that all of them held together, for as long as it held them, and its requested time is that together, for a job's own limit says nothing about its steps.
// Sizes are processors; those of a job that ran are what it got, for on whole nodes that is more than it asked for. Numbers are
// Slurm's ids; where an id comes again (a requeued job, a database that lost its last seconds) the later job has one above all
// ids. Users, accounts (as groups) and names (as applications) become numbers in the order of their first jobs, and nothing of
// them is in the log; QOS (as queues) and partitions are named in its header. The header does not know the machine.
//
// A line that cannot be read is left out and counted, and statistics that cannot be read are unknown. Jobs of several clusters may have the
// same id; their partitions are then named with their clusters. An error says that there is nothing to read, with file and line.
func Workload(in io.Reader, file string, zone *time.Location) (*swf.Log, LeftOut, error) {
	var left LeftOut
	t, err := openTable(in, file, zone, columns(Columns, Command), &left.Unread)
	if err != nil {
		return nil, left, err
	}
	defer t.in.Close()
	var rows []held
	damaged := map[jobKey]bool{}
	err = t.Each(&left.Lines, func() error {
		t.problem = nil
		job, _, isStep := t.job()
		if isStep {
			return nil
		}
		r := t.held(job)
		if t.problem == nil {
			rows = append(rows, r)
		} else if job.id > 0 {
			damaged[job] = true
		}
		return t.failed()
	})
	if err != nil && len(rows) == 0 {
		return nil, left, err
	}
	if err != nil { // the rest of a damaged file
		left.Lines.Add(t.Wrong("", err.Error()))
	}
	if len(rows) == 0 && left.Lines.Count > 0 {
		return nil, left, noneOf(&left.Unread)
	}
	if len(t.clusters) > 1 {
		left.Clusters = slices.Sorted(maps.Keys(t.clusters))
		for i := range rows {
			rows[i].groups[4] = rows[i].cluster + "/" + rows[i].groups[4]
		}
	}
	jobs := jobsOf(rows)
	jobs = slices.DeleteFunc(jobs, func(j jobRows) bool {
		why := left.why(&j, damaged)
		if why != nil {
			*why++
		}
		return why != nil
	})
	log, err := workload(jobs)
	if err != nil {
		return nil, left, fmt.Errorf("%s: %w", file, err)
	}
	log.Name = swf.LogName(file)
	if zone != time.Local { // whose name says nothing elsewhere
		log.Header.Add("TimeZoneString", zone.String())
	}
	return log, left, nil
}

// held is one row: what a job held for a while, or would have.
type held struct {
	entry
	asked, got int64 // processors; -1: what it asked for cannot be read
	nodes      int64 // that it got; 0: not told, or -1
	limit      core.Time
	cpu        float64 // seconds of all processors
	name       string
	groups     [5]string // of it: user, account, name, QOS, partition
}

func (t *table) held(job jobKey) held {
	name := t.word(t.Text("JobName"))
	h := held{
		entry: t.entry(job), asked: t.statistic("ReqCPUS"), got: t.number("AllocCPUS"), nodes: t.statistic("NNodes"), limit: t.limit(), cpu: t.cpu(), name: name,
	}
	if h.submit == 0 { // it would be the log's beginning
		t.wrong("Submit", core.Shown(t.Text("Submit"))+" is no time of submission")
	}
	for i, column := range []string{"User", "Account", "JobName", "QOS", "Partition"} {
		h.groups[i] = t.word(t.Text(column))
	}
	return h
}

// jobRows is the rows of one job, one a size, and those of its companions, of all of them together.
type jobRows struct{ rows, companions []held }

func (l jobRows) first() *held { return &l.rows[0] }
func (l jobRows) last() *held  { return &l.rows[len(l.rows)-1] }

// jobsOf are the jobs in the order of their first submissions; companions that are over with their job.
func jobsOf(rows []held) []jobRows {
	var all []jobRows
	for _, its := range rowsByJob(rows) {
		l := jobRows{rows: its}
		l.correctSizes()
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b jobRows) int { return cmp.Compare(a.first().submit, b.first().submit) })
	return joinCompanions(all)
}

// joinCompanions puts companions with the jobs beside which they were. An id may come again: the job is the last of the id that was
// submitted before.
func joinCompanions(all []jobRows) []jobRows {
	jobs := make(map[jobKey]int, len(all))
	for i := range all {
		parent, stays := output.AllocatedFor(all[i].first().name)
		if job, known := jobs[jobKey{all[i].first().cluster, int64(parent)}]; stays && known && all[i].last().end > 0 {
			all[job].companions = append(all[job].companions, all[i].rows...)
			all[i].rows = nil
			continue
		}
		jobs[all[i].first().jobKey] = i
	}
	return slices.DeleteFunc(all, func(l jobRows) bool { return l.rows == nil })
}

// correctSizes puts the processors of a resized job right where Slurm did not write what it held; where the nodes are not told, nothing is done.
// 20.11 writes into each row those of the next size, which shows in that the last two are the same. 26.05 writes another size into
// the first row, which shows in that the job asked for as many a node as it has at its end, and is said to have got others.
func (l jobRows) correctSizes() {
	r, last := l.rows, len(l.rows)-1
	if last < 1 || r[0].nodes <= 0 || r[last].nodes <= 0 {
		return
	}
	if r[last-1].got == r[last].got {
		for i := last; i > 0; i-- {
			r[i].got = r[i-1].got
		}
		r[0].got = r[0].nodes * r[last].got / r[last].nodes
	}
	if r[0].asked*r[last].nodes == r[last].got*r[0].nodes {
		r[0].got = r[0].asked
	}
}

// expander says whether a name is one's.
func expander(name string) bool {
	parent, stays := output.AllocatedFor(name)
	return parent != 0 && !stays
}

// unfinished are the states of jobs that are not over.
var unfinished = []string{"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "SIGNALING", "STAGE_OUT", "STOPPED"}

// why is the count that a job goes into; nil when it is part of the workload.
func (l *LeftOut) why(j *jobRows, damaged map[jobKey]bool) *int {
	last := j.last()
	switch {
	case expander(j.first().name):
		return &l.Expanders
	case last.end == 0 || slices.Contains(unfinished, last.state):
		return &l.Unfinished
	case j.first().start > 0 && last.end < j.first().start:
		return &l.Broken
	case damaged[last.jobKey] && (len(j.rows) > 1 || last.state == resizing):
		return &l.Damaged
	}
	if requested := j.profile(); requested != nil && ep.Check(requested, core.MaxNodes) != nil {
		return &l.Sizes
	}
	return nil
}

// profile is the sizes that a job held with its companions, in processors, from its start to its end; nil where it held one size, or
// none. A row's own start is no witness (see join); a companion's first is.
func (l jobRows) profile() core.EP {
	from, end := l.first().start, l.last().end
	if from == 0 { // it never began
		return nil
	}
	changes := map[core.Time]int64{end: 0} // of the size, in processors
	hold := func(r held, from, to core.Time) core.Time {
		if to = min(to, end); r.got > 0 && from < to {
			changes[from] += r.got
			changes[to] -= r.got
			return to
		}
		return from
	}
	for at, i := from, 0; i < len(l.rows); i++ {
		at = hold(l.rows[i], at, l.rows[i].end)
	}
	for _, r := range l.companions {
		hold(r, max(from, r.start), r.end)
	}
	var ep core.EP
	size := int64(0)
	for _, at := range slices.Sorted(maps.Keys(changes)) {
		if length := at - from; length > 0 && size > 0 {
			if last := len(ep) - 1; last >= 0 && ep[last].Nodes == int(size) {
				ep[last].Duration += length
			} else {
				ep = append(ep, core.Step{Duration: length, Nodes: int(size)})
			}
			from = at
		}
		size += changes[at]
	}
	if len(ep) < 2 {
		return nil
	}
	return ep
}
