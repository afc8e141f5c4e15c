// Package report draws nodes over time: replays of a workload under several policies, or what really ran on a cluster. It makes one page, and
// its figures as files.
//
// The page is one HTML file without other files: a table of metrics with the differences to the first policy, load and queue over time, a
// Gantt chart to zoom and pan, and the distributions of waits. It can hold 100,000 jobs: they are packed in columns, and jobs smaller than a
// pixel are drawn as the share of nodes that they held. Pages of what really ran also have names of nodes, users and jobs, and marks for
// promised starts and growths.
//
// The package computes no metrics and places no jobs. Its callers, which replay (package replay) or read accounting, pass the rows of the
// table and the nodes that each job held.
//
// Files: report.go (input), page.go and page/ (the page), table.go and value.go (formatted metrics), pack.go (columns), series.go and
// distribution.go (what is computed), figures.go, axis.go, gantt.go and raster.go (the figures).
//
//	workload := workload.Workload{
//		Name: "two jobs", Machine: core.Machine{Nodes: 4},
//		Jobs: []workload.Job{
//			{Number: 1, Submit: 0, Run: 600, Request: 900, Size: 4},
//			{Number: 2, Submit: 60, Run: 300, Request: 300, Size: 2},
//		},
//	}
//	page := report.Report{
//		Title: "Two jobs", Workload: workload,
//		Replays: []report.Replay{{
//			Result: replay.Result{Policy: "fcfs", Outcomes: []replay.Outcome{{Start: 0, End: 600}, {Start: 600, End: 900}}},
//			Held: [][]replay.Stretch{
//				{{From: 0, To: 600, Nodes: []replay.Span{{First: 0, Last: 3}}}},
//				{{From: 600, To: 900, Nodes: []replay.Span{{First: 0, Last: 1}}}},
//			},
//		}},
//		Table: []report.Row{{Name: "Mean wait", Unit: report.Seconds, Better: report.Lower, Values: []float64{270}}},
//	}
//	err := page.Write(os.Stdout)
package report
