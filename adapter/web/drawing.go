package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter/view"
	"accordion/charts"
	"accordion/core"
	"accordion/core/hostlist"
)

// canvas is the size of a drawing, in units of about a pixel.
type canvas struct {
	Width, Height, Left, Right, Top, Bottom int
	ticks                                   int
}

var (
	wide   = canvas{760, 240, 44, 748, 14, 208, 7}
	narrow = canvas{360, 220, 36, 350, 14, 188, 3}
)

// drawing is a chart of one job's number of nodes over time: in the past, now and, by its promise or
// plan, in the future.
type drawing struct {
	canvas
	Class   string
	About   string // text for screen readers
	Held    string // SVG path for the nodes that the job held until now; Planned is the path for the future
	Planned string
	Now     float64
	ShowNow bool
	Across  []charts.Tick
	Up      []charts.Tick
}

// drawJob draws the job with the number id, which is j in the version, or nil if it has ended. It returns nil if nothing is known that
// could be drawn.
func drawJob(e *version, j *view.Entry, id int64, c canvas) *drawing {
	now := e.snapshot.Now
	var held, planned []charts.Span
	switch {
	case j == nil:
		held = e.pastSpans(core.JobID(id), 0)
	case j.Start == 0:
		return nil
	default:
		held, planned = heldSpans(e, j, now), plannedSpans(j, now)
	}
	all := slices.Concat(held, planned)
	if len(all) == 0 {
		return nil
	}
	from, to, most := all[0].From, all[0].To, 1
	for _, s := range all {
		from, to, most = min(from, s.From), max(to, s.To), max(most, s.Nodes)
	}
	if j != nil && !j.Holds() {
		from = min(from, now)
	}
	to = max(to, from+1)
	x := charts.Scale{Low: float64(from), High: float64(to), Start: float64(c.Left), End: float64(c.Right)}
	y := charts.Scale{High: 1.08 * float64(most), Start: float64(c.Bottom), End: float64(c.Top)}
	d := &drawing{canvas: c, Class: "wide", Held: charts.Stairs(held, x, y), Planned: charts.Stairs(planned, x, y), Now: x.At(float64(max(from, min(now, to)))), ShowNow: j != nil && now >= from && now <= to}
	if c == narrow {
		d.Class = "narrow"
	}
	d.About, d.Across, d.Up = about(j, held, planned), timeTicks(from, to, c.ticks, x), y.Counts()
	return d
}

// pastSpans returns the numbers of nodes that a job held between the second `from` and the last change
// of its nodes.
func (e *version) pastSpans(id core.JobID, from core.Time) (all []charts.Span) {
	for _, h := range e.state.Past {
		if names, err := hostlist.Expand(h.Nodes); err == nil && h.ID == id && h.To > from {
			all = append(all, charts.Span{From: max(h.From, from), To: h.To, Nodes: len(names)})
		}
	}
	return all
}

// heldSpans returns the numbers of nodes that a job held from its start until now.
func heldSpans(e *version, j *view.Entry, now core.Time) []charts.Span {
	if !j.Holds() {
		return nil
	}
	all := e.pastSpans(j.ID, j.Start)
	since := max(j.Start, e.state.Jobs[e.state.from[int64(j.ID)]].Since)
	if len(all) == 0 && since > j.Start && len(j.Plan) > 1 { // which nodes the job held before `since` is known only from the plan
		for _, s := range charts.Spans(j.Plan, j.Start) {
			if s.From < since {
				all = append(all, charts.Span{From: s.From, To: min(s.To, since), Nodes: s.Nodes})
			}
		}
	}
	return append(all, charts.Span{From: since, To: max(now, since+1), Nodes: j.Size})
}

// plannedSpans returns the numbers of nodes that a job will hold from now on, according to the plan.
func plannedSpans(j *view.Entry, now core.Time) []charts.Span {
	if len(j.Plan) == 0 {
		if j.End == 0 || j.End <= now {
			return nil
		}
		return []charts.Span{{From: max(j.Start, min(now, j.End)), To: j.End, Nodes: j.Size}}
	}
	var all []charts.Span
	for i, s := range charts.Spans(j.Plan, j.Start) {
		if j.Holds() && (s.To <= now || i+1 < j.Step) {
			continue
		}
		if j.Holds() {
			s.From = max(s.From, now)
		}
		all = append(all, s)
	}
	return all
}

// about describes the drawing in words.
func about(j *view.Entry, held, planned []charts.Span) string {
	words := func(all []charts.Span) string {
		var sizes []string
		for _, s := range all {
			sizes = append(sizes, fmt.Sprintf("%s for %s", view.NodesWord(s.Nodes), core.FormatDuration(s.To-s.From)))
		}
		return strings.Join(sizes, ", then ")
	}
	switch {
	case len(planned) == 0:
		return "It held " + words(held) + "."
	case !j.Holds():
		return "Planned: " + words(planned) + "."
	case j.Request == "":
		return "It has held " + words(held) + ", and may hold " + words(planned) + "."
	}
	return "It has held " + words(held) + ", and is promised " + words(planned) + "."
}

// timeTicks returns at most `most` ticks at round times.
func timeTicks(from, to core.Time, most int, x charts.Scale) []charts.Tick {
	every := charts.Every(float64(to-from), most)
	_, offset := time.Unix(from, 0).Zone()
	form := "15:04"
	switch {
	case every >= 86400:
		form = "2 Jan"
	case every < 60:
		form = "15:04:05"
	case to-from > 20*3600:
		form = "2 Jan 15:04"
	}
	var all []charts.Tick
	zone := core.Time(offset)
	for t := (from+zone+every-1)/every*every - zone; t <= to; t += every {
		all = append(all, charts.Tick{At: x.At(float64(t)), Text: time.Unix(t, 0).Format(form)})
	}
	return all
}
