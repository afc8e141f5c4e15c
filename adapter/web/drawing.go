package web

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"accordion/adapter/view"
	"accordion/core"
	"accordion/core/hostlist"
)

// canvas is the measure of a drawing, in its own units: about pixels.
type canvas struct {
	Width, Height, Left, Right, Top, Bottom int
	ticks                                   int
}

var (
	wide   = canvas{760, 240, 44, 748, 14, 208, 7}
	narrow = canvas{360, 220, 36, 350, 14, 188, 3}
)

// drawing is a job's profile over time: what it held, what it holds and is promised, or what is planned.
type drawing struct {
	canvas
	Class   string
	About   string // for those who do not see it
	Held    string // paths
	Planned string
	Now     float64
	ShowNow bool
	Across  []tick
	Up      []tick
}

type tick struct {
	At   float64
	Text string
}

// span is a size for a while.
type span struct {
	from, to core.Time
	nodes    int
}

// drawJob draws a job of an edition; j is nil when it is over. nil: nothing is known that could be drawn.
func drawJob(e *edition, j *view.Entry, id int64, c canvas) *drawing {
	now := e.scene.Now
	var held, planned []span
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
	from, to, most := all[0].from, all[0].to, 1
	for _, s := range all {
		from, to, most = min(from, s.from), max(to, s.to), max(most, s.nodes)
	}
	if j != nil && !j.Holds() {
		from = min(from, now)
	}
	to = max(to, from+1)
	x := func(t core.Time) float64 {
		return round(float64(c.Left) + float64(t-from)/float64(to-from)*float64(c.Right-c.Left))
	}
	y := func(n int) float64 {
		return round(float64(c.Bottom) - float64(n)/(1.08*float64(most))*float64(c.Bottom-c.Top))
	}
	d := &drawing{canvas: c, Class: "wide", Held: area(held, x, y), Planned: area(planned, x, y), Now: x(max(from, min(now, to))), ShowNow: j != nil && now >= from && now <= to}
	if c == narrow {
		d.Class = "narrow"
	}
	d.About, d.Across, d.Up = about(j, held, planned), timeTicks(from, to, c.ticks, x), counts(most, y)
	return d
}

// counts are a few round whole numbers, from 0.
func counts(most int, y func(int) float64) (all []tick) {
	step := 1
	for k := 0; most/step > 5; k++ {
		step = []int{2, 5, 10}[k%3] * int(math.Pow10(k/3))
	}
	for n := 0; n <= most; n += step {
		all = append(all, tick{y(n), fmt.Sprint(n)})
	}
	return all
}

// pastSpans is what a job held before what it holds now, from a second on.
func (e *edition) pastSpans(id core.JobID, from core.Time) (all []span) {
	for _, h := range e.state.Past {
		if names, err := hostlist.Expand(h.Nodes); err == nil && h.ID == id && h.To > from {
			all = append(all, span{max(h.From, from), h.To, len(names)})
		}
	}
	return all
}

// heldSpans is what a job held until now.
func heldSpans(e *edition, j *view.Entry, now core.Time) []span {
	if !j.Holds() {
		return nil
	}
	all := e.pastSpans(j.ID, j.Start)
	since := max(j.Start, e.state.Jobs[e.state.from[int64(j.ID)]].Since)
	if len(all) == 0 && since > j.Start && len(j.Plan) > 1 { // what was before is not known but from the plan
		for _, s := range spansOf(j.Plan, j.Start) {
			if s.from < since {
				all = append(all, span{s.from, min(s.to, since), s.nodes})
			}
		}
	}
	return append(all, span{since, max(now, since+1), j.Size})
}

// plannedSpans is what a job is to have from now on.
func plannedSpans(j *view.Entry, now core.Time) []span {
	if len(j.Plan) == 0 {
		if j.End == 0 || j.End <= now {
			return nil
		}
		return []span{{max(j.Start, min(now, j.End)), j.End, j.Size}}
	}
	var all []span
	for i, s := range spansOf(j.Plan, j.Start) {
		if j.Holds() && (s.to <= now || i+1 < j.Step) {
			continue
		}
		if j.Holds() {
			s.from = max(s.from, now)
		}
		all = append(all, s)
	}
	return all
}

func spansOf(ep core.EP, at core.Time) []span {
	all := make([]span, len(ep))
	for i, s := range ep {
		all[i] = span{at, at + s.Duration, s.Nodes}
		at += s.Duration
	}
	return all
}

// area is the path around spans that follow one another.
func area(all []span, x func(core.Time) float64, y func(int) float64) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M%g %g", x(all[0].from), y(0))
	at := all[0].from
	for _, s := range all {
		if s.from > at {
			fmt.Fprintf(&b, "V%gH%g", y(0), x(s.from))
		}
		fmt.Fprintf(&b, "V%gH%g", y(s.nodes), x(s.to))
		at = s.to
	}
	fmt.Fprintf(&b, "V%gZ", y(0))
	return b.String()
}

// about is the drawing in words.
func about(j *view.Entry, held, planned []span) string {
	words := func(all []span) string {
		var sizes []string
		for _, s := range all {
			sizes = append(sizes, fmt.Sprintf("%s for %s", view.NodesWord(s.nodes), core.FormatDuration(s.to-s.from)))
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

// timeTicks are a few round instants.
func timeTicks(from, to core.Time, most int, x func(core.Time) float64) []tick {
	every := core.Time(86400)
	for _, s := range []core.Time{5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600, 86400} {
		if (to-from)/s <= core.Time(most) {
			every = s
			break
		}
	}
	for (to-from)/every > core.Time(most) {
		every *= 2
	}
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
	var all []tick
	zone := core.Time(offset)
	for t := (from+zone+every-1)/every*every - zone; t <= to; t += every {
		all = append(all, tick{x(t), time.Unix(t, 0).Format(form)})
	}
	return all
}

// round keeps a tenth of a pixel: more is never seen.
func round(v float64) float64 { return math.Round(10*v) / 10 }
