// Package promise is about what running jobs were promised: a policy (core/queue) makes a promise when it starts a job, and
// keeps it. Here is what becomes of promises when the world does not keep to the plan.
//
// Refit makes new ones when nodes were lost or somebody is late:
//
//	broken := []promise.Remainder{{Job: 1, Nodes: 2, Left: 20, Next: core.EP{{Duration: 60, Nodes: 4}}}}
//	for _, a := range promise.Refit(now, machine, others, broken) {
//		// job a.Job holds a.EP from now on
//	}
//
// Sooner says whether a job that is ahead of its promise may have its next nodes now.
//
// It knows node counts over time. Which nodes those are is core/place's; when a promise counts as broken, and whom to tell,
// is the caller's.
package promise

import (
	"accordion/core"
	"accordion/core/profile"
)

// Fits says whether the allocations together never exceed the machine.
func Fits(m core.Machine, all []core.Allocation) bool {
	p := profile.New(m.Nodes)
	for _, a := range all {
		p.Add(a.Start, a.EP)
	}
	return p.Max(-core.Forever, core.Forever) <= p.Nodes()
}
