// Package sched decides for one machine when each job of a queue starts, and with how many nodes.
//
// Every policy implements Policy, and every world (replay, embedded, real) calls it. A policy decides how many nodes a job has in each
// second. Which nodes these are is decided by package place. A policy carries nothing out: the world calls Starts at each instant at
// which something may have changed, and does what Starts returns.
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
//   - Patient (easy.go) is EASY of jobs as they evolve, in which jobs become due after a wait. Both have one state: easy_state.go
//     receives events and easy_pass.go starts jobs. Where all jobs are rectangles it uses easy_rectangles.go, otherwise easy_scan.go.
//     easy_line.go and easy_ages.go hold what waits, easy_waiting.go and easy_room.go the lists for that. easy_plain.go is the
//     definition, in the order of easy_order.go. It plans machines with guards, with jobs of others and with sizes by a rule.
//   - Repeated (repeated.go) gives every waiting job a place, and finds the places again when something changed.
//   - Conservative (conservative.go) is conservative back-filling; sweep.go looks for earlier places.
//
// A job that started has a promise. Refit makes new promises when nodes were lost or a job is late (refit.go). Sooner reports whether a
// job that is ahead of its promise may have its next nodes now.
//
// Running holds the jobs that run, by their requested ends (runs.go). SystemLoad counts what runs and what waits, for rules that size
// jobs (load.go). Guards keep jobs out of each other's way that may use some time after their limit (guard.go).
package sched

import "accordion/core"

// Policy is a scheduling policy. Its State decides for one machine.
type Policy interface{ New(core.Machine) State }

// State decides for one machine. The caller owns it; Clone serves what-if.
type State interface {
	// Submit adds a job to the queue. Jobs rank in the order of their Submit calls.
	Submit(now core.Time, j core.Job)
	// Running tells of what runs already, with its promise (a restart, another scheduler's job). Allocations may
	// lie in the future (a maintenance reservation).
	Running(now core.Time, a core.Allocation)
	// End takes a job out, queued or running.
	End(now core.Time, id core.JobID)
	// Nodes says that nodes came or went.
	Nodes(now core.Time, m core.Machine)
	// Starts appends what starts, grows or shrinks at this instant. What starts is running from then on.
	Starts(now core.Time, into []core.Start) []core.Start
	// Next is the first instant after now at which Starts may have something to say, though nothing was told before: a
	// start or a resize is due, or the nodes of a job are free by its request. Forever when there is none. It counts from
	// the last call of Starts, which was at now.
	Next(now core.Time) core.Time
	// Plan says when everything that waits would start; computed only when somebody looks.
	Plan(now core.Time) core.Plan
	// Clone is an independent copy.
	Clone() State
}

// Promiser is a State that keeps promises other than the choice that a job began with: it expands steps.
type Promiser interface {
	// Promise is what a running job was promised. Its EP is read only.
	Promise(id core.JobID) (core.Allocation, bool)
}
