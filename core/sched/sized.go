package sched

import (
	"accordion/core"
	"accordion/core/sizing"
)

// Sizer is a State that sizes moldable jobs by a rule of package sizing.
type Sizer interface {
	// Crowd is what runs and what waits, as the rule sees it: for callers who know better than the State who that is. nil: there
	// is no rule.
	Crowd() *SystemLoad
}

var _ Sizer = (*repeated)(nil)

// Explainer is a Sizer in whose plan a job's size is not by its own factor alone, or not by what runs and waits now: some start
// before it.
type Explainer interface {
	Sizer
	// Explain tells of each waiting job by what Plan gives it its size, once those before it have theirs.
	Explain(now core.Time, tell func(Given))
}

// Given is by what a plan gives a job its size.
type Given struct {
	Job   core.JobID
	Sizes *sizing.Sizes
	World *sizing.World // what the sizing looks at: good while it is told
	Head  core.JobID    // whose factor it is: its own, or that of the head of the queue
	By    *sizing.Sizes // that job's
	Least int           // the number of a size below which it gets none: it was found a place on that before; 0: any
	Has   int           // nodes of the machine that it may have at all; 0: any
}

// Range is the sizes that it may have by a factor, on a machine of so many nodes. Where none of these is to be had on the nodes that are
// for it, it is the largest below them that is. It is false when the machine has none of them.
func (g Given) Range(factor float64, machine int) (lo, hi int, ok bool) {
	lo, hi, ok = g.Sizes.Range(factor, machine)
	if ok && g.Least > lo {
		lo = min(g.Least, g.Sizes.UpTo(machine))
		hi = max(lo, hi)
	}
	if ok && g.Has > 0 && g.Sizes.Steps[hi].Nodes > g.Has {
		hi = g.Sizes.UpTo(g.Has)
		lo, ok = min(lo, hi), hi >= 0
	}
	return lo, hi, ok
}

// Crowd implements Sizer.
func (s *repeated) Crowd() *SystemLoad { return s.crowd }

// place is a job's place: of a moldable one under a sizing on one of the sizes that it may have.
func (s *repeated) place(now core.Time, j core.Job) (core.Planned, bool) {
	if s.crowd == nil || len(j.Choices) < 2 {
		return s.fit(now, j)
	}
	sizes := s.crowd.Sizes(j.ID)
	if sizes == nil || sizes.Several {
		return s.fit(now, j)
	}
	lo, hi, ok := sizes.Range(s.crowd.Sizing.Factor(s.world, sizes), s.machine.Nodes)
	if !ok {
		return core.Planned{}, false
	}
	j.Choices = sizes.Choices[lo : hi+1]
	p, ok := s.fit(now, j)
	if ok {
		p.Choice = sizes.Choice(lo + p.Choice)
	}
	return p, ok
}

// begins tells of a job that starts: the targets of the others are another's from then on.
func (s *repeated) begins(now core.Time, p *slot) {
	if s.crowd == nil {
		return
	}
	s.crowd.Begin(now, p.Job, p.EP.Peak(), p.End())
	s.view = nil
}
