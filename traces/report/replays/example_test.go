package replays_test

import (
	"bytes"
	"fmt"

	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/report/replays"
	"accordion/traces/workload"
)

func Example() {
	workload := workload.Workload{
		Name: "two jobs", Machine: core.Machine{Nodes: 4},
		Jobs: []workload.Job{
			{Number: 1, Submit: 0, Run: 600, Request: 900, Size: 4},
			{Number: 2, Submit: 60, Run: 300, Request: 300, Size: 2},
		},
	}
	report := replays.Report{
		Title: "Two jobs", Workload: workload,
		Replays: []replays.Replay{{
			Result: replay.Result{Policy: "fcfs", Outcomes: []replay.Outcome{{Start: 0, End: 600}, {Start: 600, End: 900}}},
			Held: [][]replays.Stretch{
				{{From: 0, To: 600, Nodes: []replays.Span{{First: 0, Last: 3}}}},
				{{From: 600, To: 900, Nodes: []replays.Span{{First: 0, Last: 1}}}},
			},
		}},
		Table: []replays.Row{{Name: "Mean wait", Unit: replays.Seconds, Better: replays.Lower, Values: []float64{270}}},
	}
	var page bytes.Buffer
	err := report.Write(&page)
	fmt.Println(err, bytes.Contains(page.Bytes(), []byte("4\u202fmin 30\u202fs")))
	// Output: <nil> true
}
