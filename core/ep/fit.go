package ep

import (
	"slices"

	"accordion/core"
	"accordion/core/profile"
)

// Fitter holds the buffers of Fit, for the many calls of a planning cycle. The zero value is ready to use. It is not
// safe for concurrent use. Results do not share its memory.
//
// The paper's algorithm recurs from step to step and backtracks at each failure, to try again from the next
// promising time. Here each step has a start that only increases. It increases to the end of the step before
// it, to the time from which the step need not wait for the next step beyond its limit, and to a hole for each
// span (see span). When no start increases any more, every condition holds. No start is ever later than in any
// schedule that meets the conditions. So the result is the schedule in which every step is earliest, in
// whatever order the starts increase. It is unique, because the step-by-step minimum of two schedules that meet
// the conditions meets them too. It is the schedule that the paper's algorithm finds.
//
// A span has at most as many holes as the machine has change points, so the work is polynomial for every profile.
type Fitter struct {
	steps   []placed
	spans   []span
	open    []span // memory of findSpans
	profile profile.Lifted
	begin   core.Time // the earliest start
	latest  core.Time // the last step has to start before this time
	held    bool      // the first step has begun at begin and lasts until the nodes of the second step are free
	stiff   bool      // no step can wait, so all starts increase together
	risen   core.Time // if stiff, by how much all starts have increased so far; otherwise 0

	fitted   core.EP // the last results, before they are copied
	late     core.EP
	thrifty  core.EP
	mirrored core.EP // memory of method compact
	mirror   *profile.Profile
	least    leastWaste
}

// placed is a step and its earliest start so far.
type placed struct {
	nodes   int
	length  core.Time // requested duration
	longest core.Time // longest duration that the limit allows
	start   core.Time // the true start is this plus Fitter.risen
}

// span is a longest sequence of steps that all need at least the nodes of one of them: a maximal rectangle under the
// profile. The application holds these nodes without a break from the first step's start to the last step's end. So
// one hole must contain them all. This is stricter than a condition for each step: the hole of a step between larger
// steps must be longer than the step.
type span struct {
	first, last int // indexes of steps
	nodes       int
	length      core.Time // requested duration of all its steps
	rarity      float64   // estimate of how rare its holes are
	latest      core.Time // the span has to start before this time

	// The nodes are known to be free in [from, until).
	from, until core.Time
}

// Fit finds the place with the earliest completion for a requested profile on the machine whose occupation is
// p. The place does not begin before notBefore. This is the base fit algorithm (Klein & Pérez, CoreGRID 2011,
// Algorithm 2; RR-7205, Algorithm 3). The first step is moved and never expanded. Each later step but the last
// may keep its nodes while it waits for the nodes of the next step, up to `limit` times its duration. The last
// step lasts exactly as requested. Among the places with the earliest completion Fit returns the one whose
// steps start earliest.
//
// `scheduled` has the lengths that the steps get. ok is false if the profile never fits: it needs more nodes
// than the machine has, or its nodes are never free for long enough. A profile with a step shorter than a
// second or with negative nodes does not fit either.
func (f *Fitter) Fit(ep core.EP, p *profile.Profile, limit Limit, notBefore core.Time) (core.Time, core.EP, bool) {
	return f.FitBefore(ep, p.Without(0, nil), limit, notBefore, endless)
}

// endless is later than the end of any step that starts before core.Forever.
const endless = 4 * core.Forever

// FitBefore does what Fit does, but only for places that complete before a time. ok is false if there is no
// such place. In the search for a better place, p may be without the place that the profile already has.
func (f *Fitter) FitBefore(ep core.EP, p profile.Lifted, limit Limit, notBefore, before core.Time) (core.Time, core.EP, bool) {
	start, ok := f.fit(&f.fitted, ep, p, limit, notBefore, before)
	if !ok || len(ep) == 0 {
		return start, nil, ok
	}
	return start, slices.Clone(f.fitted), true
}

// Resume does what Fit does for a running application whose first step begins now on the nodes that the application holds.
// The first step lasts at least for its duration. It may then wait without limit until the nodes of the second step are free.
// The nodes that the application holds must be free in p. ok is false if they are not free for long enough.
func (f *Fitter) Resume(ep core.EP, p *profile.Profile, limit Limit, now core.Time) (scheduled core.EP, ok bool) {
	f.held = true
	_, scheduled, ok = f.Fit(ep, p, limit, now)
	f.held = false
	return scheduled, ok
}

// fit writes the result of Fit into existing memory.
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

// prepare places the steps one after the other from second `begin` on, and finds the spans. It returns false if
// the profile can never fit.
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
	f.findSpans()
	return true
}

// findSpans finds the spans of the steps and sorts them: the spans with the rarest holes come first (rarity).
func (f *Fitter) findSpans() {
	n := len(f.steps)
	slack := f.latest - f.steps[n-1].start                                    // no start may increase by this much
	f.spans, f.open = slices.Grow(f.spans[:0], n), slices.Grow(f.open[:0], n) // later entries of open need more nodes
	for i := 0; i <= len(f.steps); i++ {
		nodes, first := 0, i // all open spans end after the last step
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
	// An insertion sort is fast: there are few spans, mostly in reverse order.
	for i := len(f.spans) - 2; i >= 0; i-- {
		s, k := f.spans[i], i+1
		for ; k < len(f.spans) && f.spans[k].rarity > s.rarity; k++ {
			f.spans[k-1] = f.spans[k]
		}
		f.spans[k-1] = s
	}
}

// rarity orders rectangles by how few holes can contain them. On a packed machine the length matters much more than the
// number of nodes. With the fourth power of the length, a list schedule of 10,000 profiles makes a quarter fewer queries than
// if the spans with most nodes came first, and fewer than with any other power.
func rarity(nodes int, length core.Time) float64 {
	l := float64(length)
	return l * l * l * l * float64(nodes)
}

// settle increases starts until every span is in a hole. It returns false if a step can never start.
//
// A span whose start increased is checked first from then on. A span that was hard to place often has to move again, and the
// other spans need not be checked before it is in a hole. On a large packed machine this needs a fifth of the queries that a
// fixed order needs.
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

// hole returns the earliest start at which a hole contains the span, given the present lower bound of the span's end. It
// returns the present start if the span is already in a hole.
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

// start returns the earliest start of a step.
func (f *Fitter) start(i int) core.Time { return f.steps[i].start + f.risen }

// end returns the earliest end of a step.
func (f *Fitter) end(i int) core.Time {
	if i+1 < len(f.steps) {
		return f.start(i + 1)
	}
	return min(core.Forever, f.start(i)+f.steps[i].length)
}

// raise increases the start of a step, and the starts of the steps before and after it as far as necessary. It returns false
// if the last step would start too late or if a held step would have to move.
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
