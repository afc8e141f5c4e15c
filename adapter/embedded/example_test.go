package embedded_test

import (
	"context"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
)

func Example() {
	system, err := embedded.New(embedded.Options{Nodes: 4, Clock: adapter.Quick{Begin: time.Now(), Factor: 1000}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer system.Close()
	if _, err := system.Submit(embedded.JobSpec{Name: "solve", User: "ada", Nodes: 2, Limit: 60, Runs: 5}); err != nil {
		fmt.Println(err)
		return
	}
	if err := system.Quiet(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	for _, job := range system.Jobs() {
		fmt.Println(job.Name, job.Why)
		for _, s := range job.Spans {
			fmt.Println(s.Node, s.To.Sub(s.From))
		}
	}
	// Output:
	// solve COMPLETED
	// n1 5s
	// n2 5s
}
