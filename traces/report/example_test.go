package report_test

import (
	"fmt"
	"io"
	"time"

	"accordion/traces/report"
)

func Example() {
	begin := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	chart := report.Gantt{
		Title: "Two nodes", Nodes: []string{"n1", "n2"},
		Jobs: []report.Job{{ID: "1", Name: "solve", Kind: report.Evolving, Submit: at(0), Holds: []report.Hold{
			{Node: "n1", From: at(0), To: at(40)},
			{Node: "n2", From: at(20), To: at(40)}, // it grew
		}}},
	}
	if err := chart.Write(io.Discard); err != nil {
		fmt.Println(err)
	}
	f := chart.Figures()
	fmt.Printf("%d growth; %.0f%% of the machine held; %v node-time saved\n", f.Growths, 100*f.Utilisation, f.Saved())
	// Output: 1 growth; 75% of the machine held; 20s node-time saved
}
