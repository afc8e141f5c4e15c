package compare

import (
	"accordion/traces/replay"
	"accordion/traces/report/replays"
	"accordion/traces/workload"
)

// Report is the page that shows the runs: their metrics, differences to the first, who held which nodes (placed, beside the
// runs), and what a reader should know besides.
func Report(w workload.Workload, runs []Run, placed []*replay.Placement) *replays.Report {
	report := &replays.Report{Title: w.Name, Workload: w}
	for i, run := range runs {
		report.Replays = append(report.Replays, replays.Replay{Result: run.Result, Held: held(w, run.Result, placed[i])})
	}
	for _, line := range Metrics {
		row := replays.Row{Group: line.Group, Name: line.Name, About: line.About, Unit: line.Unit, Better: line.Better}
		for i := range runs {
			row.Values = append(row.Values, line.Of(&runs[i].Metrics))
		}
		report.Table = append(report.Table, row)
	}
	return report
}

// held is who held which nodes, in the page's words.
func held(w workload.Workload, r replay.Result, p *replay.Placement) [][]replays.Stretch {
	all := make([][]replays.Stretch, len(w.Jobs))
	for i := range all {
		steps := p.Steps(i, r)
		all[i] = make([]replays.Stretch, len(steps))
		for k, s := range steps {
			nodes := make([]replays.Span, len(s.Nodes))
			for n, span := range s.Nodes {
				nodes[n] = replays.Span(span)
			}
			all[i][k] = replays.Stretch{From: s.From, To: s.To, Nodes: nodes}
		}
	}
	return all
}
