package sched

import (
	"accordion/core"
	"accordion/core/sizing"
)

// Sizer is a State that sizes moldable jobs by a rule of package sizing.
type Sizer interface {
	// Load returns the running and waiting jobs as the sizing rule sees them. A caller with better information can change
	// this load. Load returns nil if there is no rule.
	Load() *SystemLoad
}

var _ Sizer = (*repeated)(nil)

// Explainer is a Sizer that can explain sizes. In its plans a job's size does not depend only on its own factor and the present
// load, because some jobs start before it.
type Explainer interface {
	Sizer
	// Explain calls `tell` for each waiting job with the reasons for its size in Plan, after the jobs before it
	// have their sizes.
	Explain(now core.Time, tell func(SizeBasis))
}

// SizeBasis has the reasons for the size of a job in a plan.
type SizeBasis struct {
	Job       core.JobID
	Sizes     *sizing.Sizes
	World     *sizing.World // the information on which the rule decided; valid during the call only
	Head      core.JobID    // the job whose factor applies: itself or the head of the queue
	HeadSizes *sizing.Sizes // the sizes of Head
	MinSize   int           // index of the smallest permitted size: an earlier pass found a place for this size; 0 permits all
	MaxNodes  int           // number of nodes that the job may use; 0 means all
}

// Range returns the indexes of the sizes that the job may have with a factor, on a machine of the given nodes. If
// none of these fits the nodes that the job may use, Range returns the largest smaller size that does. ok is false if
// the machine has none of them.
func (g SizeBasis) Range(factor float64, machine int) (lo, hi int, ok bool) {
	lo, hi, ok = g.Sizes.Range(factor, machine)
	if ok && g.MinSize > lo {
		lo = min(g.MinSize, g.Sizes.UpTo(machine))
		hi = max(lo, hi)
	}
	if ok && g.MaxNodes > 0 && g.Sizes.Steps[hi].Nodes > g.MaxNodes {
		hi = g.Sizes.UpTo(g.MaxNodes)
		lo, ok = min(lo, hi), hi >= 0
	}
	return lo, hi, ok
}

// Load implements Sizer.
func (s *repeated) Load() *SystemLoad { return s.load }

// place returns a job's place. A moldable job under a sizing rule gets one of the sizes that the rule permits.
func (s *repeated) place(now core.Time, j core.Job) (core.Planned, bool) {
	if s.load == nil || len(j.Choices) < 2 {
		return s.fit(now, j)
	}
	sizes := s.load.Sizes(j.ID)
	if sizes == nil || sizes.Several {
		return s.fit(now, j)
	}
	lo, hi, ok := sizes.Range(s.load.Sizing.Factor(s.world, sizes), s.machine.Nodes)
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

// started records that a job starts, which changes the targets of the other jobs.
func (s *repeated) started(now core.Time, p *slot) {
	if s.load == nil {
		return
	}
	s.load.Begin(now, p.Job, p.EP.Peak(), p.End())
	s.view = nil
}
