package easy_test

import (
	"fmt"

	"accordion/core"
	"accordion/core/sizing"
	"accordion/core/sizing/easy"
)

// Two equal jobs are submitted to an empty machine. While less than a third of it is in demand, a job may have more
// than its reference, which is 8 nodes here.
func Example() {
	state := easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work}}.New(core.Machine{Nodes: 48})
	for id := range core.JobID(2) {
		state.Submit(0, core.Job{ID: id, Choices: []core.EP{{{Duration: 100, Nodes: 4}}, {{Duration: 65, Nodes: 8}}, {{Duration: 52, Nodes: 16}}}})
		for _, s := range state.Starts(0, nil) {
			fmt.Printf("job %d starts on %d nodes\n", s.Job, s.Nodes)
		}
	}
	// Output:
	// job 0 starts on 16 nodes
	// job 1 starts on 8 nodes
}
