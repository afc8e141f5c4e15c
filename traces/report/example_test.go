package report_test

import (
	"bytes"
	"fmt"

	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/report"
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
	page := report.Report{
		Title: "Two jobs", Workload: workload,
		Replays: []report.Replay{{
			Result: replay.Result{Policy: "fcfs", Outcomes: []replay.Outcome{{Start: 0, End: 600}, {Start: 600, End: 900}}},
			Held: [][]replay.Stretch{
				{{From: 0, To: 600, Nodes: []replay.Span{{First: 0, Last: 3}}}},
				{{From: 600, To: 900, Nodes: []replay.Span{{First: 0, Last: 1}}}},
			},
		}},
		Table: []report.Row{{Name: "Mean wait", Unit: report.Seconds, Better: report.Lower, Values: []float64{270}}},
	}
	var html bytes.Buffer
	err := page.Write(&html)
	fmt.Println(err, bytes.Contains(html.Bytes(), []byte("4\u202fmin 30\u202fs")))
	// Output: <nil> true
}
