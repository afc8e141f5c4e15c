package compare

import (
	"accordion/traces/replay"
	"accordion/traces/report"
	"accordion/traces/workload"
)

// Report is the page that shows the runs: their metrics, differences to the first, who held which nodes (placed, beside the
// runs), and what a reader should know besides.
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
