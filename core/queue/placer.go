package queue

import (
	"accordion/core"
	"accordion/core/evolve"
	"accordion/core/profile"
)

// placer finds the places of jobs: each with the earliest completion, by an algorithm that is not rigid.
type placer struct {
	algorithm evolve.Algorithm
	fitter    evolve.Fitter
}

// best is a job's earliest completion in a view.
func (s *placer) best(view *profile.Profile, now core.Time, j core.Job) (core.Planned, bool) {
	notBefore := max(now, j.Begin)
	if isFamily(j.Choices) {
		return bestSize(view, notBefore, j)
	}
	var best core.Planned
	found := false
	for i, ep := range j.Choices {
		if found && notBefore+ep.Total() > best.End() {
			continue // it cannot win
		}
		start, scheduled, ok := s.fit(view, ep, notBefore)
		if !ok {
			continue
		}
		p := core.Planned{Allocation: core.Allocation{Job: j.ID, Start: start, EP: scheduled, Guard: j.Guard}, Choice: i}
		if !found || p.End() < best.End() || p.End() == best.End() && ep.Peak() < best.EP.Peak() {
			best, found = p, true
		}
	}
	if found {
		best.Start, best.EP = s.algorithm.Improve(&s.fitter, j.Choices[best.Choice], view, best.Start, best.EP)
	}
	return best, found
}

// fit places one profile. One of a single step is never expanded, so the first hole is its place, and needs no memory.
func (s *placer) fit(view *profile.Profile, ep core.EP, notBefore core.Time) (core.Time, core.EP, bool) {
	switch {
	case len(ep) == 0:
		return 0, nil, false
	case len(ep) > 1:
		return s.fitter.Fit(ep, view, s.algorithm.Limit, notBefore)
	case ep[0].Duration < 1 || ep[0].Nodes < 0:
		return 0, nil, false
	}
	start, ok := view.FirstFit(ep[0].Nodes, ep[0].Duration, notBefore)
	return start, ep, ok && start < core.Forever
}
