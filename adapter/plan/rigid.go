package plan

import (
	"slices"

	"accordion/adapter/managed"
	"accordion/core"
)

// Where every job of the pool's partition waits for us (adapter.Gatekeeper), rigid ones are planned in the one queue with all others, and
// let in when their second comes: then they are ordinary jobs, which the batch system starts on the nodes that it likes. It does so
// in the instant in which nodes become free, for those that it has in its queue. So the next few are let in ahead of their time.

// waitsRigid puts a rigid job into the queue, unless somebody keeps it from being started.
func (v *World) waitsRigid(r *managed.Job) {
	if r.Seen == nil || r.Stopped() || r.SetAside(v.Instant) {
		return
	}
	within := v.Settings.Round
	if r.Seen.Held { // its round comes after it was let in
		within = 0
	}
	w := v.waitsOrdinary(r.Seen, within)
	w.Managed, w.plan = r, &JobPlan{Job: r}
	w.Job.Foreign = w.Job.Foreign && !r.Seen.Held // who was let in is in the batch system's queue
	v.Queue = append(v.Queue, w)
}

// aheadShare is which part of the machine, one of so many, rigid jobs may ask for together that are let in before their time.
const aheadShare = 4

// letIn says which rigid jobs are to be in the batch system's queue: those that the plan begins now, and the next ones, while nothing else
// of ours is to begin before them: a node that becomes free too early would be gone.
func (v *World) letIn() {
	v.lets = map[core.JobID]bool{}
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
			v.lets[r.ID] = true
		case !r.Rigid():
			room, first = 0, false
		case first || r.Choices[0][0].Nodes <= room: // without first, small jobs would always overtake a large one
			v.lets[r.ID], first = true, false
			room -= r.Choices[0][0].Nodes
		default:
			room = 0
		}
	}
}

// Lets says whether a rigid job is to be in the batch system's queue.
func (v *World) Lets(r *managed.Job) bool { return v.lets[r.ID] }

// Passes says whether a job that is submitted now would begin at once: then nothing is gained by looking at it first.
func (v *World) Passes() bool {
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
