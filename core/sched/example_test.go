package sched_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
)

// Two evolving jobs run simultaneously, although as rigid jobs of their peak sizes they would not fit on the machine together.
func ExampleRepeated() {
	state := sched.Repeated{Limit: ep.Twice}.New(core.Machine{Nodes: 4})
	state.Submit(0, core.Job{ID: 1, Choices: []core.EP{{{Duration: 60, Nodes: 1}, {Duration: 60, Nodes: 3}}}})
	state.Submit(0, core.Job{ID: 2, Choices: []core.EP{{{Duration: 60, Nodes: 3}, {Duration: 60, Nodes: 1}}}})
	for _, now := range []core.Time{0, 60} {
		for _, s := range state.Starts(now, nil) {
			fmt.Printf("%d: job %d has %d nodes\n", now, s.Job, s.Nodes)
		}
	}
	// Output:
	// 0: job 1 has 1 nodes
	// 0: job 2 has 3 nodes
	// 60: job 2 has 1 nodes
	// 60: job 1 has 3 nodes
}
