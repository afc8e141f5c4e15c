package paper_test

import (
	"context"
	"fmt"

	"accordion/traces/paper"
)

func ExampleEvolving() {
	rows, err := paper.Evolving{Tests: 100, Seed: paper.Seed}.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range rows {
		if r.Algorithm == "noX" && r.Metric == "makespan" {
			fmt.Printf("%.2f of rigid's, %.2f in the paper\n", r.Ours.Avg, r.Printed.Avg)
		}
	}
	// Output: 0.66 of rigid's, 0.65 in the paper
}
