package place

import (
	"cmp"
	"slices"

	"accordion/core"
)

// Layer is a rectangle of a scheduled EP: Count nodes that are added together at From and freed together at To, both
// in seconds. The nodes of a layer stay the same from its beginning to its end.
type Layer struct {
	From, To core.Time
	Count    int // nodes, > 0
	Step     int // index of the EP's step with which the layer begins
}

// Layers splits a scheduled EP that begins at start into stacked rectangles. The layer that was added last is
// freed first, so that a job keeps its first nodes until its end. Layers are sorted by From. Among layers that
// begin together, the longest comes first; it is the lowest. The sum of the layers at any time is the EP. Steps
// without nodes or duration give no layer.
func Layers(start core.Time, ep core.EP) []Layer {
	layers := make([]Layer, 0, len(ep))
	var open []Layer // the stack at t, lowest first; To is not known yet
	height := 0
	t := start
	for i, step := range ep {
		if step.Duration <= 0 || t >= core.Forever {
			continue
		}
		n := max(step.Nodes, 0)
		for height > n {
			top := &open[len(open)-1]
			gone := min(top.Count, height-n)
			layers = append(layers, Layer{From: top.From, To: t, Count: gone, Step: top.Step})
			height -= gone
			if top.Count -= gone; top.Count == 0 {
				open = open[:len(open)-1]
			}
		}
		if n > height {
			open = append(open, Layer{From: t, Count: n - height, Step: i})
			height = n
		}
		t = later(t, step.Duration)
	}
	for _, l := range open {
		l.To = t
		layers = append(layers, l)
	}
	slices.SortFunc(layers, func(a, b Layer) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To))
	})
	return layers
}

// later returns t + d, or Forever if that is earlier. An EP may have several steps without a known end.
func later(t, d core.Time) core.Time {
	if d >= core.Forever-max(t, 0) {
		return core.Forever
	}
	return t + d
}
