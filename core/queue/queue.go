// Package queue decides for one machine when each job of a queue starts, and at which sizes.
//
// Every policy implements Policy, every world (replay, embedded, real) calls it.
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
	// Plan says when everything that waits would start; computed only when somebody looks.
	Plan(now core.Time) core.Plan
	// Clone is an independent copy.
	Clone() State
}
