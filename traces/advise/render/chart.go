package render

import (
	"accordion/charts"
	"accordion/core"
	"accordion/traces/advise"
)

// The size of a drawing and the area of its axes, in units of the SVG. A unit is about a pixel.
const (
	width, height            = 640, 230
	left, right, top, bottom = 40, 628, 12, 202
)

// chart is one drawing of all runs of a group, with the line on top.
type chart struct {
	Across, Up []charts.Tick // time; nodes
	Held       string        // the requested nodes, for as long as the longest run
	Runs       []drawnRun
	Line       string
}

type drawnRun struct {
	ID   string
	Path string
	Late bool // the run would not have kept to the line
}

// chartOf returns the drawing of a group, or nil if it has no runs. It is as wide as the longest run or the line.
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
