package sched_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

func Example() {
	all := sched.NewSystemLoad(core.Machine{Nodes: 16}, sizing.Share{}, sizing.HalfReference)
	job := core.Job{ID: 1, Choices: []core.EP{{{Duration: 100, Nodes: 4}}, {{Duration: 65, Nodes: 8}}}}
	sizes := all.Submit(0, job)
	fmt.Printf("wanted: %d\n", all.World(0).Wanted)
	all.Begin(0, job.ID, sizes.Steps[0].Nodes, 100)
	fmt.Printf("held: %d, its reference: %d\n", all.World(0).Held, all.World(0).References)
	// Output:
	// wanted: 8
	// held: 4, its reference: 8
}
