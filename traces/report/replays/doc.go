// Package replays draws replays of one workload under several policies: a page to compare them, and its figures as files.
//
// The page is one HTML file that needs nothing else: a table of metrics with the differences to the first policy, load and
// queue over time, a Gantt chart to zoom and pan through, and how waiting is distributed. It holds 100,000 jobs: they are
// packed in columns, and what is smaller than a pixel is drawn as how much of it was occupied.
//
// It computes no metrics and places no jobs: who replays (package replay) hands over the table's rows and who held which
// nodes. Charts of what really ran, from accounting, are package report's.
//
//	workload := workload.Workload{
//		Name: "two jobs", Machine: core.Machine{Nodes: 4},
//		Jobs: []workload.Job{
//			{Number: 1, Submit: 0, Run: 600, Request: 900, Size: 4},
//			{Number: 2, Submit: 60, Run: 300, Request: 300, Size: 2},
//		},
//	}
//	page := replays.Report{
//		Title: "Two jobs", Workload: workload,
//		Replays: []replays.Replay{{
//			Result: replay.Result{Policy: "fcfs", Outcomes: []replay.Outcome{{Start: 0, End: 600}, {Start: 600, End: 900}}},
//			Held: [][]replays.Stretch{
//				{{From: 0, To: 600, Nodes: []replays.Span{{First: 0, Last: 3}}}},
//				{{From: 600, To: 900, Nodes: []replays.Span{{First: 0, Last: 1}}}},
//			},
//		}},
//		Table: []replays.Row{{Name: "Mean wait", Unit: replays.Seconds, Better: replays.Lower, Values: []float64{270}}},
//	}
//	err := page.Write(os.Stdout)
package replays
