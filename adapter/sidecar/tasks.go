package sidecar

import (
	"time"

	"accordion/adapter/managed"
	"accordion/core"
)

// A taskOrder delays the start of an array's task while an earlier task cannot start although the
// plan starts it now. The earlier task cannot start because a call for it is under way, or its
// nodes are not free.
type taskOrder struct {
	since map[core.JobID]time.Time // for each array, since when an earlier task has waited
	late  map[core.JobID]bool      // arrays of which an earlier task waits in this cycle
}

// orderLasts is for how long later tasks of an array wait for an earlier one.
const orderLasts = 5 * time.Second

// begin starts a cycle.
func (o *taskOrder) begin() {
	for array := range o.since {
		if !o.late[array] {
			delete(o.since, array)
		}
	}
	o.late = map[core.JobID]bool{}
}

// note records that a job does not start now. It is called in the order of tasks. A job counts as
// one that the plan starts now if its planned start is not after the second `soon`.
func (o *taskOrder) note(r *managed.Job, soon core.Time, now time.Time) {
	if r.Seen == nil || r.Seen.Array == 0 || r.Phase != managed.Waiting || r.Course == nil || r.Course.Err != nil || r.Course.Start > soon {
		return
	}
	array := r.Seen.Array
	if o.since == nil {
		o.since = map[core.JobID]time.Time{}
	}
	if o.late[array] = true; o.since[array].IsZero() {
		o.since[array] = now
	}
}

// waits reports whether the job is a task that waits for an earlier task.
func (o *taskOrder) waits(r *managed.Job, now time.Time) bool {
	return r.Seen != nil && o.late[r.Seen.Array] && now.Before(o.since[r.Seen.Array].Add(orderLasts))
}
