package order_test

import (
	"slices"

	"accordion/core"
	"accordion/core/ep"
)

// everySchedule tries every schedule of the applications in whole seconds: all starts, and all lengths of all steps
// that the limit permits. It returns the earliest last completion, or the horizon if none is earlier.
//
// used[t] are the nodes used at t. It covers the horizon.
func everySchedule(nodes int, used []int, eps []core.EP, limit ep.Limit, horizon core.Time) core.Time {
	if len(eps) == 0 {
		return 0
	}
	best := horizon
	occupy := func(from, to core.Time, n int) bool {
		fits := true
		for t := from; t < to; t++ {
			used[t] += n
			fits = fits && used[t] <= nodes
		}
		return fits
	}
	var place func(app, step int, from, ends core.Time)
	place = func(app, step int, from, ends core.Time) {
		switch {
		case app == len(eps):
			best = min(best, ends)
			return
		case step == len(eps[app]):
			for start := core.Time(0); start < best; start++ {
				place(app+1, 0, start, max(ends, from))
				if app+1 == len(eps) {
					break
				}
			}
			return
		}
		s := eps[app][step]
		longest := limit.Longest(s.Duration)
		if step == 0 || step == len(eps[app])-1 {
			longest = s.Duration
		}
		for end := from + s.Duration; end <= min(from+longest, best-1); end++ {
			if occupy(from, end, s.Nodes) {
				place(app, step+1, end, ends)
			}
			occupy(from, end, -s.Nodes)
		}
	}
	for start := core.Time(0); start < best; start++ {
		place(0, 0, start, 0)
	}
	return best
}

// everyOrder returns the earliest last completion of all orders that begin with the given applications, or the
// horizon if none is earlier.
func everyOrder(p problem, a ep.Algorithm, begin []int, horizon core.Time) core.Time {
	if len(begin) == len(p.eps) {
		plan, err := ep.Schedule(p.profile(), p.eps, begin, a)
		if err != nil {
			panic(err) // cannot happen: problems fit
		}
		return min(horizon, latest(plan))
	}
	for next := range p.eps {
		if !slices.Contains(begin, next) {
			horizon = everyOrder(p, a, append(begin[:len(begin):len(begin)], next), horizon)
		}
	}
	return horizon
}
