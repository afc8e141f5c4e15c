package compare

import (
	"accordion/traces/replay"
	"accordion/traces/report"
	"accordion/traces/workload"
)

// Report returns the report on the runs: their metrics, the differences to the first, and which nodes each job held. `placed` has the placement
// of each run.
func Report(w workload.Workload, runs []Run, placed []*replay.Placement) *report.Report {
	page := &report.Report{Title: w.Name, Workload: w}
	for i, run := range runs {
		held := make([][]replay.Stretch, len(w.Jobs))
		for j := range held {
			held[j] = placed[i].Steps(j, run.Result)
		}
		page.Replays = append(page.Replays, report.Replay{Result: run.Result, Held: held})
	}
	for _, line := range Lines(&runs[0].Metrics) {
		row := report.Row{Group: line.Group, Name: line.Name, About: line.About, Unit: line.Unit, Better: line.Better}
		for i := range runs {
			row.Values = append(row.Values, line.Of(&runs[i].Metrics))
		}
		page.Table = append(page.Table, row)
	}
	return page
}
