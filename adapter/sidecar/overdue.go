package sidecar

import (
	"context"
	"fmt"

	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// overdue looks after an application whose step should be over. While it is in nobody's way it uses its allowance; it
// is warned when the allowance nears its end or another job waits for nodes that it should have given back, and ended when
// the allowance is used up, or when that other job has waited for the grace.
func (s *Sidecar) overdue(ctx context.Context, v *plan.World, r *managed.Job, late core.Time) error {
	o := s.settings.Overrun
	allowance, used := r.Allowance(s.settings.Overrun), r.Overran+late
	inTheWay := s.awaited[r.ID]
	r.Blocked = fmt.Sprintf("late by %d s: step %d should be over", late, r.Step+1)
	switch {
	case used > allowance:
		return s.End(ctx, r, r.Lateness(late)+fmt.Sprintf(" (allowance %d s in all): raise its duration in the profile", allowance))
	case r.Warned == 0 && o.Signal != "" && (inTheWay || used >= max(allowance-o.Grace, allowance/2)):
		return s.warn(ctx, v, r, late, inTheWay)
	case inTheWay && r.Warned > 0 && v.Now >= r.Warned+o.Grace:
		return s.End(ctx, r, r.Lateness(late)+fmt.Sprintf(", and another job has waited %d s for its nodes: raise its duration in the profile", v.Now-r.Warned))
	}
	return nil
}

// warn signals a late application, once a step.
func (s *Sidecar) warn(ctx context.Context, v *plan.World, r *managed.Job, late core.Time, inTheWay bool) error {
	r.Warned = v.Now
	if err := s.save(r); err != nil {
		return err
	}
	why, left := "its allowance is nearly used up", r.Allowance(s.settings.Overrun)-r.Overran-late
	if inTheWay {
		why, left = "another job waits for its nodes", min(left, s.settings.Overrun.Grace)
	}
	why = r.Lateness(late) + "; " + why
	signal := s.settings.Overrun.Signal
	s.begin(ctx, r, "warn", func(ctx context.Context) error {
		if err := s.acts.Tell(ctx, r.Key, fmt.Sprintf("%s: the job will be ended in %d s unless the step ends before", why, left)); err != nil {
			return err
		}
		return s.acts.Signal(ctx, r.Key, signal)
	}, nil)
	return s.event(r, "warned", why, map[string]any{"late": late})
}
