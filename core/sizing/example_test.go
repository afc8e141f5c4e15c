package sizing_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/sizing"
)

// A job lists three sizes. On an idle machine it may have the largest. If twice the machine is in demand, it may have
// only the smallest.
func Example() {
	job := core.Job{Choices: []core.EP{{{Duration: 100, Nodes: 4}}, {{Duration: 65, Nodes: 8}}, {{Duration: 52, Nodes: 16}}}}
	sizes := sizing.New(job, sizing.HalfReference)
	for _, held := range []int{0, 48} {
		world := sizing.World{Machine: 64}
		world.Waits(sizes, 1)
		world.Holds(held, 8, 1)
		lo, hi, _ := sizes.Range(sizing.Share{}.Factor(&world, sizes), world.Machine)
		fmt.Printf("with %d nodes held: %d to %d of reference %d\n", held, sizes.Steps[lo].Nodes, sizes.Steps[hi].Nodes, sizes.Nodes)
	}
	// Output:
	// with 0 nodes held: 4 to 16 of reference 8
	// with 48 nodes held: 4 to 4 of reference 8
}
