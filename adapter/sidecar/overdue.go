package sidecar

import (
	"context"
	"fmt"
	"time"

	"accordion/core"
)

// overdue looks after an application whose step should be over. While it is in nobody's way it uses its allowance; it
// is warned when the allowance nears its end or another job waits for nodes that it should have given back, and ended when
// the allowance is used up, or when that other job has waited for the grace.
func (s *Sidecar) overdue(ctx context.Context, v *sight, r *record, late core.Time) error {
	o := s.settings.Overrun
	allowance, used := s.allowance(r), r.Overran+late
	inTheWay := s.awaited[r.ID]
	r.blocked = fmt.Sprintf("late by %d s: step %d should be over", late, r.Step+1)
	switch {
	case used > allowance:
		return s.end(ctx, r, r.lateness(late)+fmt.Sprintf(" (allowance %d s in all): raise its duration in the profile", allowance))
	case r.Warned == 0 && o.Signal != "" && (inTheWay || used >= max(allowance-o.Grace, allowance/2)):
		return s.warn(ctx, v, r, late, inTheWay)
	case inTheWay && r.Warned > 0 && v.now >= r.Warned+o.Grace:
		return s.end(ctx, r, r.lateness(late)+fmt.Sprintf(", and another job has waited %d s for its nodes: raise its duration in the profile", v.now-r.Warned))
	}
	return nil
}

// allowance is for how many seconds the job may be late in all. What its limit was raised by since it began (oarwalltime, scontrol),
// the batch system has granted to its user.
func (s *Sidecar) allowance(r *record) core.Time {
	more := core.Time(0)
	if r.Limit > 0 && r.seen != nil && r.seen.Limit < core.Forever {
		more = max(0, r.seen.Limit-r.Limit)
	}
	return s.settings.Overrun.Of(r.total()) + more
}

// lateness is what is wrong with a late application, for its user.
func (r *record) lateness(late core.Time) string {
	return fmt.Sprintf("step %d of %d was to end at %s and had not ended %d s later",
		r.Step+1, len(r.ep()), seconds(r.due()).Format(time.TimeOnly), late)
}

// warn signals a late application, once a step.
func (s *Sidecar) warn(ctx context.Context, v *sight, r *record, late core.Time, inTheWay bool) error {
	r.Warned = v.now
	if err := s.save(r); err != nil {
		return err
	}
	why, left := "its allowance is nearly used up", s.allowance(r)-r.Overran-late
	if inTheWay {
		why, left = "another job waits for its nodes", min(left, s.settings.Overrun.Grace)
	}
	why = r.lateness(late) + "; " + why
	signal := s.settings.Overrun.Signal
	s.begin(ctx, r, "warn", func(ctx context.Context, a *acting) error {
		a.tell(ctx, fmt.Sprintf("%s: the job will be ended in %d s unless the step ends before", why, left))
		return a.signal(ctx, signal)
	}, nil)
	return s.event(r, "warned", why, map[string]any{"late": late})
}

// signal sends the job a signal.
func (a *acting) signal(ctx context.Context, signal string) error {
	return a.do(ctx, "signal", map[string]any{"signal": signal}, func(ctx context.Context) error { return a.s.system.Signal(ctx, a.key, signal) })
}

// tell writes a line into the job's output. That it could not is in the journal, and keeps nothing from being done.
func (a *acting) tell(ctx context.Context, text string) {
	_ = a.do(ctx, "tell", map[string]any{"text": text}, func(ctx context.Context) error { return a.s.system.Tell(ctx, a.key, text) })
}
