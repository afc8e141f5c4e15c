package launcher

import "sort"

// Profiles are flat lists t0,n0,t1,n1,…, as in ClusterChange. n_i hosts are busy from t_i until t_{i+1}; the last number has no end.

// From returns a copy of a profile from second `now` on, with equal neighbors merged. If the profile begins later, its beginning stays.
func From(steps []int64, now int64) []int64 {
	var out []int64
	for i := 0; i < len(steps); i += 2 {
		switch at, busy := max(steps[i], now), steps[i+1]; {
		case i+2 < len(steps) && steps[i+2] <= now: // the step has passed
		case len(out) > 0 && out[len(out)-1] == busy:
		default:
			out = append(out, at, busy)
		}
	}
	return out
}

// after returns how many steps begin at or before a second.
func after(steps []int64, at int64) int {
	return sort.Search(len(steps)/2, func(i int) bool { return steps[2*i] > at })
}

// before returns how many steps begin before a second.
func before(steps []int64, at int64) int {
	return sort.Search(len(steps)/2, func(i int) bool { return steps[2*i] >= at })
}

// splice replaces a part of an old profile by a change on [From, To). A To of 0 means that the change has no end. splice returns false if
// the old profile's value at To is unknown.
func splice(old []int64, c *ClusterChange) ([]int64, bool) {
	out := append([]int64(nil), old[:2*before(old, c.From)]...)
	out = append(out, c.Steps...)
	if c.To != 0 {
		rest := after(old, c.To)
		if rest == 0 {
			return nil, false
		}
		out = append(out, c.To, old[2*rest-1])
		out = append(out, old[2*rest:]...)
	}
	return out, true
}
