package render

import (
	"accordion/charts"
	"accordion/core"
	"accordion/traces/advise"
)

// The drawing of a chart, in its own units: about pixels.
const (
	width, height            = 640, 230
	left, right, top, bottom = 40, 628, 12, 202
)

// chart is the runs of a group drawn over each other, and the line on top.
type chart struct {
	Across, Up []charts.Tick // time, nodes
	Held       string        // what was asked for, as long as the longest run lasted
	Runs       []drawnRun
	Line       string
}

type drawnRun struct {
	ID   string
	Path string
	Late bool // it would not have kept to the line
}

// chartOf draws a group. Runs beyond the drawing's end, there are none: it is as long as the longest of them, and the line.
func chartOf(a *advise.Advice, seen []advise.Profile) *chart {
	if len(seen) == 0 {
		return nil
	}
	longest, most := core.Time(1), a.Requested
	for _, s := range seen {
		longest = max(longest, s.EP.Total())
		most = max(most, s.EP.Peak())
	}
	x := charts.Scale{High: float64(max(longest, a.EP.Total())), Start: left, End: right}
	y := charts.Scale{High: float64(most) * 1.06, Start: bottom, End: top}
	stairs := func(ep core.EP) string { return charts.Stairs(charts.Spans(ep, 0), x, y) }
	c := &chart{Across: x.Times(), Up: y.Counts(), Line: stairs(a.EP)}
	c.Held = stairs(core.EP{{Duration: longest, Nodes: a.Requested}})
	for _, s := range seen {
		c.Runs = append(c.Runs, drawnRun{s.ID, stairs(s.EP), !s.Kept && len(a.EP) > 0})
	}
	return c
}
