package compare

import "accordion/traces/replay"

// Unit is how a metric's values are written.
type Unit uint8

// The units.
const (
	Seconds Unit = iota
	Ratio
	Percent
)

// Metric is one line of the table.
type Metric struct {
	Group  string // its heading: "Waiting"
	Name   string // in plain words: "mean wait"
	About  string // how it is computed
	Unit   Unit
	Higher bool // more is better; otherwise less is
	Of     func(*replay.Metrics) float64
}

// Metrics are the lines of the table, in its order, without those by class.
var Metrics = []Metric{
	{"Waiting", "mean wait", "from submission to start", Seconds, false, func(m *replay.Metrics) float64 { return m.Waiting.Mean }},
	{"Waiting", "median wait", "half of the jobs wait no longer", Seconds, false, func(m *replay.Metrics) float64 { return m.Waiting.Median }},
	{"Waiting", "95 % wait at most", "the 95th percentile of the waits", Seconds, false, func(m *replay.Metrics) float64 { return m.Waiting.P95 }},
	{"Waiting", "longest wait", "", Seconds, false, func(m *replay.Metrics) float64 { return m.Waiting.Max }},
	{"In the system", "mean turnaround", "from submission to end", Seconds, false, func(m *replay.Metrics) float64 { return m.Turnaround.Mean }},
	{"In the system", "mean bounded slowdown", "turnaround / run time, runs below 10 s counted as 10 s; at least 1", Ratio, false, func(m *replay.Metrics) float64 { return m.Slowdown.Mean }},
	{"In the system", "median bounded slowdown", "", Ratio, false, func(m *replay.Metrics) float64 { return m.Slowdown.Median }},
	{"In the system", "95 % bounded slowdown at most", "", Ratio, false, func(m *replay.Metrics) float64 { return m.Slowdown.P95 }},
	{"Machine", "makespan", "from the first submission to the last end", Seconds, false, func(m *replay.Metrics) float64 { return float64(m.Makespan) }},
	{"Machine", "utilisation", "nodes held, of machine × makespan", Percent, true, func(m *replay.Metrics) float64 { return m.Utilisation }},
	{"Machine", "effective utilisation", "nodes needed for the work done, of machine × makespan", Percent, true, func(m *replay.Metrics) float64 { return m.EffectiveUtilisation }},
	{"Machine", "waste", "held for nothing, in percent of what was needed", Percent, false, func(m *replay.Metrics) float64 { return m.Waste }},
}

// ByClass are further lines: mean wait and mean bounded slowdown of each class of jobs that has any.
func ByClass(m *replay.Metrics) []Metric {
	var all []Metric
	add := func(group, unit string, n int, of func(*replay.Metrics) []replay.Class) {
		for i := range n {
			if class := of(m)[i]; class.Jobs > 0 {
				all = append(all, Metric{group, "mean wait, " + class.Class + unit, "", Seconds, false,
					func(m *replay.Metrics) float64 { return of(m)[i].Waiting.Mean }})
				all = append(all, Metric{group, "mean bounded slowdown, " + class.Class + unit, "", Ratio, false,
					func(m *replay.Metrics) float64 { return of(m)[i].Slowdown.Mean }})
			}
		}
	}
	add("By size", " nodes", len(m.BySize), func(m *replay.Metrics) []replay.Class { return m.BySize })
	add("By run time", "", len(m.ByLength), func(m *replay.Metrics) []replay.Class { return m.ByLength })
	return all
}
