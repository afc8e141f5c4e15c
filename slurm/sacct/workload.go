package sacct

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/core"
	"accordion/traces/swf"
)

// LeftOut counts what the accounting has and a workload does not.
type LeftOut struct {
	Unfinished int // jobs that wait or run
	Expanders  int // allocations that the sidecar made for jobs that grew
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
// The rows of a job that was resized, all but the last RESIZING, become one evolving job: its profile is the sizes it held, for
// as long as it held them, and its requested time is that together, for a job's own limit says nothing about its steps.
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
	line               int
	id                 int64
	submit, start, end core.Time // Unix seconds; 0: unknown
	state              string
	asked, got         int64 // processors
	nodes              int64 // that it got; 0: not told
	limit              core.Time
	cpu                float64 // seconds of all processors
	name               string
	groups             [5]string // of it: user, account, name, QOS, partition
}

func (t *table) held(zone *time.Location) held {
	id, err := strconv.ParseInt(t.text("JobIDRaw"), 10, 64)
	if err != nil || id <= 0 || id > 1<<32 {
		t.wrong("JobIDRaw", core.Shown(t.text("JobIDRaw"))+" is no job id")
	}
	state, _, _ := strings.Cut(t.text("State"), " ") // "CANCELLED by 0"
	return held{
		line: t.line, id: id, submit: t.time("Submit", zone), start: t.time("Start", zone), end: t.time("End", zone), state: state,
		asked: t.number("ReqCPUS"), got: t.number("AllocCPUS"), nodes: t.number("NNodes"), limit: t.limit(), cpu: t.cpu(), name: t.text("JobName"),
		groups: [5]string{t.text("User"), t.text("Account"), t.text("JobName"), t.text("QOS"), t.text("Partition")},
	}
}

// life is the rows of one job, one a size.
type life []held

func (l life) first() *held { return &l[0] }
func (l life) last() *held  { return &l[len(l)-1] }

// lives puts the rows of each job together, as join does, in the order of their first submissions.
func lives(rows []held) []life {
	slices.SortStableFunc(rows, func(a, b held) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(ended(a.end), ended(b.end)), cmp.Compare(a.submit, b.submit), cmp.Compare(a.line, b.line))
	})
	var all []life
	for i, r := range rows {
		if i == 0 || rows[i-1].id != r.id || rows[i-1].state != resizing {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], r)
	}
	for _, l := range all {
		l.mend()
	}
	slices.SortStableFunc(all, func(a, b life) int { return cmp.Compare(a.first().submit, b.first().submit) })
	return all
}

// mend puts the processors of a resized job right where Slurm (20.11) wrote into each row those of the next size, which shows in
// that the last two are the same. Those of the first size are in proportion to its nodes; where these are not told, nothing is done.
func (l life) mend() {
	last := len(l) - 1
	if last < 1 || l[last-1].got != l[last].got || l[0].nodes == 0 || l[last].nodes == 0 {
		return
	}
	for i := last; i > 0; i-- {
		l[i].got = l[i-1].got
	}
	l[0].got = l[0].nodes * l[last].got / l[last].nodes
}

// unfinished are the states of jobs that are not over.
var unfinished = []string{"PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "REQUEUE_HOLD", "REQUEUE_FED", "SIGNALING", "STAGE_OUT", "STOPPED"}

// why is the count that a job goes into; nil when it is part of the workload.
func (l *LeftOut) why(j *life) *int {
	last := j.last()
	switch {
	case expands(j.first().name) != 0:
		return &l.Expanders
	case last.end == 0 || slices.Contains(unfinished, last.state):
		return &l.Unfinished
	case j.first().start > 0 && last.end < j.first().start:
		return &l.Broken
	}
	return nil
}

// profile is the sizes that a job held, in processors, from its start to its end; nil where it held one size, or none. A row's
// own start is no witness (see join).
func (l life) profile() core.EP {
	var ep core.EP
	from := l.first().start
	if from == 0 { // it never began
		return nil
	}
	for _, row := range l {
		to := min(row.end, l.last().end)
		if length := to - from; length > 0 && row.got > 0 {
			if last := len(ep) - 1; last >= 0 && ep[last].Nodes == int(row.got) {
				ep[last].Duration += length
			} else {
				ep = append(ep, core.Step{Duration: length, Nodes: int(row.got)})
			}
			from = to
		}
	}
	if len(ep) < 2 {
		return nil
	}
	return ep
}
