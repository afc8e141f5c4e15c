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

// LeftOut counts the jobs and texts of the accounting that are not in the workload.
type LeftOut struct {
	Unfinished int // jobs that still wait or run
	Expanders  int // allocations that the sidecar made and merged into growing jobs
	Broken     int // jobs that end before they begin, because the database lost an entry
	Damaged    int // resized jobs with a row that cannot be parsed
	Sizes      int // resized jobs whose sizes are not a valid profile

	Unread            // the texts that cannot be parsed
	Clusters []string // the clusters of the jobs if there are several
}

// Warnings returns a line of text for each problem. It does not include the counts, which String lists.
func (l *LeftOut) Warnings() []string {
	all := l.Unread.Warnings()
	if len(l.Clusters) > 0 {
		all = append(all, fmt.Sprintf("the accounting is of %d clusters (%s), and a workload log of one machine: print one by sacct --clusters=NAME, or keep one by "+
			"accordion trace filter --partition", len(l.Clusters), strings.Join(l.Clusters, ", ")))
	}
	return all
}

// String lists the counts that are not 0.
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

// Workload converts Slurm's accounting, as Command prints it, to a workload log. The log has one record for each job,
// in the order of submission. Second 0 is the first submission. The text may have further columns, and its columns may
// be in any order. Times without a zone are in the given zone.
//
// The rows of a resized job are all RESIZING except the last. Together with the rows of its companions they become one
// evolving job. The job's profile has the sizes that the job and its companions held together, with the duration of
// each size. The job's requested time is the sum of these durations, because the job's own limit is not divided into
// steps.
//
// Sizes are numbers of CPUs. A job that ran has the CPUs that it got, which may be more than it requested if it got
// whole nodes. Job numbers are Slurm's ids. An id may occur again if a job was requeued or the database lost its last
// seconds. Then the later job gets a number above all ids. Users, accounts (as groups) and names (as applications)
// become numbers in the order of their first jobs. The log has none of these texts. Its header names QOS (as queues)
// and partitions, and does not describe the machine.
//
// A line that cannot be parsed is counted and left out, and a statistic that cannot be parsed is unknown. Jobs of
// several clusters may have the same id, so the names of their partitions then include the cluster's name. If Workload
// returns an error, there is nothing to convert. The error names file and line.
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
	if err != nil { // the rest of the file is damaged
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
	if zone != time.Local { // the name Local has no meaning on other machines
		log.Header.Add("TimeZoneString", zone.String())
	}
	return log, left, nil
}

// held is one row: the resources that a job held for some time, or requested.
type held struct {
	entry
	asked, got int64 // processors; -1 if the request cannot be parsed
	nodes      int64 // nodes that the job got; 0 if the text lacks them, -1 if the number cannot be parsed
	limit      core.Time
	cpu        float64 // in seconds of all processors
	name       string
	groups     [5]string // user, account, name, QOS, partition
}

func (t *table) held(job jobKey) held {
	name := t.word(t.Text("JobName"))
	h := held{
		entry: t.entry(job), asked: t.statistic("ReqCPUS"), got: t.number("AllocCPUS"), nodes: t.statistic("NNodes"), limit: t.limit(), cpu: t.cpu(), name: name,
	}
	if h.submit == 0 { // a submission at 0 would become the start of the log
		t.wrong("Submit", core.Shown(t.Text("Submit"))+" is no time of submission")
	}
	for i, column := range []string{"User", "Account", "JobName", "QOS", "Partition"} {
		h.groups[i] = t.word(t.Text(column))
	}
	return h
}

// jobRows holds the rows of one job, one for each size, and all rows of the job's companions.
type jobRows struct{ rows, companions []held }

func (l jobRows) first() *held { return &l.rows[0] }
func (l jobRows) last() *held  { return &l.rows[len(l.rows)-1] }

// jobsOf returns the jobs in the order of their first submission, with those of their companions that have ended.
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

// joinCompanions adds companions to their jobs. If an id occurs again, the companion belongs to the last job with
// that id that was submitted before the companion.
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

// correctSizes corrects the number of CPUs in the rows of a resized job if Slurm wrote another number than the job
// held. It needs the numbers of nodes. 20.11 writes the CPUs of the next size into each row, so the last two rows
// have equal numbers. 26.05 writes a wrong number into the first row. correctSizes corrects that row if the job
// requested as many CPUs per node as it has at its end.
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

// expander reports whether a job's name is that of an expander.
func expander(name string) bool {
	parent, stays := output.AllocatedFor(name)
	return parent != 0 && !stays
}

// unfinished lists the states of jobs that have not ended.
var unfinished = []string{"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "SIGNALING", "STAGE_OUT", "STOPPED"}

// why returns the counter for a job that is left out, or nil for a job in the workload.
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

// profile returns the sizes, in CPUs, that a job and its companions held from the job's start to its end. It
// returns nil if there was at most one size. The start in a row of the job may be wrong (see join), but the start
// in a companion's first row is right.
func (l jobRows) profile() core.EP {
	from, end := l.first().start, l.last().end
	if from == 0 { // the job never started
		return nil
	}
	changes := map[core.Time]int64{end: 0} // changes of the size, in CPUs
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
