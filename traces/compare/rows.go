package compare

import (
	"slices"

	"accordion/traces/replay"
	"accordion/traces/report"
	"accordion/traces/workload"
)

// Metric is one line of the table.
type Metric struct {
	Group  string // heading: "Waiting"
	Name   string // in words: "Mean wait"
	About  string // how it is computed
	Unit   report.Unit
	Better report.Better
	Of     func(*replay.Metrics) float64 // returns the value in Unit; shares are from 0 to 1

	applies func(*replay.Metrics) bool // whether the metric makes sense for a workload; nil means always
}

// Lines returns the metrics that make sense for a workload.
func Lines(m *replay.Metrics) []Metric {
	return slices.DeleteFunc(slices.Clone(Metrics), func(line Metric) bool { return line.applies != nil && !line.applies(m) })
}

// mixed reports whether some jobs are moldable, and others are not.
func mixed(m *replay.Metrics) bool { return m.Moldable > 0 && m.Moldable < m.Jobs }

// has returns a function that reports whether there are jobs of this kind and of others.
func has(kind workload.Kind) func(*replay.Metrics) bool {
	return func(m *replay.Metrics) bool { return len(m.ByKind) > 1 && m.Of(kind).Jobs > 0 }
}

// waits and slowdown return a mean over the jobs of a kind.
func waits(kind workload.Kind) func(*replay.Metrics) float64 {
	return func(m *replay.Metrics) float64 { return m.Of(kind).Waiting }
}

func slowdown(kind workload.Kind) func(*replay.Metrics) float64 {
	return func(m *replay.Metrics) float64 { return m.Of(kind).Slowdown }
}

// Metrics are the lines of the table, in order.
var Metrics = []Metric{
	{"Waiting", "Mean wait", "from submission to start", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Mean }, nil},
	{"Waiting", "Median wait", "half of the jobs wait no longer", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Median }, nil},
	{"Waiting", "95 % wait at most", "the 95th percentile of the waits", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.P95 }, nil},
	{"Waiting", "Longest wait", "", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Max }, nil},
	{"In the system", "Mean turnaround", "from submission to end", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Turnaround.Mean }, nil},
	{"In the system", "… of moldable jobs", "does it pay to say that one is?", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.MoldableTurnaround }, mixed},
	{"In the system", "… of the others", "", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.OtherTurnaround }, mixed},
	{"In the system", "Mean bounded slowdown", "turnaround / run time (of moldable jobs the log's), runs below 10 s counted as 10 s; at least 1", report.Number, report.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.Mean }, nil},
	{"In the system", "Median bounded slowdown", "", report.Number, report.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.Median }, nil},
	{"In the system", "95 % bounded slowdown at most", "", report.Number, report.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.P95 }, nil},
	{"By kind", "Evolving jobs: mean wait", "does it pay to tell one's profile?", report.Seconds, report.Lower, waits(workload.Evolving), has(workload.Evolving)},
	{"By kind", "Evolving jobs: slowdown", "mean bounded slowdown", report.Number, report.Lower, slowdown(workload.Evolving), has(workload.Evolving)},
	{"By kind", "Moldable jobs: mean wait", "", report.Seconds, report.Lower, waits(workload.Moldable), has(workload.Moldable)},
	{"By kind", "Moldable jobs: slowdown", "mean bounded slowdown", report.Number, report.Lower, slowdown(workload.Moldable), has(workload.Moldable)},
	{"By kind", "Malleable jobs: mean wait", "does it pay to let one's size change?", report.Seconds, report.Lower, waits(workload.Malleable), has(workload.Malleable)},
	{"By kind", "Malleable jobs: turnaround", "from submission to end", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return m.Of(workload.Malleable).Turnaround }, has(workload.Malleable)},
	{"By kind", "Malleable jobs: slowdown", "mean bounded slowdown, of the log's run time", report.Number, report.Lower, slowdown(workload.Malleable), has(workload.Malleable)},
	{"By kind", "Malleable jobs: resizes a day", "of the whole machine", report.Number, report.Neither, func(m *replay.Metrics) float64 { return m.Resizes.PerDay }, has(workload.Malleable)},
	{"By kind", "Other jobs: mean wait", "those that are on one size for their whole life", report.Seconds, report.Lower, waits(workload.Rigid), has(workload.Rigid)},
	{"By kind", "Other jobs: slowdown", "mean bounded slowdown", report.Number, report.Lower, slowdown(workload.Rigid), has(workload.Rigid)},
	{"Machine", "Makespan", "from the first submission to the last end", report.Seconds, report.Lower, func(m *replay.Metrics) float64 { return float64(m.Makespan) }, nil},
	{"Machine", "Node-hours", "held by all jobs together", report.NodeSeconds, report.Lower, func(m *replay.Metrics) float64 { return m.HeldArea }, nil},
	{"Machine", "Utilisation", "nodes held, of machine × makespan", report.Share, report.Neither, func(m *replay.Metrics) float64 { return m.Utilisation / 100 }, nil},
	{"Machine", "Effective utilisation", "nodes needed for the work done (of moldable jobs the log's work), of machine × makespan", report.Share, report.Higher, func(m *replay.Metrics) float64 { return m.EffectiveUtilisation / 100 }, nil},
	{"Machine", "Waste", "held for nothing, in percent of what was needed; below 0 where moldable jobs needed less than in the log", report.Share, report.Lower, func(m *replay.Metrics) float64 { return m.Waste / 100 }, nil},
}
