package sidecar

import (
	"time"

	"accordion/adapter/managed"
	"accordion/core"
)

// A taskOrder keeps a task of an array from starting while an earlier one, which the plan starts now,
// does not start yet: an act for it is under way, or its nodes are not free. Both last for a moment.
type taskOrder struct {
	since map[core.JobID]time.Time // of each array: since when such a task has waited
	late  map[core.JobID]bool      // arrays with one in this cycle, so far
}

// orderLasts is how long the later tasks of an array wait for an earlier one.
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

// note tells of a job that does not start now, in the order of tasks. soon is the last second that is now
// to the plan.
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

// waits reports whether the job is a task that waits for an earlier one.
func (o *taskOrder) waits(r *managed.Job, now time.Time) bool {
	return r.Seen != nil && o.late[r.Seen.Array] && now.Before(o.since[r.Seen.Array].Add(orderLasts))
}
