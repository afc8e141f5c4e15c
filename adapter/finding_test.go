package adapter_test

import (
	"fmt"
	"slices"

	"accordion/adapter"
)

func ExampleFinding() {
	found := []adapter.Finding{
		{Severity: adapter.Note, What: "jobs rank first come, first served"},
		{Severity: adapter.Fatal, What: "partition main does not give whole nodes to jobs", Fix: "Set OverSubscribe=EXCLUSIVE on it"},
	}
	slices.SortStableFunc(found, adapter.ByGravity)
	for _, f := range found {
		fmt.Println(f)
	}
	// Output:
	// fatal: partition main does not give whole nodes to jobs. Set OverSubscribe=EXCLUSIVE on it
	// note: jobs rank first come, first served
}
