package place_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/place"
)

// A job that runs on nodes 3 and 1 grows by a node in a minute. Another job holds node 0.
func ExampleName() {
	remains := core.EP{{Duration: 60, Nodes: 2}, {Duration: 60, Nodes: 3}}
	namings := place.Name(4,
		[]place.Claim{{Node: 0, From: 0, To: 500}},
		[]place.Request{{Job: 7, Start: 0, EP: remains, Held: []int{3, 1}}})
	for _, l := range namings[0].Layers {
		fmt.Println(l.From, l.To, l.Nodes)
	}
	// Output:
	// 0 120 [3 1]
	// 60 120 [2]
}

func ExampleAssign() {
	schedule := []core.Allocation{
		{Job: 1, Start: 0, EP: core.EP{{Duration: 10, Nodes: 2}, {Duration: 10, Nodes: 1}}},
		{Job: 2, Start: 10, EP: core.EP{{Duration: 10, Nodes: 2}}},
	}
	named, err := place.Assign(3, schedule, nil)
	fmt.Println(named, err)
	// Output: [[{0 10 [0 1]} {10 20 [0]}] [{10 20 [1 2]}]] <nil>
}
