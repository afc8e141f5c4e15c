// Package sched decides for one machine when each job of a queue starts, and with how many nodes.
//
// Every policy implements Policy. The replay, the embedded cluster and the sidecar of a real cluster all use this interface. A
// policy decides how many nodes a job has in each second. Package place decides which nodes. A policy only decides: the caller
// calls Starts at each time at which something may have changed, and carries out what Starts returns.
//
//	state := sched.Repeated{Limit: ep.Twice}.New(core.Machine{Nodes: 100})
//	state.Submit(now, core.Job{ID: 1, Choices: []core.EP{{{Duration: 500, Nodes: 5}, {Duration: 3600, Nodes: 10}}}})
//	for _, s := range state.Starts(now, nil) {
//		// s.Job starts, grows or shrinks to s.Nodes nodes
//	}
//
// There are four policies:
//
//   - EASY (easy.go) is EASY back-filling of rigid jobs as it is published, and first come, first served.
//   - Patient (easy.go) is EASY for evolving jobs, in which jobs become due after a wait.
//   - Repeated (repeated.go) gives every waiting job a place, and plans all places again when something changes.
//   - Conservative (conservative.go) is conservative back-filling; sweep.go looks for earlier places.
//
// EASY and Patient share one state. easy_state.go receives events and easy_pass.go starts jobs. If all jobs are
// rectangles, easy_rectangles.go finds those that fit, otherwise easy_scan.go does. easy_queue.go and easy_waiting.go
// hold the waiting jobs, easy_room.go the reservation. easy_reference.go is the definition, in the order of
// easy_order.go. It also plans for jobs with guards, foreign jobs and sizing rules.
//
// A job that started has a promise. Refit makes new promises when nodes were lost or a job is late (refit.go).
// MayAdvance reports whether a job that is ahead of its promise may get its next nodes now.
//
// RunningByEnd holds running jobs by requested end (runs.go). SystemLoad counts running and waiting jobs, for rules
// that size jobs (load.go). guardView keeps jobs from delaying each other if some may use time after their limit
// (guard.go).
package sched

import "accordion/core"

// Policy is a scheduling policy. Its State decides for one machine.
type Policy interface{ New(core.Machine) State }

// State decides for one machine. The caller owns it. A Clone can answer what-if questions.
type State interface {
	// Submit adds a job to the queue. Jobs rank in the order of their Submit calls.
	Submit(now core.Time, j core.Job)
	// Running adds an allocation that runs already, with its promise: after a restart, or for a job that another
	// scheduler started. It may begin later (a maintenance reservation).
	Running(now core.Time, a core.Allocation)
	// End removes a job, queued or running.
	End(now core.Time, id core.JobID)
	// Nodes changes the number of nodes.
	Nodes(now core.Time, m core.Machine)
	// Starts appends the jobs that start, grow or shrink now. A job that starts counts as running from then on.
	Starts(now core.Time, into []core.Start) []core.Start
	// Next returns the first time after now at which Starts may have something to report if no other method is
	// called before. At this time a start or a resize is due, or a job's requested time ends. It returns
	// Forever if there is no such time. `now` is the time of the last call of Starts.
	Next(now core.Time) core.Time
	// Plan returns when each waiting job would start. It is computed only on demand.
	Plan(now core.Time) core.Plan
	// Clone returns an independent copy.
	Clone() State
}

// Promiser is a State whose promises contain more than the choice that a job started with, because it expands steps.
type Promiser interface {
	// Promise returns what a running job was promised. Its EP is read only.
	Promise(id core.JobID) (core.Allocation, bool)
}

// Resizer is a State whose running malleable jobs change their size at resize points.
type Resizer interface {
	State
	// Point is called at a resize point of a malleable job. It returns how many nodes the job should hold from now on. `next` is the
	// time of the job's next resize point. The job releases nodes when its resize has ended. Point returns 0 for a job that the
	// State does not know as malleable.
	Point(now core.Time, id core.JobID, next core.Time) (nodes int)
}
