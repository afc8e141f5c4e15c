package compare

import (
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
}

// Metrics are the lines of the table, in its order.
var Metrics = []Metric{
	{"Waiting", "Mean wait", "from submission to start", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Mean }},
	{"Waiting", "Median wait", "half of the jobs wait no longer", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Median }},
	{"Waiting", "95 % wait at most", "the 95th percentile of the waits", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.P95 }},
	{"Waiting", "Longest wait", "", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Max }},
	{"In the system", "Mean turnaround", "from submission to end", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Turnaround.Mean }},
	{"In the system", "Mean bounded slowdown", "turnaround / run time, runs below 10 s counted as 10 s; at least 1", report.Number, report.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.Mean }},
	{"In the system", "Median bounded slowdown", "", report.Number, report.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.Median }},
	{"In the system", "95 % bounded slowdown at most", "", report.Number, report.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.P95 }},
	{"Machine", "Makespan", "from the first submission to the last end", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return float64(m.Makespan) }},
	{"Machine", "Utilisation", "nodes held, of machine × makespan", report.Share, report.Neither, func(m *replay.Metrics) float64 { return m.Utilisation / 100 }},
	{"Machine", "Effective utilisation", "nodes needed for the work done, of machine × makespan", report.Share, report.Higher, func(m *replay.Metrics) float64 { return m.EffectiveUtilisation / 100 }},
	{"Machine", "Waste", "held for nothing, in percent of what was needed", report.Share, report.Lower, func(m *replay.Metrics) float64 { return m.Waste / 100 }},
}
