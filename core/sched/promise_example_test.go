package sched_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/sched"
)

// A node was lost, and job 1 cannot grow while job 9 keeps its promise.
func ExampleRefit() {
	promises := []core.Allocation{{Job: 9, Start: 0, EP: core.EP{{Duration: 300, Nodes: 4}}}}
	late := []sched.Remainder{{Job: 1, Nodes: 2, Left: 20, Next: core.EP{{Duration: 60, Nodes: 4}}}}
	for _, a := range sched.Refit(100, core.Machine{Nodes: 7}, promises, late) {
		fmt.Println(a.Job, a.Start, a.EP)
	}
	// Output: 1 100 2x200s,4x60s
}
