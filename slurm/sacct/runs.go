package sacct

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"accordion/core"
	"accordion/core/hostlist"
	"accordion/slurm/output"
	"accordion/traces/advise"
)

// StepColumns are what Runs wants to know of jobs and of their steps. The name is last: it may contain the separator. TimelimitRaw
// may be absent: then nobody knows how long jobs asked for.
const StepColumns = stepsWanted + ",TimelimitRaw,JobName"

const stepsWanted = "JobIDRaw,JobID,Submit,Start,End,State,ReqNodes,NodeList,User,Account,Partition"

// StepCommand prints the accounting as Runs reads it.
const StepCommand = "SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --parsable2 --noconvert --starttime=2026-01-01 --format=" + StepColumns

// LeftUnread counts the jobs of the accounting that are no runs, and says what is wrong with it.
type LeftUnread struct {
	Unfinished int // they wait or run
	NeverBegan int
	Resized    int // they evolve as it is
	Companions int // allocations that the sidecar made beside jobs
	Hetero     int // parts of heterogeneous jobs: one script, several allocations
	Broken     int // they end before they begin, or a line about them is unreadable

	Unread      // what cannot be read
	Cut    bool // the text ends within a line: what was the last job is left out
}

// Runs reads what StepCommand prints, of a file or of several, into runs.
type Runs struct {
	All   []advise.Run
	Left  LeftUnread
	nodes map[string]int32  // the number of each node's name, and its cluster's
	lists map[list][]int32  // of each list that has been seen
	words map[string]string // one copy of each name of a user, a step, …
}

// list is the text of a list of nodes of a cluster.
type list struct{ cluster, text string }

// NewRuns has read nothing yet.
func NewRuns() *Runs {
	return &Runs{nodes: map[string]int32{}, lists: map[list][]int32{}, words: map[string]string{}}
}

// jobLines is what one text says of one job id, before its lines are put together.
type jobLines struct {
	rows    []jobRow
	scripts []scriptStep
	steps   []advise.Step
	broken  bool
}

// jobRow is a job's row.
type jobRow struct {
	advise.Run
	state string
	nodes int // of its list
}

// scriptStep is the step of a job's script, or of an interactive shell.
type scriptStep struct {
	from core.Time
	node int32
}

// Read reads one text. Of the jobs in it those become runs that ended from the second from on and before the second until (0: whenever):
// of a job that several texts have, since it ran in the time of each, one is read. Times without a zone are the zone's.
//
// A line that cannot be read costs the jobs it may be about, and is counted. An error says that nothing could be read: *InputError where
// the names of the columns are not those wanted.
func (r *Runs) Read(in io.Reader, file string, zone *time.Location, from, until core.Time) error {
	t, err := openTable(in, file, zone, columns(stepsWanted+",JobName", StepCommand), &r.Left.Unread)
	if err != nil {
		return err
	}
	defer t.in.Close()
	x := text{jobs: map[jobKey]*jobLines{}}
	read, unread := false, Unread{}
	for !errors.Is(err, io.EOF) {
		err = t.Next()
		if err == nil {
			t.problem = nil
			if job := r.line(t, &x); t.problem == nil {
				x.last, read = job, true
			}
			err = t.failed()
		}
		var wrong *InputError
		switch {
		case errors.As(err, &wrong):
			r.Left.Lines.Add(wrong)
			unread.Lines.Add(wrong)
			x.unreadable(t)
		case err != nil && !errors.Is(err, io.EOF): // the rest of a damaged file
			r.Left.Lines.Add(t.Wrong("", err.Error()))
			r.Left.Cut = true
			x.broken(x.last)
			err = io.EOF
		}
	}
	if !read && unread.Lines.Count > 0 {
		return noneOf(&unread)
	}
	if t.Cut() && x.last.id != 0 {
		r.Left.Cut = true
		x.broken(x.last)
	}
	for _, job := range x.order {
		its := x.jobs[job]
		if len(t.clusters) > 1 {
			for i := range its.rows {
				its.rows[i].Partition = r.word(job.cluster + "/" + its.rows[i].Partition)
			}
		}
		r.add(its, from, until)
		delete(x.jobs, job) // of a month there are many
	}
	return nil
}

// text is what one text says, before the lines of each job are put together.
type text struct {
	jobs  map[jobKey]*jobLines
	order []jobKey
	last  jobKey // of the last line that could be read
}

func (x *text) of(job jobKey) *jobLines {
	if x.jobs[job] == nil {
		x.jobs[job] = &jobLines{}
		x.order = append(x.order, job)
	}
	return x.jobs[job]
}

// broken notes that a line about a job cannot be read.
func (x *text) broken(job jobKey) {
	if job.id != 0 {
		x.of(job).broken = true
	}
}

// unreadable notes which jobs the table's current line may be about. A line of one field is about none: it is the rest of a name.
func (x *text) unreadable(t *table) {
	line, _ := t.Line()
	if !strings.ContainsAny(line, "|\t;") {
		return
	}
	id := idOf(line)
	if id == 0 {
		x.broken(x.last)
		return
	}
	known := false
	for job := range x.jobs { // of whatever cluster
		if job.id == id {
			known = true
			x.broken(job)
		}
	}
	if !known {
		x.broken(jobKey{x.last.cluster, id})
	}
}

// idOf returns the job that a line seems to be about; 0: none.
func idOf(line string) int64 {
	digits := 0
	for digits < len(line) && '0' <= line[digits] && line[digits] <= '9' {
		digits++
	}
	id, _ := strconv.ParseInt(line[:digits], 10, 64)
	return id
}

// line reads one line, and returns the job that it is about.
func (r *Runs) line(t *table, x *text) jobKey {
	job, step, isStep := t.job()
	switch {
	case t.problem != nil:
		return jobKey{}
	case isStep && strings.Contains(t.Text("JobIDRaw"), "+"):
		return job // of a heterogeneous job
	case !isStep:
		e := t.entry(job)
		nodes := r.list(t, job.cluster)
		if t.problem == nil {
			its := x.of(job)
			its.rows = append(its.rows, r.row(t, e, nodes))
		}
		return job
	}
	before := core.Time(0)
	if t.last.job == job {
		before = t.last.start
	}
	from := t.time("Start", before)
	to, nodes := t.time("End", from), r.list(t, job.cluster)
	if t.problem != nil {
		return job
	}
	its := x.of(job)
	switch {
	case step == "batch" || step == "interactive":
		if len(nodes) > 0 {
			its.scripts = append(its.scripts, scriptStep{from, nodes[0]})
		}
	case step != "extern":
		its.steps = append(its.steps, advise.Step{Name: r.word(t.Text("JobName")), From: from, To: to, Nodes: nodes})
	}
	return job
}

func (r *Runs) row(t *table, e entry, nodes []int32) jobRow {
	return jobRow{
		Run: advise.Run{
			ID: strings.Clone(core.Printable(t.Text("JobID"))), User: r.word(t.Text("User")), Account: r.word(t.Text("Account")), Partition: r.word(t.Text("Partition")), Name: r.word(t.Text("JobName")),
			Submit: e.submit, Start: e.start, End: e.end, Requested: t.requested(len(nodes)), Limit: t.limit(), Held: len(nodes), Completed: e.state == "COMPLETED", Script: -1,
		},
		state: r.word(e.state), nodes: len(nodes),
	}
}

// word is the one copy of a text, printable whatever somebody called his job.
func (r *Runs) word(text string) string {
	if known, ok := r.words[text]; ok {
		return known
	}
	own := strings.Clone(text)
	clean := core.Printable(own)
	r.words[own] = clean
	return clean
}

// list reads the nodes of a line, by their numbers; nil where none are assigned.
func (r *Runs) list(t *table, cluster string) []int32 {
	const column = "NodeList"
	text := t.Text(column)
	if text == "" || text == "None assigned" || text == "None" || text == "Unknown" {
		return nil
	}
	if known, ok := r.lists[list{cluster, text}]; ok {
		return known
	}
	names, err := hostlist.Expand(text)
	if err != nil {
		t.wrong(column, err.Error())
		return nil
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	numbers := make([]int32, len(names))
	for i, name := range names {
		name = cluster + "/" + name
		number, ok := r.nodes[name]
		if !ok {
			number = int32(len(r.nodes))
			r.nodes[name] = number
		}
		numbers[i] = number
	}
	r.lists[list{cluster, strings.Clone(text)}] = numbers
	return numbers
}

// add makes runs of what was read of one job id, or counts why not. A row of the same id is a job that was requeued, or another one; one
// after RESIZING is the same with another size.
func (r *Runs) add(job *jobLines, from, until core.Time) {
	resized := slices.ContainsFunc(job.rows, func(a jobRow) bool { return a.state == resizing })
	for i := range job.rows {
		row := &job.rows[i]
		if row.End != 0 && (row.End < from || until != 0 && row.End >= until) {
			continue
		}
		if count := r.Left.why(row, job.broken, resized); count != nil {
			*count++
			continue
		}
		for _, s := range job.scripts {
			if row.Start <= s.from && s.from <= row.End {
				row.Script = s.node
			}
		}
		if !row.takeSteps(job) {
			r.Left.Broken++
			continue
		}
		r.All = append(r.All, row.Run)
	}
	if len(job.rows) == 0 && job.broken {
		r.Left.Broken++
	}
}

// why is the count of a row that is no run; nil for one that is.
func (l *LeftUnread) why(row *jobRow, broken, resized bool) *int {
	parent, _ := output.AllocatedFor(row.Name)
	switch {
	case parent != 0:
		return &l.Companions
	case broken:
		return &l.Broken
	case resized:
		return &l.Resized
	case row.Start == 0 && row.End != 0, row.End != 0 && row.nodes == 0:
		return &l.NeverBegan
	case row.End == 0 || slices.Contains(unfinished, row.state):
		return &l.Unfinished
	case row.End < row.Start:
		return &l.Broken
	case strings.Contains(row.ID, "+"):
		return &l.Hetero
	}
	return nil
}

// takeSteps gives a run the steps that are its own: of a job that was requeued, those that began while it ran. One whose end the accounting
// has lost, or has before its beginning, lasted as long as its job. False: a step began long before its job, which then is not what it seems.
func (a *jobRow) takeSteps(job *jobLines) bool {
	const jump = 60 // seconds by which clocks may differ
	only := len(job.rows) == 1
	if only {
		a.Steps = job.steps[:0] // each goes where it came from, or further to the front
	}
	for _, s := range job.steps {
		if s.From == 0 {
			s.From = a.Start
		}
		if !only && (s.From < a.Start || s.From > a.End) {
			continue
		}
		if s.From < a.Start-jump {
			return false
		}
		if s.To < s.From {
			s.To = a.End
		}
		if len(s.Nodes) > 0 {
			a.Steps = append(a.Steps, s)
		}
	}
	slices.SortStableFunc(a.Steps, func(x, y advise.Step) int { return int(max(min(x.From-y.From, 1), -1)) })
	return true
}

// String says what is left out; "" when nothing is.
func (l LeftUnread) String() string {
	var parts []string
	for _, p := range []struct {
		count int
		what  string
	}{{l.Unfinished, "jobs that wait or run"}, {l.NeverBegan, "that never began"}, {l.Resized, "that were resized"}, {l.Companions, "allocations of the sidecar"},
		{l.Hetero, "parts of heterogeneous jobs"}, {l.Broken, "jobs whose lines are damaged"}} {
		if p.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.count, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// ReadText is Read of what sacct printed just now, of jobs whenever they ended.
func (r *Runs) ReadText(text, name string) error {
	return r.Read(strings.NewReader(text), name, time.UTC, 0, 0)
}
