package ep

import (
	"cmp"
	"math/bits"
	"slices"

	"accordion/core"
	"accordion/core/profile"
)

// LeastWaste finds the schedule with the least waste among all schedules of a profile that complete at the same
// time as the given one. Waste is the node-seconds for which steps hold their nodes longer than requested. If
// there are several, it returns the one with the latest start of the first step, then of the second step, and
// so on. `start` and `scheduled` are what Fit returned for ep on p with the same limit. Completion and limit do
// not change. The result never wastes more than the result of Compact.
//
// The papers have no such algorithm: compacting is greedy and "not always optimal for resource waste" (RR-7205,
// section 4.3.3). A profile of 2^59 node-seconds or more, or without end, is only compacted.
//
// It is a dynamic program from the last step to the first. w(i, t) is the least waste of the steps from i on if step
// i starts at t and the last one ends at the completion. With n nodes, d seconds requested and l allowed,
//
//	w(i, t) = min over u of n·(u-t-d) + w(i+1, u),  t+d <= u <= t+l, and n are free in [t, u).
//
// w is piecewise linear in t, and so are its minima over sliding windows. So whole pieces are computed, not single seconds.
// In no schedule does a step start earlier than in the schedule that Fit found. By the mirrored argument, no step starts
// later than in the compacted schedule. w is needed only between these two starts.
func (f *Fitter) LeastWaste(ep core.EP, p *profile.Profile, limit Limit, start core.Time, scheduled core.EP) (core.Time, core.EP) {
	if at, ok := f.improve(ep, p, limit, start, scheduled); ok {
		return at, slices.Clone(f.thrifty)
	}
	return start, scheduled
}

// improve leaves the schedule with the least waste in f.thrifty. ok is false if there is nothing to gain.
func (f *Fitter) improve(ep core.EP, p *profile.Profile, limit Limit, start core.Time, scheduled core.EP) (at core.Time, ok bool) {
	latest, ok := f.compact(ep, p, limit, start, scheduled)
	if !ok {
		return start, false // the schedule is already compact, or it has no waste
	}
	high, low := bits.Mul64(uint64(scheduled.Total()), uint64(ep.Peak()))
	if f.late.Total() <= ep.Total() || high > 0 || low >= 1<<59 {
		f.thrifty = append(f.thrifty[:0], f.late...)
		return latest, true
	}
	f.least.layOut(ep, limit, start, scheduled, latest, f.late)
	return f.least.run(&f.thrifty, p), true
}

// leastWaste is the memory of the dynamic program. Its times count from origin, so that products stay small.
type leastWaste struct {
	origin core.Time
	steps  []stepRange
	pieces []piece // pieces of all steps, from the last step to the first
	sums   []piece // memory of method waste: the next step's waste plus the wait for it
	whole  []int   // memory of method window
}

// largest is the number of pieces for which memory is kept. A usual profile has a few dozen pieces, a hostile one a million.
const largest = 1 << 14

// stepRange is a step and the range of its starts.
type stepRange struct {
	nodes           int64
	length, longest core.Time
	earliest, last  core.Time // the earliest and the latest start
	first, end      int       // its pieces are pieces[first:end]
}

// piece is a range of starts, both ends included, over which the waste is linear: `value` at time `from`,
// increasing by `slope` each second.
type piece struct {
	from, to     core.Time
	value, slope int64
}

func (q piece) at(t core.Time) int64 { return q.value + q.slope*(t-q.from) }

// least returns the smallest value of the piece.
func (q piece) least() int64 { return min(q.value, q.at(q.to)) }

// layOut sets the earliest and the latest start of each step.
func (l *leastWaste) layOut(ep core.EP, limit Limit, start core.Time, scheduled core.EP, latest core.Time, late core.EP) {
	l.origin, l.steps, l.pieces = start, l.steps[:0], l.pieces[:0]
	earliest, last := core.Time(0), latest-start
	for i, s := range ep {
		longest := limit.Longest(s.Duration)
		if i == 0 {
			longest = s.Duration
		}
		l.steps = append(l.steps, stepRange{nodes: int64(s.Nodes), length: s.Duration, longest: longest, earliest: earliest, last: last})
		earliest += scheduled[i].Duration
		last += late[i].Duration
	}
}

// run computes the waste for all starts, then follows the minimum from the first step to the last. It returns
// the start, and writes the lengths to `into`.
func (l *leastWaste) run(into *core.EP, p *profile.Profile) (start core.Time) {
	final := len(l.steps) - 1
	at := l.steps[final].earliest // the only possible start
	l.pieces = append(l.pieces, piece{from: at, to: at})
	l.steps[final].end = 1
	for i := final - 1; i >= 0; i-- {
		l.waste(i, p)
	}
	at = l.latest(0, 0, 0, core.Forever)
	start, *into = at+l.origin, (*into)[:0]
	for i := range l.steps {
		s := &l.steps[i]
		length := s.length
		if i < final {
			next := l.latest(i+1, s.nodes, at+s.length, min(l.holeEnd(p, s, at), at+s.longest))
			length, at = next-at, next
		}
		*into = append(*into, core.Step{Duration: length, Nodes: int(s.nodes)})
	}
	if cap(l.pieces) > largest {
		l.pieces = nil
	}
	return start
}

// holeEnd returns the first time at which the step's nodes are not free if it starts at the given time.
func (l *leastWaste) holeEnd(p *profile.Profile, s *stepRange, at core.Time) core.Time {
	end, _ := p.FirstBelow(int(s.nodes), at+l.origin)
	return end - l.origin
}

// latest returns the start of step i in [from, to] with the least waste. If there are several, it returns the
// latest. The waste includes the wait of the step before, which has the given nodes and lasts until step i
// starts.
func (l *leastWaste) latest(i int, nodes int64, from, to core.Time) core.Time {
	var best core.Time
	least, found := int64(0), false
	for _, q := range l.between(i, from, to) {
		q = q.within(from, to).tilt(nodes)
		at := q.to
		if q.slope > 0 {
			at = q.from
		}
		if v := q.at(at); !found || v < least || v == least && at > best {
			best, least, found = at, v, true
		}
	}
	return best
}

// between returns the pieces of step i that overlap [from, to].
func (l *leastWaste) between(i int, from, to core.Time) []piece {
	all := l.pieces[l.steps[i].first:l.steps[i].end]
	first, _ := slices.BinarySearchFunc(all, from, func(q piece, t core.Time) int { return cmp.Compare(q.to, t) })
	end := first
	for end < len(all) && all[end].from <= to {
		end++
	}
	return all[first:end]
}

// within returns the part of a piece in [from, to].
func (q piece) within(from, to core.Time) piece {
	if from > q.from {
		q.from, q.value = from, q.at(from)
	}
	q.to = min(q.to, to)
	return q
}

// tilt returns the piece plus nodes·t.
func (q piece) tilt(nodes int64) piece {
	q.value += nodes * q.from
	q.slope += nodes
	return q
}

// waste computes the pieces of step i from the pieces of the next step, hole by hole.
func (l *leastWaste) waste(i int, p *profile.Profile) {
	s := &l.steps[i]
	s.first = len(l.pieces)
	for t := s.earliest; t <= s.last; {
		start, end, ok := p.Hole(int(s.nodes), s.length, t+l.origin)
		start, end = start-l.origin, end-l.origin
		if !ok || start > s.last {
			break
		}
		from, to := start+s.length, min(end, s.last+s.length) // range of the end of the step's requested duration
		l.sums = l.sums[:0]
		for _, q := range l.between(i+1, from, end) {
			l.sums = append(l.sums, q.within(from, end).tilt(s.nodes))
		}
		l.window(s, from, to)
		t = end
	}
	s.end = len(l.pieces)
}
