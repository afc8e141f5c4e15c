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

// StepColumns lists the columns of jobs and their steps that Runs needs. The name is last because it may contain
// the separator. If TimelimitRaw is missing, the time limits are unknown.
const StepColumns = stepsWanted + ",TimelimitRaw,JobName"

const stepsWanted = "JobIDRaw,JobID,Submit,Start,End,State,ReqNodes,NodeList,User,Account,Partition"

// StepCommand is the command that prints the accounting for Runs.
const StepCommand = "SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --parsable2 --noconvert --starttime=2026-01-01 --format=" + StepColumns

// LeftUnread counts the jobs that did not become runs, and the texts that could not be parsed.
type LeftUnread struct {
	Unfinished int // jobs that still wait or run
	NeverBegan int
	Resized    int // jobs that changed their size, and so are already evolving
	Companions int // allocations that the sidecar made for jobs
	Hetero     int // components of heterogeneous jobs, which have several allocations for one script
	Broken     int // jobs that end before they begin, or that have a line that cannot be parsed

	Unread      // the texts that cannot be parsed
	Cut    bool // the text ends in the middle of a line, so its last job is left out
}

// Runs collects the runs of jobs from one or more texts that StepCommand printed.
type Runs struct {
	All   []advise.Run
	Left  LeftUnread
	nodes map[string]int32  // numbers of nodes, by cluster and node name
	lists map[list][]int32  // numbers of the nodes in each list of nodes
	words map[string]string // one copy of each text
}

// list is a list of nodes of a cluster.
type list struct{ cluster, text string }

// NewRuns returns Runs without any run.
func NewRuns() *Runs {
	return &Runs{nodes: map[string]int32{}, lists: map[list][]int32{}, words: map[string]string{}}
}

// jobLines holds the parsed lines of one job id in one text.
type jobLines struct {
	rows    []jobRow
	scripts []scriptStep
	steps   []advise.Step
	broken  bool
}

// jobRow is a row of a job.
type jobRow struct {
	advise.Run
	state string
	nodes int // number of nodes in the job's node list
}

// scriptStep is the step of a job's script, or of its interactive shell.
type scriptStep struct {
	from core.Time
	node int32
}

// Read parses one text. Jobs that ended at `from` or later and before `until` become runs. If `until` is 0, there
// is no upper bound. So a job that occurs in the texts of several periods becomes a run only once. Times without a
// zone are in the given zone.
//
// A line that cannot be parsed is counted, and the jobs to which it may belong are left out. If Read returns an
// error, nothing could be read. The error is an *InputError if columns are missing.
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
		case err != nil && !errors.Is(err, io.EOF): // the rest of the file is damaged
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
		delete(x.jobs, job) // deleted now to save memory, because a month has many jobs
	}
	return nil
}

// text holds the parsed lines of one text, by job.
type text struct {
	jobs  map[jobKey]*jobLines
	order []jobKey
	last  jobKey // the job of the last line that could be parsed
}

func (x *text) of(job jobKey) *jobLines {
	if x.jobs[job] == nil {
		x.jobs[job] = &jobLines{}
		x.order = append(x.order, job)
	}
	return x.jobs[job]
}

// broken records that a line about a job cannot be parsed.
func (x *text) broken(job jobKey) {
	if job.id != 0 {
		x.of(job).broken = true
	}
}

// unreadable marks the jobs to which the table's current line may belong as broken. A line with a single field
// belongs to no job, because it is the rest of a job's name with a line break.
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
	for job := range x.jobs { // jobs with this id in any cluster
		if job.id == id {
			known = true
			x.broken(job)
		}
	}
	if !known {
		x.broken(jobKey{x.last.cluster, id})
	}
}

// idOf returns the job id at the beginning of a line, or 0 if the line begins otherwise.
func idOf(line string) int64 {
	digits := 0
	for digits < len(line) && '0' <= line[digits] && line[digits] <= '9' {
		digits++
	}
	id, _ := strconv.ParseInt(line[:digits], 10, 64)
	return id
}

// line parses one line and returns its job.
func (r *Runs) line(t *table, x *text) jobKey {
	job, step, isStep := t.job()
	switch {
	case t.problem != nil:
		return jobKey{}
	case isStep && strings.Contains(t.Text("JobIDRaw"), "+"):
		return job // a component of a heterogeneous job
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

// word returns the single copy of a text. The copy is made printable, because users choose the names of jobs.
func (r *Runs) word(text string) string {
	if known, ok := r.words[text]; ok {
		return known
	}
	own := strings.Clone(text)
	clean := core.Printable(own)
	r.words[own] = clean
	return clean
}

// list returns the numbers of a line's nodes, or nil if the line has no nodes.
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

// add creates runs from the lines of one job id, or counts the reason why there is no run. If several rows have one
// id, they are runs of a requeued job, or different jobs. A row after a RESIZING row is the same job with another
// size.
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

// why returns the counter for a row that is not a run, or nil for a run.
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

// takeSteps assigns to a run its own steps. For a requeued job these are the steps that began during that run. If
// the end of a step is missing or is before its beginning, the step ends with the job. takeSteps returns false if a
// step began long before the job, because then the rows do not belong together.
func (a *jobRow) takeSteps(job *jobLines) bool {
	const jump = 60 // by so many seconds clocks may differ
	only := len(job.rows) == 1
	if only {
		a.Steps = job.steps[:0] // the slice is filtered in place
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

// String lists the counts that are not 0.
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

// ReadText does what Read does, for the output of one call of sacct and for jobs of any time.
func (r *Runs) ReadText(text, name string) error {
	return r.Read(strings.NewReader(text), name, time.UTC, 0, 0)
}
