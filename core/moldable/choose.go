package moldable

import (
	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

// Chooser finds the place of one job: it takes the choice with the earliest completion, by an algorithm that is
// not rigid. Among choices that complete together it takes the one with the lowest peak of nodes, then the one
// listed first. The zero value never expands a step. A Chooser keeps memory between searches, so only one
// goroutine at a time may use it.
type Chooser struct {
	Algorithm ep.Algorithm
	fitter    ep.Fitter
}

// Best returns a job's earliest completion in a view, from now on and not before its Begin, improved by the
// algorithm. It returns false if no choice fits.
func (c *Chooser) Best(view *profile.Profile, now core.Time, j core.Job) (core.Planned, bool) {
	return c.BestBehind(nil, view, now, j)
}

// BestBehind does what Best does, but skips the times at which `front` remembers that there is no room. `front`
// may be nil.
func (c *Chooser) BestBehind(front *profile.Front, view *profile.Profile, now core.Time, j core.Job) (core.Planned, bool) {
	p, ok := c.Earliest(view.Behind(front), now, j, endless)
	if ok {
		c.Improve(view, j, &p)
	}
	return p, ok
}

// Improve applies the second part of the algorithm (ep.Algorithm.Improve) to a place. The completion does not change.
func (c *Chooser) Improve(view *profile.Profile, j core.Job, p *core.Planned) {
	if !isFamily(j.Choices) {
		p.Start, p.EP = c.Algorithm.Improve(&c.fitter, j.Choices[p.Choice], view, p.Start, p.EP)
	}
}

// endless is later than every completion.
const endless = 4 * core.Forever

// Earliest returns a job's earliest completion, without the algorithm's improvement. It returns false if no choice completes
// before the given time.
func (c *Chooser) Earliest(view profile.Lifted, now core.Time, j core.Job, before core.Time) (core.Planned, bool) {
	notBefore := max(now, j.Begin)
	if isFamily(j.Choices) {
		p, ok := bestSize(view, notBefore, j)
		return p, ok && p.End() < before
	}
	var best core.Planned
	found := false
	for i, ep := range j.Choices {
		if found && notBefore+ep.Total() > best.End() {
			continue // this choice cannot be the result
		}
		start, scheduled, ok := c.fit(view, ep, notBefore, before)
		if !ok {
			continue
		}
		p := core.Planned{Allocation: core.Allocation{Job: j.ID, Start: start, EP: scheduled, Guard: j.Guard}, Choice: i}
		if !found || p.End() < best.End() || p.End() == best.End() && ep.Peak() < best.EP.Peak() {
			best, found = p, true
		}
	}
	return best, found
}

// Fit returns the earliest completion of one profile in a view, as Earliest finds it.
func (c *Chooser) Fit(view profile.Lifted, ep core.EP, notBefore core.Time) (core.Time, core.EP, bool) {
	return c.fit(view, ep, notBefore, endless)
}

// fit places one profile. A profile of a single step is never expanded, so its place is the first hole, and needs no
// memory.
func (c *Chooser) fit(view profile.Lifted, ep core.EP, notBefore, before core.Time) (core.Time, core.EP, bool) {
	switch {
	case len(ep) == 0:
		return 0, nil, false
	case len(ep) > 1:
		return c.fitter.FitBefore(ep, view, c.Algorithm.Limit, notBefore, before)
	case ep[0].Duration < 1 || ep[0].Nodes < 0:
		return 0, nil, false
	}
	start, ok := view.FirstFit(ep[0].Nodes, ep[0].Duration, notBefore, min(core.Forever, before-ep[0].Duration))
	return start, ep, ok
}

// A family is the set of sizes of a speed-up model: single steps, each with more nodes and no longer duration than the step
// before. A few searches find the earliest completion of a family. Take the fewest nodes and the shortest duration of a range
// of its sizes: the first hole for these begins no later than the first hole for any size of the range.

// Up to fewChoices choices are searched one by one.
const fewChoices = 4

func isFamily(choices []core.EP) bool {
	if len(choices) <= fewChoices {
		return false
	}
	for i, ep := range choices {
		if len(ep) != 1 || ep[0].Nodes < 1 || ep[0].Duration < 1 {
			return false
		}
		if i > 0 && (ep[0].Nodes <= choices[i-1][0].Nodes || ep[0].Duration > choices[i-1][0].Duration) {
			return false
		}
	}
	return true
}

// bestSize does what Earliest does for a family, by branch and bound over ranges of sizes. A separate search
// for each size would have the same result.
func bestSize(view profile.Lifted, notBefore core.Time, j core.Job) (core.Planned, bool) {
	f := family{view: view, choices: j.Choices, notBefore: notBefore, index: -1}
	f.search(0, len(j.Choices)-1)
	if f.index < 0 {
		return core.Planned{}, false
	}
	ep := j.Choices[f.index]
	return core.Planned{Allocation: core.Allocation{Job: j.ID, Start: f.end - ep[0].Duration, EP: ep, Guard: j.Guard}, Choice: f.index}, true
}

// family is a search in a family. `index` and `end` are the best size so far and its completion.
type family struct {
	view      profile.Lifted
	choices   []core.EP
	notBefore core.Time
	index     int
	end       core.Time
}

// bound returns a time before which none of the sizes lo…hi completes. For a single size this is its completion. bound returns
// false if none of the sizes completes as early as the best size so far.
func (f *family) bound(lo, hi int) (core.Time, bool) {
	d, until := f.choices[hi][0].Duration, core.Forever
	if f.index >= 0 {
		until = min(until, f.end-d+1)
	}
	start, ok := f.view.FirstFit(f.choices[lo][0].Nodes, d, f.notBefore, until)
	return start + d, ok
}

// loses reports whether sizes from index `lo` on cannot be the result if they complete at second `end` or
// later. Among sizes that complete together, the one with the fewest nodes is the result.
func (f *family) loses(lo int, end core.Time) bool {
	return f.index >= 0 && (end > f.end || end == f.end && lo >= f.index)
}

func (f *family) search(lo, hi int) {
	end, ok := f.bound(lo, hi)
	if !ok || f.loses(lo, end) {
		return
	}
	if lo == hi {
		f.index, f.end = lo, end
		return
	}
	middle := (lo + hi) / 2
	// Larger sizes usually complete earlier on a machine that is not full, so they give the better bound.
	f.search(middle+1, hi)
	f.search(lo, middle)
}
