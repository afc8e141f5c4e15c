// Package queue decides for one machine when each job of a queue starts, and at which sizes.
//
// Every policy implements Policy, every world (replay, embedded, real) calls it. A policy decides how many nodes a job has
// at each second, and not which ones (package place), nor does it carry anything out: the world calls Starts at each
// instant at which something may have changed and does what it is told.
//
//	state := queue.Repeated{Limit: ep.Twice}.New(core.Machine{Nodes: 100})
//	state.Submit(now, core.Job{ID: 1, Choices: []core.EP{{{Duration: 500, Nodes: 5}, {Duration: 3600, Nodes: 10}}}})
//	for _, s := range state.Starts(now, nil) {
//		// s.Job begins, grows or shrinks to s.Nodes nodes
//	}
//
// A job that started has a promise. When it cannot be kept, because nodes were lost or somebody is late, package promise
// makes new ones.
//
// Files, by policy: conservative.go with sweep.go (its look for earlier places); repeated.go. Of all of them: order.go. EASY is package
// patient. What runs is package held; which choice completes first is package mold's; who may hold nodes past his time, package guard's.
package queue

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
