package gantt

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"accordion/core"
	"accordion/traces/files"
	"accordion/traces/replay"
	"accordion/traces/report"
	"accordion/traces/workload"
)

// Write writes the chart as one HTML page. Names of jobs are escaped.
func (g Chart) Write(w io.Writer) error {
	page, err := g.page()
	if err != nil {
		return fmt.Errorf("draw Gantt chart %q: %w", g.Title, err)
	}
	return page.Write(w)
}

// Save writes the page to a file. It writes no file if it returns an error.
func (g Chart) Save(path string) error { return files.Save(files.File{Path: path, Write: g.Write}) }

// page returns the chart as a report with one replay: what really ran.
func (g Chart) page() (*report.Report, error) {
	if len(g.Nodes) == 0 {
		return nil, errors.New("a Gantt chart needs nodes for its rows")
	}
	p := canvas{begin: g.begin(), rows: map[string]int32{}, users: map[string]int32{"": -1}}
	for i, n := range g.Nodes {
		if _, twice := p.rows[n]; twice {
			return nil, errors.New("a node is named twice among the rows")
		}
		p.rows[n] = int32(i)
	}
	run := report.Replay{Result: replay.Result{Policy: "what ran"}, Held: [][]replay.Stretch{}}
	page := &report.Report{
		Title: g.Title, Note: g.Note, Begin: p.begin, Table: g.Figures().rows(len(g.Nodes)),
		Workload: workload.Workload{Name: g.Title, Machine: core.Machine{Nodes: len(g.Nodes)}},
		Real:     &report.Real{Nodes: g.Nodes},
	}
	for _, j := range g.byStart() {
		held, err := p.held(j)
		if err != nil {
			return nil, fmt.Errorf("job %d %w", j.ID, err)
		}
		job, outcome := p.job(j, held)
		page.Workload.Jobs = append(page.Workload.Jobs, job)
		page.Real.Jobs = append(page.Real.Jobs, p.about(j))
		run.Result.Outcomes, run.Held = append(run.Result.Outcomes, outcome), append(run.Held, held)
	}
	page.Real.Users, page.Replays = p.names, []report.Replay{run}
	return page, nil
}

// begin returns the whole second at which the chart begins: the second of the first submission or hold.
func (g Chart) begin() time.Time {
	var first time.Time
	for _, j := range g.Jobs {
		for _, at := range []time.Time{j.Submit, j.Start()} {
			if !at.IsZero() && (first.IsZero() || at.Before(first)) {
				first = at
			}
		}
	}
	return first.Truncate(time.Second)
}

// byStart returns the jobs in order of submission. A job without submission time is sorted by its start.
func (g Chart) byStart() []Job {
	first := func(j Job) time.Time {
		if j.Submit.IsZero() {
			return j.Start()
		}
		return j.Submit
	}
	return slices.SortedStableFunc(slices.Values(g.Jobs), func(a, b Job) int { return first(a).Compare(first(b)) })
}

// canvas has the coordinates of a chart: seconds since its beginning, and the numbers of rows and users.
type canvas struct {
	begin time.Time
	rows  map[string]int32
	users map[string]int32
	names []string // names of users, by number
}

// second returns an instant in seconds since the beginning, rounded.
func (p *canvas) second(t time.Time) core.Time {
	return core.Time(t.Sub(p.begin).Round(time.Second) / time.Second)
}

// held returns the stretches in which the job held the same nodes, in whole seconds.
func (p *canvas) held(j Job) ([]replay.Stretch, error) {
	type change struct {
		row int32
		by  int
	}
	changes := map[core.Time][]change{}
	for _, h := range j.Holds {
		row, known := p.rows[h.Node]
		if !known {
			return nil, fmt.Errorf("held %q, which is not among the rows", h.Node)
		}
		if !h.From.Before(h.To) {
			return nil, fmt.Errorf("held %s from %v to %v, which is no period", h.Node, h.From, h.To)
		}
		from, to := p.second(h.From), p.second(h.To)
		changes[from], changes[to] = append(changes[from], change{row, 1}), append(changes[to], change{row, -1})
	}
	var stretches []replay.Stretch
	holds := map[int32]int{} // number of holds per row, because the holds of an expander and of its job may overlap
	for _, at := range slices.Sorted(maps.Keys(changes)) {
		if last := len(stretches) - 1; last >= 0 {
			stretches[last].To = at
		}
		for _, c := range changes[at] {
			if holds[c.row] += c.by; holds[c.row] == 0 {
				delete(holds, c.row)
			}
		}
		stretches = append(stretches, replay.Stretch{From: at, To: at, Nodes: spans(slices.Sorted(maps.Keys(holds)))})
	}
	return stretches[:max(0, len(stretches)-1)], nil
}

// spans returns ascending rows as spans.
func spans(rows []int32) replay.Nodes {
	var nodes replay.Nodes
	for _, row := range rows {
		if last := len(nodes) - 1; last >= 0 && nodes[last].Last == row-1 {
			nodes[last].Last++
			continue
		}
		nodes = append(nodes, replay.Span{First: row, Last: row})
	}
	return nodes
}

// job returns a job in the form of a replay, with its outcome. A job whose size changed counts as evolving, even if its request was rigid.
func (p *canvas) job(j Job, held []replay.Stretch) (workload.Job, replay.Outcome) {
	user, known := p.users[j.User]
	if !known {
		user = int32(len(p.names))
		p.users[j.User], p.names = user, append(p.names, j.User)
	}
	w, o := workload.Job{Number: int64(j.ID), Size: j.Peak(), User: user}, replay.Outcome{Start: -1}
	if j.Kind != workload.Rigid {
		w.Choices = j.Choices
	}
	if len(held) > 0 {
		o.Start, o.End = held[0].From, held[len(held)-1].To
		w.Run, w.Submit = o.End-o.Start, o.Start
		for _, s := range held {
			n := s.Nodes.Count()
			if last := len(o.Held) - 1; last >= 0 && o.Held[last].Nodes == n {
				o.Held[last].Duration += s.To - s.From
				continue
			}
			o.Held = append(o.Held, core.Step{Duration: s.To - s.From, Nodes: n})
		}
		if len(o.Held) > 1 {
			w.Choices = []core.EP{o.Held}
		}
	}
	if !j.Submit.IsZero() {
		w.Submit = p.second(j.Submit)
	}
	return w, o
}

// about returns what a replay does not know about a job: names, request and promises. It leaves out promised shrinks, because no job waits
// for its own shrink.
func (p *canvas) about(j Job) report.About {
	a := report.About{Name: j.Name, Request: j.Request, Outcome: j.Outcome}
	for _, m := range j.Marks() {
		if m.To < m.From {
			continue
		}
		promise := report.Promise{At: m.Planned.Sub(p.begin).Seconds(), From: m.From, To: m.To}
		if !m.Real.IsZero() {
			came := m.Real.Sub(p.begin).Seconds()
			promise.Came, promise.Row = &came, p.firstRow(j, m.Real)
		}
		a.Promises = append(a.Promises, promise)
	}
	return a
}

// firstRow returns the first row that the job began to hold at an instant.
func (p *canvas) firstRow(j Job, at time.Time) int32 {
	first := int32(len(p.rows))
	for _, h := range j.Holds {
		if h.From.Equal(at) {
			first = min(first, p.rows[h.Node])
		}
	}
	return first
}
