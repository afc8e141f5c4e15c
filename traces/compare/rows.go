package compare

import (
	"slices"

	"accordion/traces/replay"
	"accordion/traces/report"
)

// Metric is one line of the table.
type Metric struct {
	Group  string // its heading: "Waiting"
	Name   string // in plain words: "mean wait"
	About  string // how it is computed
	Unit   report.Unit
	Better report.Better
	Of     func(*replay.Metrics) float64 // in the unit: shares from 0 to 1

	mixed bool // only where some jobs are moldable, and others are not
}

// Lines are those of the metrics that say something of a workload.
func Lines(m *replay.Metrics) []Metric {
	if m.Moldable > 0 && m.Moldable < m.Jobs {
		return Metrics
	}
	return slices.DeleteFunc(slices.Clone(Metrics), func(line Metric) bool { return line.mixed })
}

// Metrics are the lines of the table, in its order.
var Metrics = []Metric{
	{"Waiting", "Mean wait", "from submission to start", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Mean }, false},
	{"Waiting", "Median wait", "half of the jobs wait no longer", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Median }, false},
	{"Waiting", "95 % wait at most", "the 95th percentile of the waits", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.P95 }, false},
	{"Waiting", "Longest wait", "", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Max }, false},
	{"In the system", "Mean turnaround", "from submission to end", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Turnaround.Mean }, false},
	{"In the system", "… of moldable jobs", "does it pay to say that one is?", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.MoldableTurnaround }, true},
	{"In the system", "… of the others", "", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.OtherTurnaround }, true},
	{"In the system", "Mean bounded slowdown", "turnaround / run time (of moldable jobs the log's), runs below 10 s counted as 10 s; at least 1", report.Number, report.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.Mean }, false},
	{"In the system", "Median bounded slowdown", "", report.Number, report.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.Median }, false},
	{"In the system", "95 % bounded slowdown at most", "", report.Number, report.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.P95 }, false},
	{"Machine", "Makespan", "from the first submission to the last end", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return float64(m.Makespan) }, false},
	{"Machine", "Node-hours", "held by all jobs together", report.NodeSeconds, report.Lower, func(m *replay.Metrics) float64 { return m.HeldArea }, false},
	{"Machine", "Utilisation", "nodes held, of machine × makespan", report.Share, report.Neither, func(m *replay.Metrics) float64 { return m.Utilisation / 100 }, false},
	{"Machine", "Effective utilisation", "nodes needed for the work done (of moldable jobs the log's work), of machine × makespan", report.Share, report.Higher, func(m *replay.Metrics) float64 { return m.EffectiveUtilisation / 100 }, false},
	{"Machine", "Waste", "held for nothing, in percent of what was needed; below 0 where moldable jobs needed less than in the log", report.Share, report.Lower, func(m *replay.Metrics) float64 { return m.Waste / 100 }, false},
}
