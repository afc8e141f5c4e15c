package apps

import (
	"accordion/core"
	"accordion/core/profile"
)

// Clip returns an occupation from the second now on, with at most hosts in each point. Points next to each other differ.
func Clip(points []profile.Point, hosts int, now core.Time) []profile.Point {
	for len(points) > 1 && points[1].At <= now {
		points = points[1:]
	}
	out := make([]profile.Point, 0, len(points))
	for _, p := range points {
		p.At, p.Used = max(p.At, now), max(0, min(p.Used, hosts))
		if len(out) == 0 || out[len(out)-1].Used != p.Used {
			out = append(out, p)
		}
	}
	return out
}

// Difference is the stretch [from, to) on which two clipped occupations from a second on differ, and what holds there now, as a message lists
// it: t0,n0,t1,n1,…; to 0: for ever. It is never longer than the whole.
func Difference(old, fresh []profile.Point, now core.Time) (from, to core.Time, steps []int64, differ bool) {
	head := 0
	for head < len(old) && head < len(fresh) && old[head] == fresh[head] {
		head++
	}
	if head == len(old) && head == len(fresh) {
		return now, 0, []int64{}, false
	}
	tail := 0
	for tail < min(len(old), len(fresh))-head && old[len(old)-1-tail] == fresh[len(fresh)-1-tail] {
		tail++
	}
	from = now
	steps = make([]int64, 0, 2*(len(fresh)-head-tail)+2)
	if head > 0 {
		from = core.Forever
		if head < len(old) {
			from = old[head].At
		}
		if head < len(fresh) {
			from = min(from, fresh[head].At)
		}
		if head == len(fresh) || fresh[head].At != from {
			steps = append(steps, from, int64(fresh[head-1].Used))
		}
	}
	for _, p := range fresh[head : len(fresh)-tail] {
		steps = append(steps, p.At, int64(p.Used))
	}
	if tail > 0 {
		to = fresh[len(fresh)-tail].At
	}
	return from, to, steps, true
}
