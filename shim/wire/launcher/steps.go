package launcher

import "sort"

// Profiles are flat lists t0,n0,t1,n1,…, as in ClusterChange: n_i hosts are busy from t_i until t_{i+1}, and the last without end.

// From returns a copy of a profile from a second on, with equal neighbors merged. A profile that begins later stays so.
func From(steps []int64, now int64) []int64 {
	var out []int64
	for i := 0; i < len(steps); i += 2 {
		switch at, busy := max(steps[i], now), steps[i+1]; {
		case i+2 < len(steps) && steps[i+2] <= now: // it has passed
		case len(out) > 0 && out[len(out)-1] == busy:
		default:
			out = append(out, at, busy)
		}
	}
	return out
}

// after returns how many steps begin at a second or before it.
func after(steps []int64, at int64) int {
	return sort.Search(len(steps)/2, func(i int) bool { return steps[2*i] > at })
}

// before returns how many steps begin before a second.
func before(steps []int64, at int64) int {
	return sort.Search(len(steps)/2, func(i int) bool { return steps[2*i] >= at })
}

// splice replaces an old profile on [from, to); 0 means no end. It returns false if the value at to is not known.
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
