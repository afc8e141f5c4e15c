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

	Lines int         // unreadable
	First *InputError // the first of them; nil: none
	Cut   bool        // the text ends within a line: what was the last job is left out
}

// Runs reads what StepCommand prints, of a file or of several, into runs.
type Runs struct {
	All   []advise.Run
	Left  LeftUnread
	nodes map[string]int32   // the number of each node's name
	lists map[string][]int32 // of each text of a list that has been seen
	words map[string]string  // one copy of each name of a user, a step, …
}

// NewRuns has read nothing yet.
func NewRuns() *Runs {
	return &Runs{nodes: map[string]int32{}, lists: map[string][]int32{}, words: map[string]string{}}
}

// accounts is what one text says of one job id, before its lines are put together.
type accounts struct {
	rows    []accounted
	scripts []scripted
	steps   []advise.Step
	broken  bool
}

// accounted is a job's row.
type accounted struct {
	advise.Run
	state string
	nodes int // of its list
}

// scripted is the step of a job's script, or of an interactive shell.
type scripted struct {
	from core.Time
	node int32
}

// Read reads one text. Of the jobs in it those become runs that ended from the second from on and before the second until (0: whenever):
// of a job that several texts have, since it ran in the time of each, one is read. Times without a zone are the zone's.
//
// A line that cannot be read costs the jobs it may be about, and is counted. An error says that nothing could be read: *InputError where
// the names of the columns are not those wanted.
func (r *Runs) Read(in io.Reader, file string, zone *time.Location, from, until core.Time) error {
	end := &ending{in: in}
	t, err := openColumns(end, file, stepsWanted+",JobName", StepCommand)
	if err != nil {
		return err
	}
	jobs := map[int64]*accounts{}
	var order []int64
	last := int64(0)
	of := func(id int64) *accounts {
		if jobs[id] == nil {
			jobs[id] = &accounts{}
			order = append(order, id)
		}
		return jobs[id]
	}
	for {
		read := t.next()
		if read && t.text("JobIDRaw") == "JobIDRaw" {
			continue // texts one behind the other
		}
		id := int64(0)
		if read {
			id = r.line(t, zone, of)
		}
		if t.problem == nil && read {
			last = id
			continue
		}
		if t.problem == nil {
			break
		}
		more := r.unreadable(t)
		for _, id := range []int64{id, last, idOf(t.lines.Text())} {
			if id != 0 {
				of(id).broken = true
			}
		}
		if !more {
			break
		}
	}
	if end.last != '\n' && last != 0 {
		r.Left.Cut = true
		of(last).broken = true
	}
	for _, id := range order {
		r.add(jobs[id], from, until)
		delete(jobs, id) // of a month there are many
	}
	return nil
}

// unreadable counts the line at which the table is, and goes on behind it; false when there is nothing behind.
func (r *Runs) unreadable(t *table) bool {
	var wrong *InputError
	again := errors.As(t.problem, &wrong)
	if !again {
		wrong = &InputError{File: t.file, Line: t.line + 1, Why: t.problem.Error()}
	}
	r.Left.Lines++
	if r.Left.First == nil {
		r.Left.First = wrong
	}
	t.problem = nil
	return again
}

// idOf is the job that a line seems to be about; 0: none.
func idOf(line string) int64 {
	digits := 0
	for digits < len(line) && '0' <= line[digits] && line[digits] <= '9' {
		digits++
	}
	id, _ := strconv.ParseInt(line[:digits], 10, 64)
	return id
}

// ending remembers the last byte that was read.
type ending struct {
	in   io.Reader
	last byte
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.in.Read(p)
	if n > 0 {
		e.last = p[n-1]
	}
	return n, err
}

// line reads one line, and says of which job it is.
func (r *Runs) line(t *table, zone *time.Location, of func(int64) *accounts) int64 {
	raw, step, isStep := strings.Cut(t.text("JobIDRaw"), ".")
	raw, _, plus := strings.Cut(raw, "+")
	id, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || id <= 0 || id > 1<<32 {
		t.wrong("JobIDRaw", core.Shown(t.text("JobIDRaw"))+" is no job id, nor that of a step such as 123.0")
		return 0
	}
	if plus && isStep {
		return id // of a heterogeneous job
	}
	from, to, nodes := t.time("Start", zone), t.time("End", zone), r.list(t)
	if t.problem != nil {
		return id
	}
	job := of(id)
	switch {
	case !isStep:
		job.rows = append(job.rows, r.row(t, zone, from, to, nodes))
	case step == "batch" || step == "interactive":
		if len(nodes) > 0 {
			job.scripts = append(job.scripts, scripted{from, nodes[0]})
		}
	case step != "extern":
		job.steps = append(job.steps, advise.Step{Name: r.word(t.text("JobName")), From: from, To: to, Nodes: nodes})
	}
	return id
}

func (r *Runs) row(t *table, zone *time.Location, from, to core.Time, nodes []int32) accounted {
	state, _, _ := strings.Cut(t.text("State"), " ")
	return accounted{
		Run: advise.Run{
			ID: strings.Clone(core.Printable(t.text("JobID"))), User: r.word(t.text("User")), Account: r.word(t.text("Account")), Partition: r.word(t.text("Partition")), Name: r.word(t.text("JobName")),
			Submit: t.time("Submit", zone), Start: from, End: to, Requested: t.requested(len(nodes)), Limit: t.limit(), Held: len(nodes), Completed: state == "COMPLETED", Script: -1,
		},
		state: r.word(state), nodes: len(nodes),
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

// list is the nodes of a line, by their numbers; nil where none are assigned.
func (r *Runs) list(t *table) []int32 {
	const column = "NodeList"
	text := t.text(column)
	if text == "" || text == "None assigned" || text == "None" || text == "Unknown" {
		return nil
	}
	if known, ok := r.lists[text]; ok {
		return known
	}
	names, err := hostlist.Expand(text)
	if err != nil {
		t.wrong(column, err.Error())
		return nil
	}
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	list := make([]int32, len(names))
	for i, name := range names {
		number, ok := r.nodes[name]
		if !ok {
			number = int32(len(r.nodes))
			r.nodes[strings.Clone(name)] = number
		}
		list[i] = number
	}
	r.lists[strings.Clone(text)] = list
	return list
}

// add makes runs of what was read of one job id, or counts why not. A row of the same id is a job that was requeued, or another one; one
// after RESIZING is the same with another size.
func (r *Runs) add(job *accounts, from, until core.Time) {
	resized := slices.ContainsFunc(job.rows, func(a accounted) bool { return a.state == resizing })
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
		if !row.takes(job) {
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
func (l *LeftUnread) why(row *accounted, broken, resized bool) *int {
	parent, _ := output.Beside(row.Name)
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

// takes gives a run the steps that are its own: of a job that was requeued, those that began while it ran. One whose end the accounting
// has lost, or has before its beginning, lasted as long as its job. False: a step began long before its job, which then is not what it seems.
func (a *accounted) takes(job *accounts) bool {
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
