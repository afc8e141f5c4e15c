package status

import (
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
)

// CheckPromises records an event for each running job whose promise could not be kept. It also counts
// the node-seconds that evolving jobs leave to other jobs. A job leaves to others the difference
// between the number of nodes of its largest step and of its current step.
func (p *Publisher) CheckPromises(v *plan.World) error {
	elapsed := min(max(v.Now-p.past.accounted, 0), 3600) // at most an hour, so that the counter stays plausible when the clock is set
	if p.past.accounted == 0 {
		elapsed = 0
	}
	p.past.accounted = v.Now
	var spared int64
	for _, r := range v.Jobs {
		if r.Phase == managed.Waiting {
			r.BestEnd, r.SlipLogged, r.SlipCause = 0, 0, ""
			continue
		}
		if r.Phase == managed.Running {
			spared += int64(r.EP().Peak()-r.EP()[r.Step].Nodes) * elapsed
		}
		if r.Phase == managed.Running || r.Phase == managed.Starting {
			if err := p.checkPromise(v, r); err != nil {
				return err
			}
		}
	}
	if spared > 0 {
		p.Meter.Spared(spared)
	}
	return nil
}

// checkPromise records an event when a promise is first broken, and another event whenever the delay has doubled.
func (p *Publisher) checkPromise(v *plan.World, r *managed.Job) error {
	slip := expectedEnd(v, r) - r.BestEnd
	if r.BestEnd == 0 || slip < 0 { // the promise is new or has improved, and is the one to compare with from now on
		r.BestEnd, r.SlipLogged, r.Unsaved = r.End(), 0, true
		return nil
	}
	if slip <= max(punctual, 2*r.SlipLogged) {
		return nil
	}
	cause := string(p.likelyCause(v, r))
	if cause != r.SlipCause {
		p.Meter.Broke(cause)
	}
	r.SlipLogged, r.SlipCause, r.PromiseMovedBy, r.Unsaved = slip, cause, managed.Nobody, true
	return p.Event(r, "promise broken", fmt.Sprintf("its end moves by %s: %s", core.FormatDuration(slip), cause),
		map[string]any{"promised": r.BestEnd, "end": r.BestEnd + slip, "seconds": slip, "cause": cause})
}

// punctual is the largest number of seconds by which a job's end may move without breaking the promise. With PrologFlags=Alloc or
// Contain, Slurm 23.02 and later need four changes of size for one growth, and each change takes up to a second.
const punctual core.Time = 4

// overdue is the number of seconds for which a step may lack its nodes before the promise counts as broken, even if no new promise was
// made. It equals the time within which a node that is away is expected to return.
const overdue core.Time = 30

// expectedEnd returns the second at which the job is expected to end. If the nodes of a step are overdue, the job will end later than its
// promise says: the promise is changed only when the sidecar finds other nodes.
func expectedEnd(v *plan.World, r *managed.Job) core.Time {
	if r.Phase != managed.Running || r.Obstacle == managed.Nobody || r.Resizing() || v.Now < r.Due()+overdue {
		return r.End()
	}
	return max(r.End(), v.Now+r.Remaining(v.Now).Total())
}

// likelyCause returns the most likely reason why the job's promise was broken.
func (p *Publisher) likelyCause(v *plan.World, r *managed.Job) managed.Obstacle {
	switch {
	case r.Late:
		return managed.LateApplication
	case r.PromiseMovedBy != managed.Nobody:
		return r.PromiseMovedBy
	case slices.ContainsFunc(v.Snapshot.Jobs, func(j adapter.Job) bool { return overran(v, &j) }):
		return managed.OrdinaryOverrun
	case p.GoneSince(r.Planned):
		return managed.LostNode
	case slices.ContainsFunc(v.Running, func(o *managed.Job) bool { return o != r && o.Late }):
		return managed.LateShrinker
	}
	return managed.BatchSystem
}

// overran reports whether an ordinary job has held its nodes for longer than the plan assumed.
func overran(v *plan.World, j *adapter.Job) bool {
	return j.State == adapter.Running && j.Expands == 0 && v.Managed[j.Key] == nil && j.Limit < core.Forever &&
		v.Now >= j.Started+j.Limit+v.Settings.Guard
}
