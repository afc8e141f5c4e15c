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
// The paper's algorithm recurs from step to step and goes back at each failure, to try again from the next instant
// worth trying. Here every step has a start that only ever rises: to the end of the step before it, to a hole that is
// long enough, and to where the step need not be expanded beyond its limit, or across busy nodes, until the next one
// begins. When nothing rises any more, every condition holds. No start is ever higher than in any schedule that meets
// the conditions, so the result is the one whose every step is earliest; there is one, for the step-by-step minimum of
// two schedules that meet the conditions meets them too. It is the schedule that the paper's algorithm finds.
//
// Without a change of holes two sweeps settle everything, and a step has no more holes than the machine has change
// points: whatever the profile, the work is polynomial.
type Fitter struct {
	steps   []placed
	profile *profile.Profile
	begin   core.Time // not before
	held    bool      // the first step began at begin and goes on until the second one's nodes are there
	least   leastWaste
}

// placed is a step and the start that it has risen to.
type placed struct {
	nodes   int
	length  core.Time // requested
	longest core.Time // allowed
	start   core.Time
	last    core.Time // the last start in the present hole
	end     core.Time // of the present hole: the first instant after start at which nodes are missing

	// The pruning: from this step on at least floor nodes are needed for rest seconds. It is asked for at the steps
	// where the floor rises; elsewhere the step before says nearly the same.
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
	if !f.prepare(ep, limit) || !f.settle() {
		return 0, nil, false
	}
	scheduled := make(core.EP, len(ep))
	for i, s := range f.steps {
		scheduled[i] = core.Step{Duration: s.length, Nodes: s.nodes}
		if i+1 < len(f.steps) {
			scheduled[i].Duration = f.steps[i+1].start - s.start
		}
	}
	return f.steps[0].start, scheduled, true
}

// prepare lays the steps out, nowhere yet. It refuses what can never fit.
func (f *Fitter) prepare(ep core.EP, limit Limit) bool {
	f.steps = f.steps[:0]
	for _, s := range ep {
		if s.Duration < 1 || s.Nodes < 0 || s.Nodes > f.profile.Nodes() {
			return false
		}
		const nowhere = -4 * core.Forever
		f.steps = append(f.steps, placed{nodes: s.Nodes, length: s.Duration, longest: limit.Longest(s.Duration), start: nowhere, last: nowhere})
	}
	f.steps[0].longest = ep[0].Duration
	if f.held {
		f.steps[0].longest = core.Forever
	}
	floor, rest := ep[len(ep)-1].Nodes, core.Time(0)
	for i := len(ep) - 1; i >= 0; i-- {
		floor = min(floor, ep[i].Nodes)
		rest = min(core.Forever, rest+ep[i].Duration)
		f.steps[i].floor, f.steps[i].rest = floor, rest
	}
	for i := len(ep) - 1; i > 0; i-- {
		if f.steps[i].floor == f.steps[i-1].floor {
			f.steps[i].floor = 0
		}
	}
	if len(ep) == 1 {
		f.steps[0].floor = 0 // the step itself says it
	}
	return true
}

// settle sweeps forward and backward until nothing rises. It is false when a step would have to rise for ever.
func (f *Fitter) settle() bool {
	if !f.raise(0, f.begin) {
		return false
	}
	for settled := false; !settled; {
		for i := 1; i < len(f.steps); i++ {
			if before := &f.steps[i-1]; !f.raise(i, before.start+before.length) {
				return false
			}
		}
		settled = true
		for i := len(f.steps) - 2; i >= 0; i-- {
			s, next := &f.steps[i], f.steps[i+1].start
			least := next - s.longest
			if s.end < next {
				least = max(least, f.profile.FreeSince(s.nodes, next))
			}
			if !f.raise(i, least) {
				return false
			}
			settled = settled && s.start+s.length <= next
		}
	}
	return true
}

// raise moves the start of step i to the first instant that is not before least and leaves room for the step's length.
func (f *Fitter) raise(i int, least core.Time) bool {
	s := &f.steps[i]
	switch {
	case least <= s.start:
		return true
	case least <= s.last:
		s.start = least
		return true
	}
	// A held first step cannot change holes; inside its hole nothing raises it, for it has no limit.
	return f.nextHole(s, least) && (i > 0 || !f.held || s.start == f.begin)
}

// nextHole places a step in the first hole in which it can begin at least or later.
func (f *Fitter) nextHole(s *placed, least core.Time) bool {
	for {
		if s.floor > 0 {
			var ok bool
			if least, ok = f.profile.FirstFit(s.floor, s.rest, least); !ok {
				return false
			}
		}
		start, end, ok := f.profile.Hole(s.nodes, s.length, least)
		if !ok || start >= core.Forever { // nothing begins after the end of time
			return false
		}
		if start == least || s.floor == 0 {
			s.start, s.end, s.last = start, end, end-s.length
			if end >= core.Forever {
				s.last = core.Forever
			}
			return true
		}
		least = start
	}
}
