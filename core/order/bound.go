package order

import (
	"slices"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// LowerBound returns a time before which no schedule of the applications ends, in any order and by any
// algorithm, on a machine with the occupation `busy`. It is the largest of three bounds:
//
//   - The time that each application needs alone. Fit's completion is the earliest possible.
//   - The time that all applications need together, counted in nodes (the area) or by another measure. Measures are dual
//     feasible functions: steps that fit the machine together measure at most the whole machine. One measure counts a step
//     of more than half the nodes as the whole machine, because two such steps never run simultaneously. Another measure
//     counts thirds, and so on.
//   - For few applications, the same bound for the window from h seconds after the beginning to t seconds before the end.
//     At most the first h seconds of each application run before the window, and at most the last t seconds after it.
//
// Expanding a step only increases the need, so the expansion limit matters only for the first part. With the rigid
// algorithm an application counts as its peak for its total duration.
func LowerBound(busy *profile.Profile, eps []core.EP, a ep.Algorithm) core.Time {
	var fitter ep.Fitter
	var bound core.Time
	asked := make([]core.EP, len(eps))
	for i, requested := range eps {
		if asked[i] = requested; a.Rigid && len(requested) > 0 {
			asked[i] = core.EP{{Duration: requested.Total(), Nodes: requested.Peak()}}
		}
		if start, scheduled, ok := fitter.Fit(asked[i], busy, a.Limit, 0); ok {
			bound = max(bound, start+scheduled.Total())
		}
	}
	crowd := newDemand(busy, asked)
	for _, m := range measures(busy.Nodes(), crowd.sizes) {
		bound = max(bound, crowd.ends(m, 0, 0))
		for _, window := range crowd.windows {
			bound = max(bound, crowd.ends(m, window.head, window.tail))
		}
	}
	return bound
}

// Windows are used only for few applications with few steps. With more applications, a window would lose more (the first and
// last seconds of each application) than it gains. With many steps, the computation would take long.
const (
	fewApplications = 8
	fewSteps        = 100 // steps of all applications and of busy together
	mostEdges       = 8   // number of heads and of tails from which windows are made
)

// demand is what all applications need together.
type demand struct {
	eps     []core.EP
	busy    core.EP  // from second 0 on; the last step may last Forever
	sizes   []int    // the distinct node counts of the steps, ascending
	time    []uint64 // time[i] is the sum of the durations of all steps of sizes[i] nodes, in seconds
	windows []window
}

// window is the time from `head` seconds after the beginning to `tail` seconds before the end.
type window struct{ head, tail core.Time }

func newDemand(busy *profile.Profile, eps []core.EP) *demand {
	c := &demand{eps: eps, busy: busy.Steps(0)}
	seconds, steps := map[int]uint64{}, len(c.busy)
	for _, ep := range eps {
		steps += len(ep)
		for _, s := range ep {
			if s.Nodes > 0 && s.Duration > 0 {
				seconds[s.Nodes] += uint64(s.Duration)
			}
		}
	}
	for size := range seconds {
		c.sizes = append(c.sizes, size)
	}
	slices.Sort(c.sizes)
	for _, size := range c.sizes {
		c.time = append(c.time, seconds[size])
	}
	if len(eps) <= fewApplications && steps <= fewSteps {
		c.windows = windows(eps)
	}
	return c
}

// windows returns the pairs of a head and a tail at which a step of some application begins or ends. Between two neighboring
// pairs the bound is linear.
func windows(eps []core.EP) []window {
	heads, tails := []core.Time{0}, []core.Time{0}
	for _, ep := range eps {
		total, at := ep.Total(), core.Time(0)
		for _, s := range ep {
			at += s.Duration
			heads, tails = append(heads, at), append(tails, total-at)
		}
	}
	var all []window
	for _, h := range smallest(heads) {
		for _, t := range smallest(tails) {
			if h > 0 || t > 0 {
				all = append(all, window{h, t})
			}
		}
	}
	return all
}

func smallest(edges []core.Time) []core.Time {
	slices.Sort(edges)
	edges = slices.Compact(edges)
	return edges[:min(len(edges), mostEdges)]
}

// ends returns the earliest end by one measure, in the window without the first head and the last tail seconds.
func (c *demand) ends(m measure, head, tail core.Time) core.Time {
	var need wide
	if head == 0 && tail == 0 {
		for i, size := range c.sizes {
			need = need.plus(c.time[i], m.of(size))
		}
	} else {
		for _, ep := range c.eps {
			from, to := head, ep.Total()-tail
			for _, s := range ep {
				if length := min(s.Duration, to) - max(from, 0); length > 0 {
					need = need.plus(uint64(length), m.of(s.Nodes))
				}
				from, to = from-s.Duration, to-s.Duration
			}
		}
	}
	if need == (wide{}) {
		return 0
	}
	return c.filled(m, need, head) + tail
}

// filled returns when the machine has provided the needed measure, counted from second `from`, or Forever if it never does.
func (c *demand) filled(m measure, need wide, from core.Time) core.Time {
	var at core.Time
	whole := m.of(m.nodes)
	for _, s := range c.busy {
		end := at + min(s.Duration, core.Forever-at)
		if length := end - max(at, from); length > 0 {
			// Together with busy, the applications never exceed the machine.
			rate := whole - min(whole, m.of(s.Nodes))
			given := wide{}.plus(uint64(length), rate)
			if !given.less(need) {
				return max(at, from) + need.over(rate)
			}
			need = need.minus(given)
		}
		at = end
	}
	if at >= core.Forever {
		return core.Forever
	}
	return max(at, from) + need.over(whole)
}
