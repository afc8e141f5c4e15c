package evolve_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/evolve"
	"accordion/core/profile"
)

func ExampleFit() {
	machine := profile.New(10)
	machine.Add(0, core.EP{{Duration: 100, Nodes: 4}, {Duration: 50, Nodes: 6}})
	ep, _ := evolve.Parse("5x60s,3x30s,10x60s")

	start, scheduled, _ := evolve.Fit(ep, machine, evolve.Twice, 0)
	fmt.Println(start, scheduled) // the middle step holds its nodes twice as long
	start, scheduled = evolve.Compact(ep, machine, evolve.Twice, start, scheduled)
	fmt.Println(start, scheduled) // the same completion, from a later start
	// Output:
	// 30 5x60s,3x60s,10x60s
	// 40 5x60s,3x50s,10x60s
}
