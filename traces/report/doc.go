// Package report draws nodes over time: replays of one workload under several policies, or what really ran on a cluster. It
// makes one page, and its figures as files.
//
// The page is one HTML file that needs nothing else: a table of metrics with the differences to the first policy, load and
// queue over time, a Gantt chart to zoom and pan through, and how waiting is distributed. It holds 100,000 jobs: they are
// packed in columns, and what is smaller than a pixel is drawn as how much of it was occupied. Of what really ran it has the
// names of nodes, users and jobs besides, and marks where a start or a growth was promised.
//
// It computes no metrics and places no jobs: who replays (package replay) or reads accounting hands over the table's rows
// and who held which nodes.
//
// Files: report.go (what is given), page.go and page/ (the page), table.go and value.go (metrics as they are read), pack.go
// (columns), series.go and distribution.go (what is computed), figures.go, axis.go, gantt.go and raster.go (the figures).
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
