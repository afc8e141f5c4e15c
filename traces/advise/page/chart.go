package page

import (
	"fmt"
	"strings"

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
	Across, Up []tick // time, nodes
	Held       string // what was asked for, as long as the longest run lasted
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
	x := scale{0, float64(max(longest, a.EP.Total())), left, right}
	y := scale{0, float64(most) * 1.06, bottom, top}
	c := &chart{Across: x.times(), Up: y.counts(), Line: staircase(a.EP, x, y)}
	c.Held = staircase(core.EP{{Duration: longest, Nodes: a.Requested}}, x, y)
	for _, s := range seen {
		c.Runs = append(c.Runs, drawnRun{s.ID, staircase(s.EP, x, y), !s.Kept && len(a.EP) > 0})
	}
	return c
}

// staircase is the path of a profile, from the ground to the ground; "" for none.
func staircase(ep core.EP, x, y scale) string {
	if len(ep) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "M%g %g", x.at(0), y.at(0))
	at := core.Time(0)
	for _, s := range ep {
		at += s.Duration
		fmt.Fprintf(&b, "V%gH%g", y.at(float64(s.Nodes)), x.at(float64(at)))
	}
	fmt.Fprintf(&b, "V%g", y.at(0))
	return b.String()
}
