package plan

import (
	"slices"

	"accordion/adapter/managed"
	"accordion/core"
)

// With adapter.Gatekeeper every job of the pool's partition is held at submission. Rigid jobs are
// planned in one queue with all others, and admitted, that is released, at their planned second.
// From then on they are ordinary jobs, which the batch system starts on nodes of its choice. It
// starts the jobs in its queue in the instant in which nodes become free, so the next few are
// admitted ahead of their time.

// addRigid puts a rigid job into the queue, unless its owner or an operator holds it.
func (v *World) addRigid(r *managed.Job) {
	if r.Seen == nil || r.HeldByOther() || r.SetAside(v.Instant) {
		return
	}
	within := v.Settings.Round
	if r.Seen.Held { // the batch system starts the job in its first round after the admission
		within = 0
	}
	w := v.ordinaryWaiter(r.Seen, within)
	w.Managed, w.plan = r, &JobPlan{Job: r}
	w.Job.Foreign = w.Job.Foreign && !r.Seen.Held // an admitted job is in the batch system's queue
	v.Queue = append(v.Queue, w)
}

// aheadShare bounds how many rigid jobs are admitted ahead of their time. Together these jobs
// request at most the pool's nodes divided by aheadShare.
const aheadShare = 4

// admitRigid decides which rigid jobs belong in the batch system's queue: those that the plan
// starts now, and the next ones up to the first managed job that is not rigid. A rigid job behind
// that managed job could take a node that becomes free early.
func (v *World) admitRigid() {
	v.admitted = map[core.JobID]bool{}
	var waits []Waiter
	for _, w := range v.Queue {
		if w.plan != nil && w.plan.Course != nil && w.plan.Course.Err == nil {
			waits = append(waits, w)
		}
	}
	slices.SortStableFunc(waits, func(a, b Waiter) int { return int(a.plan.Course.Start - b.plan.Course.Start) })
	soon, room, first := v.Now+v.Settings.StartLead, max(len(v.Nodes)/aheadShare, 1), true
	for _, w := range waits {
		switch r := w.Managed; {
		case r.Rigid() && w.plan.Course.Start <= soon:
			v.admitted[r.ID] = true
		case !r.Rigid():
			room, first = 0, false
		case first || r.Choices[0][0].Nodes <= room: // the first job is admitted in any case, because small jobs would otherwise always overtake a large one
			v.admitted[r.ID], first = true, false
			room -= r.Choices[0][0].Nodes
		default:
			room = 0
		}
	}
}

// Admits reports whether a rigid job belongs in the batch system's queue.
func (v *World) Admits(r *managed.Job) bool { return v.admitted[r.ID] }

// StartsAtOnce reports whether a job that is submitted now would start immediately. If so, it is
// not necessary to hold the job first.
func (v *World) StartsAtOnce() bool {
	soon := v.Now + v.Settings.StartLead
	free := 0
	for i := range v.Nodes {
		if v.taken[i].Kind == managed.Nobody && !v.lost[i] && !v.closed[i] {
			free++
		}
	}
	begin := map[core.JobID]core.Planned{}
	for _, p := range v.Planned.Jobs {
		begin[p.Job] = p
	}
	for _, w := range v.Queue {
		p, placed := begin[w.Job.ID]
		if !placed || p.Start > soon {
			return false
		}
		free -= p.EP[0].Nodes
	}
	return free > 0
}
