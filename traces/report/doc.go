// Package report draws what happened on a machine: a Gantt chart as one HTML page that needs nothing else, no network
// and no other file.
//
// It knows nothing of where the jobs come from: who has records of "this node, this job, from then to then" (the
// embedded batch system, Slurm's accounting, a replay) can have a chart.
//
//	begin := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
//	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
//	chart := report.Gantt{
//		Title: "Two nodes", Nodes: []string{"n1", "n2"},
//		Jobs: []report.Job{{ID: "1", Name: "solve", Kind: report.Evolving, Submit: at(0), Holds: []report.Hold{
//			{Node: "n1", From: at(0), To: at(40)},
//			{Node: "n2", From: at(20), To: at(40)}, // it grew
//		}}},
//	}
//	err := chart.Write(os.Stdout)
package report
