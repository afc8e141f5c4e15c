package ep

import (
	"slices"

	"accordion/core"
	"accordion/core/profile"
)

// Fitter is Fit with memory: its buffers serve one call after the other, for the many fits of a planning cycle. The
// zero value is ready. It is not safe for concurrent use; results are the caller's own.
//
// The paper's algorithm recurs from step to step and goes back at each failure, to try again from the next instant
// worth trying. Here every step has a start that only ever rises: to the end of the step before it, to where the next step
// does not have to wait beyond a limit, and to a hole for each span (see span). When nothing rises any more, every
// condition holds. No start is ever higher than in any schedule that meets the conditions, so the result is the one whose
// every step is earliest, in whatever order they rise; there is one, for the step-by-step minimum of two schedules that meet
// the conditions meets them too. It is the schedule that the paper's algorithm finds.
//
// A span has no more holes than the machine has change points: whatever the profile, the work is polynomial.
type Fitter struct {
	steps   []placed
	spans   []span
	open    []span // memory of prepare
	profile profile.Lifted
	begin   core.Time // not before
	latest  core.Time // the last step has to start before
	held    bool      // the first step began at begin and goes on until the second one's nodes are there
	stiff   bool      // no step can wait, so that all starts rise together…
	risen   core.Time // …by this so far; 0 otherwise

	fitted   core.EP // the last results, until they are the caller's own
	late     core.EP
	thrifty  core.EP
	mirrored core.EP // memory of compact
	mirror   *profile.Profile
	least    leastWaste
}

// placed is a step and the start that it has risen to.
type placed struct {
	nodes   int
	length  core.Time // requested
	longest core.Time // allowed
	start   core.Time // but for what all have risen together
}

// span is a longest sequence of steps that all need at least so many nodes, those of one of them: a maximal rectangle
// under the profile. The application holds as many nodes from the first step's start to the last one's end without a break,
// so that one hole has to take them all. This says what each step's own nodes do, and more: the hole of a step among
// higher ones has to be longer than the step.
type span struct {
	first, last int // steps
	nodes       int
	length      core.Time // requested of all of them
	rarity      float64   // of its holes
	latest      core.Time // it has to start before

	// The nodes are free in [from, until), as far as it is known.
	from, until core.Time
}

// Fit finds the place with the earliest completion for a requested profile beside what occupies the machine already,
// not before an instant: the base fit algorithm (Klein & Pérez, CoreGRID 2011, Algorithm 2; RR-7205, Algorithm 3).
// The first step is moved and never expanded; each further one may wait for the nodes of the next while it holds its
// own, up to limit times its duration; the last one lasts exactly as requested. Among the places with the earliest
// completion it is the one whose steps begin earliest.
//
// scheduled has the lengths that the steps get; ok is false when the profile never fits: it needs more nodes than the
// machine has, or they are never free so long. A profile with a step shorter than a second or of negative size does not
// fit either.
func (f *Fitter) Fit(ep core.EP, p *profile.Profile, limit Limit, notBefore core.Time) (core.Time, core.EP, bool) {
	return f.Sooner(ep, p.Without(0, nil), limit, notBefore, endless)
}

// endless is behind the end of whatever begins before the end of time.
const endless = 4 * core.Forever

// Sooner is Fit for a place that completes before an instant; ok is false when there is none. p may be lifted off the
// place that the profile has already: it searches for a better one then.
func (f *Fitter) Sooner(ep core.EP, p profile.Lifted, limit Limit, notBefore, before core.Time) (core.Time, core.EP, bool) {
	start, ok := f.fit(&f.fitted, ep, p, limit, notBefore, before)
	if !ok || len(ep) == 0 {
		return start, nil, ok
	}
	return start, slices.Clone(f.fitted), true
}

// Resume is Fit for an application that runs already: its first step holds its nodes since now and for its duration
// at least, and goes on without limit until those of the second are there. The nodes it holds must be free in p. ok is
// false when it cannot be held so long.
func (f *Fitter) Resume(ep core.EP, p *profile.Profile, limit Limit, now core.Time) (scheduled core.EP, ok bool) {
	f.held = true
	_, scheduled, ok = f.Fit(ep, p, limit, now)
	f.held = false
	return scheduled, ok
}

// fit is Fit into memory that is there already.
func (f *Fitter) fit(into *core.EP, ep core.EP, p profile.Lifted, limit Limit, begin, before core.Time) (start core.Time, ok bool) {
	*into = slices.Grow((*into)[:0], len(ep))
	if len(ep) == 0 {
		return begin, begin < before
	}
	f.profile, f.begin, f.latest = p, begin, min(core.Forever, before-min(core.Forever, ep[len(ep)-1].Duration))
	ok = f.prepare(ep, limit) && f.settle()
	f.profile = profile.Lifted{}
	if !ok {
		return 0, false
	}
	for i, s := range f.steps {
		length := s.length
		if i+1 < len(f.steps) {
			length = f.start(i+1) - f.start(i)
		}
		*into = append(*into, core.Step{Duration: length, Nodes: s.nodes})
	}
	return f.start(0), true
}

// prepare lays the steps out one after the other from the begin on, and finds the spans. It refuses what can never fit.
func (f *Fitter) prepare(ep core.EP, limit Limit) bool {
	f.steps = slices.Grow(f.steps[:0], len(ep))
	at := f.begin
	for _, s := range ep {
		if s.Duration < 1 || s.Nodes < 0 || s.Nodes > f.profile.Nodes() || at >= core.Forever {
			return false
		}
		f.steps = append(f.steps, placed{nodes: s.Nodes, length: s.Duration, longest: limit.Longest(s.Duration), start: at})
		at += min(s.Duration, core.Forever)
	}
	f.steps[0].longest = ep[0].Duration
	if f.held {
		f.steps[0].longest = core.Forever
	}
	waits := func(s placed) bool { return s.longest > s.length }
	f.stiff, f.risen = !slices.ContainsFunc(f.steps[:len(ep)-1], waits), 0
	if f.start(len(ep)-1) >= f.latest {
		return false
	}
	f.spread()
	return true
}

// spread finds the spans of the steps, and puts those first that rule out most: see rarity.
func (f *Fitter) spread() {
	n := len(f.steps)
	slack := f.latest - f.steps[n-1].start                                    // nothing may rise so far
	f.spans, f.open = slices.Grow(f.spans[:0], n), slices.Grow(f.open[:0], n) // of the open ones the later need more nodes
	for i := 0; i <= len(f.steps); i++ {
		nodes, first := 0, i // behind the last step all end
		if i < len(f.steps) {
			nodes = f.steps[i].nodes
		}
		for n := len(f.open); n > 0 && f.open[n-1].nodes > nodes; n-- {
			s := f.open[n-1]
			s.last, first = i-1, s.first
			s.length = min(core.Forever, f.steps[i-1].start-f.steps[s.first].start+f.steps[i-1].length)
			s.rarity = rarity(s.nodes, s.length)
			s.from, s.until, s.latest = f.begin, f.begin, f.steps[s.first].start+slack
			f.open, f.spans = f.open[:n-1], append(f.spans, s)
		}
		if n := len(f.open); nodes > 0 && (n == 0 || f.open[n-1].nodes < nodes) {
			f.open = append(f.open, span{first: first, nodes: nodes})
		}
	}
	// Few as they are, and mostly in the reverse of this order.
	for i := len(f.spans) - 2; i >= 0; i-- {
		s, k := f.spans[i], i+1
		for ; k < len(f.spans) && f.spans[k].rarity > s.rarity; k++ {
			f.spans[k-1] = f.spans[k]
		}
		f.spans[k-1] = s
	}
}

// rarity orders rectangles by how few the holes are that take them: on a packed machine length counts for much more
// than height. With the fourth power a list schedule of 10,000 profiles asks a quarter less than with the wide spans
// before those within them, and less than with any other.
func rarity(nodes int, length core.Time) float64 {
	l := float64(length)
	return l * l * l * l * float64(nodes)
}

// settle lets starts rise until every span has its hole. It is false when a step would have to rise for ever.
//
// A span that has risen comes first from then on: what was hard to place is likely to rise again, and the others need not
// be looked at before it has its hole. On a large packed machine this asks a fifth of what one order for all asks.
func (f *Fitter) settle() bool {
	for i := 0; i < len(f.spans); i++ {
		s := &f.spans[i]
		least, ok := f.hole(s)
		if !ok {
			return false
		}
		if least == f.start(s.first) {
			continue
		}
		if !f.raise(s.first, least) {
			return false
		}
		risen := *s
		copy(f.spans[1:], f.spans[:i])
		f.spans[0], i = risen, -1
	}
	return true
}

// hole is the earliest start of a span, given where its end is at least: its present start when it is in a hole already.
func (f *Fitter) hole(s *span) (start core.Time, ok bool) {
	start, end := f.start(s.first), f.end(s.last)
	if s.from <= start && end <= s.until {
		return start, true
	}
	if end > start+s.length {
		s.from = start
		if s.until, _ = f.profile.FirstBelow(s.nodes, start); end <= s.until {
			return start, true
		}
		start = f.profile.FreeSince(s.nodes, start, end)
	}
	start, ok = f.profile.FirstFit(s.nodes, s.length, start, s.latest)
	s.from, s.until = start, start+s.length
	return start, ok
}

// start is where a step begins at the earliest.
func (f *Fitter) start(i int) core.Time { return f.steps[i].start + f.risen }

// end is where a step is over at the earliest.
func (f *Fitter) end(i int) core.Time {
	if i+1 < len(f.steps) {
		return f.start(i + 1)
	}
	return min(core.Forever, f.start(i)+f.steps[i].length)
}

// raise moves the start of a step, and with it those before and behind it as far as they have to. It is false when the last
// one would begin too late, or when a held step would have to move.
func (f *Fitter) raise(i int, start core.Time) bool {
	if f.stiff {
		f.risen += start - f.start(i)
		return f.start(len(f.steps)-1) < f.latest && (!f.held || f.risen == 0)
	}
	f.steps[i].start = start
	for k := i - 1; k >= 0 && f.steps[k].start < f.steps[k+1].start-f.steps[k].longest; k-- {
		f.steps[k].start = f.steps[k+1].start - f.steps[k].longest
	}
	for k := i; k+1 < len(f.steps) && f.steps[k+1].start < f.steps[k].start+f.steps[k].length; k++ {
		f.steps[k+1].start = f.steps[k].start + f.steps[k].length
	}
	return f.steps[len(f.steps)-1].start < f.latest && (!f.held || f.steps[0].start == f.begin)
}
