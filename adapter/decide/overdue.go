package decide

import (
	"context"
	"fmt"

	"accordion/adapter/act"
	"accordion/adapter/managed"
	"accordion/core"
)

// overdue looks after an application whose step should be over. While it is in nobody's way it uses its allowance; it
// is warned when the allowance nears its end, or the job's limit (what was forgiven while the sidecar was away may use that up first), or
// when another job waits for nodes that it should have given back. It is ended when the allowance is used up, or when that other job has
// waited for the grace.
func (s Situation) overdue(r *managed.Job, late core.Time) Decision {
	o := s.World.Settings.Overrun
	allowance, used, limit := r.Allowance(o), r.Overran+late, r.UntilLimit(s.World.Now)
	inTheWay := s.Awaited(r.ID)
	var d Decision
	switch {
	case used > allowance:
		d = s.end(r, r.Lateness(late)+fmt.Sprintf(" (allowance %d s in all): raise its duration in the profile", allowance))
	case r.Warned == 0 && o.Signal != "" && (inTheWay || limit > 0 && limit <= o.Grace || used >= max(allowance-o.Grace, allowance/2)):
		d = s.warn(r, late, inTheWay)
	case inTheWay && r.Warned > 0 && s.World.Now >= r.Warned+o.Grace:
		d = s.end(r, r.Lateness(late)+fmt.Sprintf(", and another job has waited %d s for its nodes: raise its duration in the profile", s.World.Now-r.Warned))
	}
	d.Waits = fmt.Sprintf("late by %d s: step %d should be over", late, r.Step+1)
	return d
}

// warn signals a late application, once a step.
func (s Situation) warn(r *managed.Job, late core.Time, inTheWay bool) Decision {
	o, key, now := s.World.Settings.Overrun, r.Key, s.World.Now
	why, left := "its allowance is nearly used up", r.Allowance(o)-r.Overran-late
	if limit := r.UntilLimit(now); limit > 0 && limit < left {
		why, left = "its limit is nearly reached", limit
	}
	if inTheWay {
		why, left = "another job waits for its nodes", min(left, o.Grace)
	}
	why = r.Lateness(late) + "; " + why
	return Decision{
		Change: func(r *managed.Job) { r.Warned = now },
		Events: []Event{{"warned", why, map[string]any{"late": late}}},
		Do: &Operation{Verb: "warn", Talk: true, Acts: func(ctx context.Context, a *act.Acts) error {
			if err := a.Tell(ctx, key, fmt.Sprintf("%s: the job will be ended in %d s unless the step ends before", why, left)); err != nil {
				return err
			}
			return a.Signal(ctx, key, o.Signal)
		}},
	}
}
