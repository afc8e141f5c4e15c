package show

import (
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// Account compares every promise with what was promised, and counts what evolving jobs do not hold.
func (s *Show) Account(v *plan.World) error {
	elapsed := min(max(v.Now-s.past.accounted, 0), 3600) // a clock that jumps must not spoil a counter
	if s.past.accounted == 0 {
		elapsed = 0
	}
	s.past.accounted = v.Now
	var spared int64
	for _, r := range v.Jobs {
		if r.Phase == managed.Waiting {
			r.Vowed, r.Slipped, r.Broke = 0, 0, ""
			continue
		}
		if r.Phase == managed.Running {
			spared += int64(r.EP().Peak()-r.EP()[r.Step].Nodes) * elapsed
		}
		if r.Phase == managed.Running || r.Phase == managed.Starting {
			if err := s.keepVow(v, r); err != nil {
				return err
			}
		}
	}
	if spared > 0 {
		s.Meter.Spared(spared)
	}
	return nil
}

// keepVow says so when a promise could not be kept: at first, and again when the delay has doubled since.
func (s *Show) keepVow(v *plan.World, r *managed.Job) error {
	slip := expectedEnd(v, r) - r.Vowed
	if r.Vowed == 0 || slip < 0 { // made, or improved: the better one counts from now on
		r.Vowed, r.Slipped, r.Dirty = r.End(), 0, true
		return nil
	}
	if slip <= max(punctual, 2*r.Slipped) {
		return nil
	}
	cause := string(s.breaker(v, r))
	if cause != r.Broke {
		s.Meter.Broke(cause)
	}
	r.Slipped, r.Broke, r.MovedBy, r.Dirty = slip, cause, managed.Nobody, true
	return s.Event(r, "promise broken", fmt.Sprintf("its end moves by %s: %s", core.FormatDuration(slip), cause),
		map[string]any{"promised": r.Vowed, "end": r.Vowed + slip, "seconds": slip, "cause": cause})
}

// punctual is by how many seconds the promised end may move before the promise counts as broken. A growth of four changes of size, as
// Slurm 23.02 and later need it with PrologFlags=Alloc or Contain, takes up to four seconds: each change has a second of its own.
const punctual core.Time = 4

// overdue is the number of seconds without the nodes of a step after which a promise counts as
// broken, though none was made in its place. It is as long as a node that is away is expected back
// soon.
const overdue core.Time = 30

// expectedEnd returns the second at which the job will end, as far as is known now. A job that
// waits for the overdue nodes of a step ends later than its promise says, which moves only when
// other nodes are found.
func expectedEnd(v *plan.World, r *managed.Job) core.Time {
	if r.Phase != managed.Running || r.WaitsFor == managed.Nobody || r.Resizing() || v.Now < r.Due()+overdue {
		return r.End()
	}
	return max(r.End(), v.Now+r.Remaining(v.Now).Total())
}

// breaker is what most likely broke the job's promise.
func (s *Show) breaker(v *plan.World, r *managed.Job) managed.Obstacle {
	switch {
	case r.Late:
		return managed.LateApplication
	case r.MovedBy != managed.Nobody:
		return r.MovedBy
	case slices.ContainsFunc(v.Snapshot.Jobs, func(j adapter.Job) bool { return overran(v, &j) }):
		return managed.OrdinaryOverrun
	case s.GoneSince(r.Planned):
		return managed.LostNode
	case slices.ContainsFunc(v.Running, func(o *managed.Job) bool { return o != r && o.Late }):
		return managed.LateShrinker
	}
	return managed.BatchSystem
}

// overran says whether an ordinary job holds its nodes for longer than the plan allowed for.
func overran(v *plan.World, j *adapter.Job) bool {
	return j.State == adapter.Running && j.Expands == 0 && v.Managed[j.Key] == nil && j.Limit < core.Forever &&
		v.Now >= j.Started+j.Limit+v.Settings.Guard
}
