package compare

import (
	"accordion/traces/replay"
	"accordion/traces/report/replays"
)

// Metric is one line of the table.
type Metric struct {
	Group  string // its heading: "Waiting"
	Name   string // in plain words: "mean wait"
	About  string // how it is computed
	Unit   replays.Unit
	Better replays.Better
	Of     func(*replay.Metrics) float64 // in the unit: shares from 0 to 1
}

// Metrics are the lines of the table, in its order, without those by class.
var Metrics = []Metric{
	{"Waiting", "mean wait", "from submission to start", replays.Seconds, replays.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Mean }},
	{"Waiting", "median wait", "half of the jobs wait no longer", replays.Seconds, replays.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Median }},
	{"Waiting", "95 % wait at most", "the 95th percentile of the waits", replays.Seconds, replays.Lower, func(m *replay.Metrics) float64 { return m.Waiting.P95 }},
	{"Waiting", "longest wait", "", replays.Seconds, replays.Lower, func(m *replay.Metrics) float64 { return m.Waiting.Max }},
	{"In the system", "mean turnaround", "from submission to end", replays.Seconds, replays.Lower, func(m *replay.Metrics) float64 { return m.Turnaround.Mean }},
	{"In the system", "mean bounded slowdown", "turnaround / run time, runs below 10 s counted as 10 s; at least 1", replays.Number, replays.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.Mean }},
	{"In the system", "median bounded slowdown", "", replays.Number, replays.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.Median }},
	{"In the system", "95 % bounded slowdown at most", "", replays.Number, replays.Lower, func(m *replay.Metrics) float64 { return m.Slowdown.P95 }},
	{"Machine", "makespan", "from the first submission to the last end", replays.Seconds, replays.Lower, func(m *replay.Metrics) float64 { return float64(m.Makespan) }},
	{"Machine", "utilisation", "nodes held, of machine × makespan", replays.Share, replays.Higher, func(m *replay.Metrics) float64 { return m.Utilisation / 100 }},
	{"Machine", "effective utilisation", "nodes needed for the work done, of machine × makespan", replays.Share, replays.Higher, func(m *replay.Metrics) float64 { return m.EffectiveUtilisation / 100 }},
	{"Machine", "waste", "held for nothing, in percent of what was needed", replays.Share, replays.Lower, func(m *replay.Metrics) float64 { return m.Waste / 100 }},
}

// ByClass are further lines: mean wait and mean bounded slowdown of each class of jobs that has any.
func ByClass(m *replay.Metrics) []Metric {
	var all []Metric
	add := func(group, unit string, n int, of func(*replay.Metrics) []replay.Class) {
		for i := range n {
			if class := of(m)[i]; class.Jobs > 0 {
				all = append(all, Metric{group, "mean wait, " + class.Class + unit, "", replays.Seconds, replays.Lower,
					func(m *replay.Metrics) float64 { return of(m)[i].Waiting.Mean }})
				all = append(all, Metric{group, "mean bounded slowdown, " + class.Class + unit, "", replays.Number, replays.Lower,
					func(m *replay.Metrics) float64 { return of(m)[i].Slowdown.Mean }})
			}
		}
	}
	add("By size", " nodes", len(m.BySize), func(m *replay.Metrics) []replay.Class { return m.BySize })
	add("By run time", "", len(m.ByLength), func(m *replay.Metrics) []replay.Class { return m.ByLength })
	return all
}
