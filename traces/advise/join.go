package advise

import (
	"slices"

	"accordion/core"
)

// joinShort joins each stretch that is shorter than `shortest` with a neighbor. Both get the nodes of the larger stretch, so that the
// profile never has fewer nodes than the job used. It joins the shortest stretch first, with the neighbor for which this adds less area.
// It does not lengthen a short peak by only a part of its neighbor, because a step can begin only where the script calls accordion step.
func joinShort(all []stretch, shortest core.Time) []stretch {
	all = slices.Clone(all)
	if len(all) > core.MaxSteps {
		all = joinInOnePass(all, shortest)
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
		all = joinEqual(slices.Replace(all, at, at+2, merged(all[at], all[at+1])))
	}
	return all
}

// merged returns two neighbors as one stretch.
func merged(a, b stretch) stretch { return stretch{a.from, b.to, max(a.nodes, b.nodes)} }

// cost returns the area that joining two neighbors adds.
func cost(a, b stretch) int64 { return merged(a, b).area() - a.area() - b.area() }

// joinInOnePass joins stretches in one pass from the left. It is for jobs with thousands of steps: joinShort would be too slow, but adds less area.
func joinInOnePass(all []stretch, shortest core.Time) []stretch {
	out := all[:1]
	for _, s := range all[1:] {
		if last := len(out) - 1; out[last].length() < shortest {
			out[last] = merged(out[last], s)
		} else {
			out = append(out, s)
		}
	}
	return joinEqual(out)
}

// joinEqual joins neighbors with the same number of nodes.
func joinEqual(all []stretch) []stretch {
	out := all[:0]
	for _, s := range all {
		out = lengthen(out, s)
	}
	return out
}
