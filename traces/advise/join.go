package advise

import (
	"slices"

	"accordion/core"
)

// joined makes stretches last as long as they must at least, and never gives less than was used: one that is too short and its
// neighbor both get the nodes of the larger. The shortest goes first, to the side where that costs less. A job begins
// steps where its script does, so that a short peak cannot be had by a part of its neighbor.
func joined(all []stretch, shortest core.Time) []stretch {
	all = slices.Clone(all)
	if len(all) > core.MaxSteps {
		all = coarse(all, shortest)
	}
	for len(all) > 1 {
		at := 0
		for i := range all {
			if all[i].length() < all[at].length() {
				at = i
			}
		}
		if all[at].length() >= shortest {
			break
		}
		if at == len(all)-1 || at > 0 && cost(all[at-1], all[at]) <= cost(all[at], all[at+1]) {
			at--
		}
		all = level(slices.Replace(all, at, at+2, both(all[at], all[at+1])))
	}
	return all
}

// both is two neighbors as one.
func both(a, b stretch) stretch { return stretch{a.from, b.to, max(a.nodes, b.nodes)} }

// cost is the area that joining two neighbors adds.
func cost(a, b stretch) int64 { return both(a, b).area() - a.area() - b.area() }

// coarse joins from the left, in one pass, for a job of thousands of steps: dearer, and as sound.
func coarse(all []stretch, shortest core.Time) []stretch {
	out := all[:1]
	for _, s := range all[1:] {
		if last := len(out) - 1; out[last].length() < shortest {
			out[last] = both(out[last], s)
		} else {
			out = append(out, s)
		}
	}
	return level(out)
}

// level makes one of neighbors with as many nodes.
func level(all []stretch) []stretch {
	out := all[:0]
	for _, s := range all {
		out = lengthen(out, s)
	}
	return out
}
