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
	p, ok := s.earliest(view.Without(0, nil), now, j, endless)
	if ok {
		s.improve(view, j, &p)
	}
	return p, ok
}

// improve does to a place what the algorithm does behind finding it. Its completion stays.
func (s *placer) improve(view *profile.Profile, j core.Job, p *core.Planned) {
	if !isFamily(j.Choices) {
		p.Start, p.EP = s.algorithm.Improve(&s.fitter, j.Choices[p.Choice], view, p.Start, p.EP)
	}
}

// endless is behind every completion.
const endless = 4 * core.Forever

// earliest is a job's earliest completion, where that is before an instant.
func (s *placer) earliest(view profile.Lifted, now core.Time, j core.Job, before core.Time) (core.Planned, bool) {
	notBefore := max(now, j.Begin)
	if isFamily(j.Choices) {
		p, ok := bestSize(view, notBefore, j)
		return p, ok && p.End() < before
	}
	var best core.Planned
	found := false
	for i, ep := range j.Choices {
		if found && notBefore+ep.Total() > best.End() {
			continue // it cannot win
		}
		start, scheduled, ok := s.fit(view, ep, notBefore, before)
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

// fit places one profile. One of a single step is never expanded, so the first hole is its place, and needs no memory.
func (s *placer) fit(view profile.Lifted, ep core.EP, notBefore, before core.Time) (core.Time, core.EP, bool) {
	switch {
	case len(ep) == 0:
		return 0, nil, false
	case len(ep) > 1:
		return s.fitter.Sooner(ep, view, s.algorithm.Limit, notBefore, before)
	case ep[0].Duration < 1 || ep[0].Nodes < 0:
		return 0, nil, false
	}
	start, ok := view.FirstFit(ep[0].Nodes, ep[0].Duration, notBefore, min(core.Forever, before-ep[0].Duration))
	return start, ep, ok
}
