package sacct

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/core"
	"accordion/slurm/output"
	"accordion/traces/swf"
)

// LeftOut counts what the accounting has and a workload does not.
type LeftOut struct {
	Unfinished int // jobs that wait or run
	Expanders  int // allocations that the sidecar made for jobs that grew, and merged into them
	Broken     int // jobs that end before they begin: the database lost something
}

// String says what is left out; "" when nothing is.
func (l LeftOut) String() string {
	var parts []string
	for _, p := range []struct {
		count int
		what  string
	}{{l.Unfinished, "jobs that wait or run"}, {l.Expanders, "expanders of jobs that grew"}, {l.Broken, "jobs that end before they begin"}} {
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
// Errors are the input's: *InputError with file and line.
func Workload(in io.Reader, file string, zone *time.Location) (*swf.Log, LeftOut, error) {
	var left LeftOut
	t, err := openTable(in, file)
	if err != nil {
		return nil, left, err
	}
	var rows []held
	for t.next() {
		if strings.Contains(t.text("JobIDRaw"), ".") {
			continue // a step
		}
		r := t.held(zone)
		if t.problem == nil {
			rows = append(rows, r)
		}
	}
	if t.problem != nil {
		return nil, left, t.problem
	}
	jobs := lives(rows)
	jobs = slices.DeleteFunc(jobs, func(j life) bool {
		why := left.why(&j)
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
	asked, got int64 // processors
	nodes      int64 // that it got; 0: not told
	limit      core.Time
	cpu        float64 // seconds of all processors
	name       string
	groups     [5]string // of it: user, account, name, QOS, partition
}

func (t *table) held(zone *time.Location) held {
	id, err := strconv.ParseInt(t.text("JobIDRaw"), 10, 64)
	if err != nil || id <= 0 || id > 1<<32 {
		t.wrong("JobIDRaw", core.Shown(t.text("JobIDRaw"))+" is no job id")
	}
	state, _, _ := strings.Cut(t.text("State"), " ")
	return held{
		entry: entry{line: t.line, id: id, submit: t.time("Submit", zone), start: t.time("Start", zone), end: t.time("End", zone), state: state},
		asked: t.number("ReqCPUS"), got: t.number("AllocCPUS"), nodes: t.number("NNodes"), limit: t.limit(), cpu: t.cpu(), name: t.text("JobName"),
		groups: [5]string{t.text("User"), t.text("Account"), t.text("JobName"), t.text("QOS"), t.text("Partition")},
	}
}

// life is the rows of one job, one a size, and those of its companions, of all of them together.
type life struct{ rows, beside []held }

func (l life) first() *held { return &l.rows[0] }
func (l life) last() *held  { return &l.rows[len(l.rows)-1] }

// lives are the jobs in the order of their first submissions; companions that are over with their job.
func lives(rows []held) []life {
	var all []life
	for _, its := range lines(rows) {
		l := life{rows: its}
		l.mend()
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b life) int { return cmp.Compare(a.first().submit, b.first().submit) })
	return accompanied(all)
}

// accompanied puts companions with the jobs beside which they were. An id may come again: the job is the last of the id that was
// submitted before.
func accompanied(all []life) []life {
	jobs := make(map[core.JobID]int, len(all))
	for i := range all {
		parent, stays := output.Beside(all[i].first().name)
		if job, known := jobs[parent]; stays && known && all[i].last().end > 0 {
			all[job].beside = append(all[job].beside, all[i].rows...)
			all[i].rows = nil
			continue
		}
		jobs[core.JobID(all[i].first().id)] = i
	}
	return slices.DeleteFunc(all, func(l life) bool { return l.rows == nil })
}

// mend puts the processors of a resized job right where Slurm did not write what it held; where the nodes are not told, nothing is done.
// 20.11 writes into each row those of the next size, which shows in that the last two are the same. 26.05 writes another size into
// the first row, which shows in that the job asked for as many a node as it has at its end, and is said to have got others.
func (l life) mend() {
	r, last := l.rows, len(l.rows)-1
	if last < 1 || r[0].nodes == 0 || r[last].nodes == 0 {
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
	parent, stays := output.Beside(name)
	return parent != 0 && !stays
}

// unfinished are the states of jobs that are not over.
var unfinished = []string{"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "SIGNALING", "STAGE_OUT", "STOPPED"}

// why is the count that a job goes into; nil when it is part of the workload.
func (l *LeftOut) why(j *life) *int {
	last := j.last()
	switch {
	case expander(j.first().name):
		return &l.Expanders
	case last.end == 0 || slices.Contains(unfinished, last.state):
		return &l.Unfinished
	case j.first().start > 0 && last.end < j.first().start:
		return &l.Broken
	}
	return nil
}

// profile is the sizes that a job held with its companions, in processors, from its start to its end; nil where it held one size, or
// none. A row's own start is no witness (see join); a companion's first is.
func (l life) profile() core.EP {
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
	for _, r := range l.beside {
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
