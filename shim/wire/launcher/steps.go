package launcher

import "sort"

// Profiles are flat lists t0,n0,t1,n1,…, as in ClusterChange: n_i hosts are busy from t_i until t_{i+1}, the last for ever.

// Busy is how many hosts are busy at a second; 0 before the first step.
func Busy(steps []int64, at int64) int64 {
	if i := after(steps, at); i > 0 {
		return steps[2*i-1]
	}
	return 0
}

// From is a profile from a second on, with equal neighbors joined, as a list of its own. One that begins later stays so.
func From(steps []int64, now int64) []int64 {
	var out []int64
	for i := 0; i < len(steps); i += 2 {
		switch at, busy := max(steps[i], now), steps[i+1]; {
		case i+2 < len(steps) && steps[i+2] <= now: // over
		case len(out) > 0 && out[len(out)-1] == busy:
		default:
			out = append(out, at, busy)
		}
	}
	return out
}

// Diff is what has to be sent so that who has the profile old has new from now on: on [from, to) put steps, to 0 for ever. It is never
// longer in a frame than the whole. No steps: there is no difference.
func Diff(old, new []int64, now int64) (from, to int64, steps []int64) {
	old, new = From(old, now), From(new, now)
	if len(old) == 0 || len(new) == 0 || old[0] != new[0] {
		if len(new) == 0 {
			return 0, 0, nil
		}
		return new[0], 0, new
	}
	from, to, differ := span(old, new)
	if !differ {
		return 0, 0, nil
	}
	steps = replaced(new, from, 0)
	if to != 0 {
		if middle := replaced(new, from, to); size(middle)+width(to) < size(steps)+width(0) {
			steps = middle
		} else {
			to = 0
		}
	}
	if width(from)+width(to)+size(steps) > width(new[0])+width(0)+size(new) { // a later second may take more bytes
		return new[0], 0, new
	}
	return from, to, steps
}

// span is the first second at which two profiles that begin together differ, and the one from which they agree for ever; 0: never.
func span(old, new []int64) (from, to int64, differ bool) {
	for i, j := 0, 0; i < len(old) || j < len(new); {
		at := moment(old, i)
		if t := moment(new, j); i == len(old) || j < len(new) && t < at {
			at = t
		}
		if i < len(old) && old[i] == at {
			i += 2
		}
		if j < len(new) && new[j] == at {
			j += 2
		}
		switch same := old[i-1] == new[j-1]; {
		case !same && !differ:
			from, to, differ = at, 0, true
		case !same:
			to = 0
		case differ && to == 0:
			to = at
		}
	}
	return from, to, differ
}

// moment is the second of a step; 0 beyond the last.
func moment(steps []int64, i int) int64 {
	if i < len(steps) {
		return steps[i]
	}
	return 0
}

// replaced is a profile on [from, to), to 0 for ever, beginning with from.
func replaced(steps []int64, from, to int64) []int64 {
	out := From(steps, from)
	if to != 0 {
		out = out[:2*before(out, to)]
	}
	return out
}

// after is how many steps begin at a second or before it.
func after(steps []int64, at int64) int {
	return sort.Search(len(steps)/2, func(i int) bool { return steps[2*i] > at })
}

// before is how many steps begin before a second.
func before(steps []int64, at int64) int {
	return sort.Search(len(steps)/2, func(i int) bool { return steps[2*i] >= at })
}

// splice puts steps in the place of an old profile on [from, to), to 0 for ever. False: what holds at to is not known.
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

// size is what numbers take in a frame, in bytes.
func size(all []int64) int {
	n := len(appendHead(nil, 0x90, 0xdc, 15, len(all)))
	for _, v := range all {
		n += width(v)
	}
	return n
}

func width(v int64) int {
	var room [9]byte
	return len(appendInt(room[:0], v))
}
