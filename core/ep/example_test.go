package ep_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"
)

func ExampleFitter_Fit() {
	machine := profile.New(10)
	machine.Add(0, core.EP{{Duration: 100, Nodes: 4}, {Duration: 50, Nodes: 6}})
	requested, _ := ep.Parse("5x60s,3x30s,10x60s")

	start, scheduled, _ := new(ep.Fitter).Fit(requested, machine, ep.Twice, 0)
	fmt.Println(start, scheduled) // the middle step holds its nodes twice as long
	start, scheduled = new(ep.Fitter).Compact(requested, machine, ep.Twice, start, scheduled)
	fmt.Println(start, scheduled) // the same completion, from a later start
	// Output:
	// 30 5x60s,3x60s,10x60s
	// 40 5x60s,3x50s,10x60s
}

// Compacting lets the step of two nodes wait, because it is the last step that can wait. One node would be
// enough.
func ExampleFitter_LeastWaste() {
	machine := profile.New(4)
	machine.Add(180, core.EP{{Duration: 240, Nodes: 2}})
	requested, _ := ep.Parse("3x60s,2x60s,1x120s,3x60s")

	start, fitted, _ := new(ep.Fitter).Fit(requested, machine, ep.Twice, 0)
	fmt.Println(new(ep.Fitter).Compact(requested, machine, ep.Twice, start, fitted))
	fmt.Println(new(ep.Fitter).LeastWaste(requested, machine, ep.Twice, start, fitted))
	// Output:
	// 120 3x60s,2x120s,1x120s,3x60s
	// 120 3x60s,2x60s,1x180s,3x60s
}
