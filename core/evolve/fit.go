package evolve

import (
	"accordion/core"
	"accordion/core/profile"
)

// Fit finds the place with the earliest completion for a requested profile beside what occupies the machine already,
// not before an instant: the base fit algorithm (Klein & Pérez, CoreGRID 2011, Algorithm 2; RR-7205, Algorithm 3).
// The first step is moved and never expanded; each further one may wait for the nodes of the next while it holds its
// own, up to limit times its duration; the last one lasts exactly as requested. Among the places with the earliest
// completion it is the one whose steps begin earliest.
//
// scheduled has the lengths that the steps get; ok is false when the profile never fits: it needs more nodes than the
// machine has, or they are never free so long. A profile with a step shorter than a second or of negative size does not
// fit either.
func Fit(ep core.EP, p *profile.Profile, limit Limit, notBefore core.Time) (start core.Time, scheduled core.EP, ok bool) {
	var f Fitter
	return f.Fit(ep, p, limit, notBefore)
}

// Fitter is Fit with memory: its buffers serve one call after the other, for the many fits of a planning cycle. The
// zero value is ready. It is not safe for concurrent use; results are the caller's own.
//
// The paper's algorithm goes back and forth between steps, from each failure to the next instant worth trying. Here
// every step has a front: the instants at which it can begin given the steps before it, made in rising order and only
// as far as the step behind asks. A start s of step i leads to the starts from s + duration to s + limit × duration
// of step i+1, as long as the nodes of step i stay free; so a front is a list of spans, each the overlap of such an
// image with a hole of the next step. Nothing is tried twice, whatever the profile, and the first start in the last
// front is the earliest completion. The result is that of the paper, for feasible starts are closed under the minimum,
// step by step: there is one schedule whose every step is earliest, and both find it.
type Fitter struct {
	fronts  []front
	profile *profile.Profile
	begin   core.Time // not before
	held    bool      // the first step began at begin and is held until the second one's nodes are there
}

// span is a stretch of possible starts, first to last, inside one hole, which ends at end.
type span struct{ first, last, end core.Time }

// front is what is known about the starts of one step.
type front struct {
	nodes    int
	length   core.Time // requested
	longest  core.Time // allowed
	earliest core.Time // when every step before lasts as requested
	made     []span    // rising and disjoint

	hole  span // the one looked at now: starts that leave the requested length in it
	image span // the starts to which the last span of the step before leads; its end is unused

	// The pruning: from this step on at least floor nodes are needed for rest seconds. It is asked for at the steps
	// where the floor rises; elsewhere the step before says the same.
	floor int
	rest  core.Time
}

// Fit is the function of the same name.
func (f *Fitter) Fit(ep core.EP, p *profile.Profile, limit Limit, notBefore core.Time) (core.Time, core.EP, bool) {
	f.held = false
	return f.fit(ep, p, limit, notBefore)
}

// Resume is Fit for an application that runs already: its first step holds its nodes since now and for its duration
// at least, and goes on without limit until those of the second are there. The nodes it holds must be free in p. ok is
// false when it cannot be held so long.
func (f *Fitter) Resume(ep core.EP, p *profile.Profile, limit Limit, now core.Time) (scheduled core.EP, ok bool) {
	f.held = true
	_, scheduled, ok = f.fit(ep, p, limit, now)
	return scheduled, ok
}

func (f *Fitter) fit(ep core.EP, p *profile.Profile, limit Limit, begin core.Time) (core.Time, core.EP, bool) {
	if len(ep) == 0 {
		return begin, nil, true
	}
	f.profile, f.begin = p, begin
	defer func() { f.profile = nil }()
	if !f.prepare(ep, limit) || !f.grow(len(ep)-1, -core.Forever) {
		return 0, nil, false
	}
	return f.trace()
}

// prepare makes a front for every step. It refuses what can never fit.
func (f *Fitter) prepare(ep core.EP, limit Limit) bool {
	for len(f.fronts) < len(ep) {
		f.fronts = append(f.fronts, front{})
	}
	f.fronts = f.fronts[:len(ep)]
	const nowhere = -4 * core.Forever
	earliest := f.begin
	for i, s := range ep {
		if s.Duration < 1 || s.Nodes < 0 || s.Nodes > f.profile.Nodes() {
			return false
		}
		a := &f.fronts[i]
		*a = front{nodes: s.Nodes, length: s.Duration, longest: limit.Longest(s.Duration), made: a.made[:0]}
		a.earliest = earliest
		a.hole.last, a.image.last = nowhere, nowhere
		earliest = min(core.Forever, earliest+s.Duration)
	}
	f.fronts[0].longest = ep[0].Duration
	if f.held {
		f.fronts[0].longest = core.Forever
	}
	floor, rest := ep[len(ep)-1].Nodes, core.Time(0)
	for i := len(ep) - 1; i >= 0; i-- {
		floor = min(floor, ep[i].Nodes)
		rest = min(core.Forever, rest+ep[i].Duration)
		f.fronts[i].floor, f.fronts[i].rest = floor, rest
	}
	for i := len(ep) - 1; i > 0; i-- {
		if f.fronts[i].floor == f.fronts[i-1].floor {
			f.fronts[i].floor = 0
		}
	}
	if len(ep) == 1 {
		f.fronts[0].floor = 0 // the step itself says it
	}
	return true
}

// grow makes the next span of front i, that is behind those made and reaches least at least. It is false when there
// is none.
func (f *Fitter) grow(i int, least core.Time) bool {
	a := &f.fronts[i]
	least = max(least, a.earliest)
	if n := len(a.made); n > 0 {
		least = max(least, a.made[n-1].last+1)
	}
	if i == 0 {
		return f.growFirst(a, least)
	}
	for {
		if a.hole.last < least && !f.nextHole(a, least) {
			return false
		}
		target := max(least, a.hole.first)
		for a.image.last < target {
			if !f.nextImage(i, target) {
				return false
			}
		}
		first, last := max(target, a.image.first), min(a.image.last, a.hole.last)
		if first <= last {
			a.made = append(a.made, span{first, last, a.hole.end})
			return true
		}
		least = a.image.first // behind the hole
	}
}

// growFirst makes a span of the first step: a hole, or the one instant at which it began.
func (f *Fitter) growFirst(a *front, least core.Time) bool {
	if f.held && len(a.made) > 0 || !f.nextHole(a, least) {
		return false
	}
	s := a.hole
	if f.held {
		if s.first > f.begin {
			return false
		}
		s.last = s.first
	}
	a.made = append(a.made, s)
	return true
}

// nextImage takes the next span of the step before i whose image reaches the target.
func (f *Fitter) nextImage(i int, target core.Time) bool {
	a, before := &f.fronts[i], &f.fronts[i-1]
	least := target - before.longest
	if n := len(before.made); n > 0 && before.made[n-1].end < target {
		least = max(least, before.made[n-1].end) // the rest of that hole leads nowhere
	}
	if !f.grow(i-1, least) {
		return false
	}
	s := before.made[len(before.made)-1]
	a.image.first = s.first + before.length
	a.image.last = min(s.last+before.longest, s.end)
	return true
}

// nextHole moves to the first hole in which the step can begin at least or later.
func (f *Fitter) nextHole(a *front, least core.Time) bool {
	for {
		if a.floor > 0 {
			var ok bool
			if least, ok = f.profile.FirstFit(a.floor, a.rest, least); !ok {
				return false
			}
		}
		first, end, ok := f.profile.Hole(a.nodes, a.length, least)
		if !ok || first >= core.Forever { // nothing begins after the end of time
			return false
		}
		if first == least || a.floor == 0 {
			a.hole = span{first, end - a.length, end}
			if end >= core.Forever {
				a.hole.last = core.Forever
			}
			return true
		}
		least = first
	}
}

// trace goes back from the earliest start of the last step: each step begins at the earliest of its starts that leads
// to the next one's. Only the first begins as late as it can, for it is never expanded.
func (f *Fitter) trace() (core.Time, core.EP, bool) {
	last := len(f.fronts) - 1
	ep := make(core.EP, last+1)
	ep[last] = core.Step{Duration: f.fronts[last].length, Nodes: f.fronts[last].nodes}
	next := f.fronts[last].made[0].first
	for i := last - 1; i >= 0; i-- {
		start := f.fronts[i].leadingTo(next)
		ep[i] = core.Step{Duration: next - start, Nodes: f.fronts[i].nodes}
		next = start
	}
	return next, ep, true
}

// leadingTo is the earliest start from which the next step can begin at the instant. There is one.
func (a *front) leadingTo(next core.Time) core.Time {
	low, high := 0, len(a.made) // the first span that reaches next - longest is in [low, high]
	for low < high {
		if middle := int(uint(low+high) >> 1); a.made[middle].last < next-a.longest {
			low = middle + 1
		} else {
			high = middle
		}
	}
	for ; low < len(a.made)-1 && a.made[low].end < next; low++ {
	}
	return max(a.made[low].first, next-a.longest)
}
