package report

import (
	"fmt"
	"testing"
	"time"

	"accordion/core"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// unusual returns reports with unusual content.
func unusual() map[string]*Report {
	with := func(change func(*Report)) *Report {
		r := two()
		change(r)
		return r
	}
	return map[string]*Report{
		"no job at all": with(func(r *Report) {
			r.Workload.Jobs = nil
			for i := range r.Replays {
				r.Replays[i].Result.Outcomes, r.Replays[i].Held = nil, [][]replay.Stretch{}
			}
		}),
		"one job, one policy, no date, no table": with(func(r *Report) {
			r.Workload.Jobs, r.Replays, r.Table, r.Notes, r.Begin = r.Workload.Jobs[:1], r.Replays[:1], nil, nil, time.Time{}
			r.Replays[0].Result.Outcomes, r.Replays[0].Held = r.Replays[0].Result.Outcomes[:1], r.Replays[0].Held[:1]
		}),
		"no job ever began": with(func(r *Report) {
			for i := range r.Replays {
				r.Replays[i].Result.Outcomes = []replay.Outcome{{Start: -1}, {Start: -1}}
				r.Replays[i].Held = [][]replay.Stretch{nil, nil}
			}
		}),
		"nobody knows the nodes":   with(func(r *Report) { r.Replays[0].Held, r.Replays[1].Held = nil, nil }),
		"nodes of one policy only": with(func(r *Report) { r.Replays[0].Held = nil }),
		"a job of thirty years, begun before it was submitted": with(func(r *Report) {
			r.Workload.Jobs[0].Run, r.Workload.Jobs[0].Submit = 1e9, 30
			for i := range r.Replays {
				r.Replays[i].Result.Outcomes[0].End = 1e9
				r.Replays[i].Held[0][0].To = 1e9
			}
		}),
		"jobs of no length": with(func(r *Report) {
			for i := range r.Replays {
				r.Replays[i].Result.Outcomes[0].End = 0
				r.Replays[i].Held[0][0].To = 0
			}
		}),
		"twelve policies with long names": with(func(r *Report) {
			for i := range r.Table {
				r.Table[i].Values = []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
			}
			for i := 2; i < 12; i++ {
				another := r.Replays[i%2]
				another.Result.Policy = fmt.Sprintf("evolving:infX+opt, variant %d", i)
				r.Replays = append(r.Replays, another)
			}
		}),
		"one node": with(func(r *Report) {
			r.Workload.Machine.Nodes = 1
			r.Workload.Jobs = []workload.Job{{Number: 1, Run: 5, Request: 5, Size: 1}}
			for i := range r.Replays {
				r.Replays[i].Result.Outcomes = []replay.Outcome{{Start: 0, End: 5}}
				r.Replays[i].Held = [][]replay.Stretch{{{From: 0, To: 5, Nodes: []replay.Span{{First: 0, Last: 0}}}}}
			}
		}),
		"what really ran, on one node with a long name": with(func(r *Report) {
			*r = *named()
			r.Workload.Machine.Nodes, r.Real.Nodes = 1, []string{"a-node-with-a-name-of-forty-letters-0001"}
			r.Workload.Jobs, r.Real.Jobs = r.Workload.Jobs[:1], r.Real.Jobs[:1]
			r.Replays[0].Result.Outcomes, r.Replays[0].Held = r.Replays[0].Result.Outcomes[:1], [][]replay.Stretch{nil}
		}),
		"moldable jobs": with(func(r *Report) {
			r.Workload.Jobs[0].Choices = []core.EP{{{Duration: 60, Nodes: 1}}, {{Duration: 30, Nodes: 2}}}
		}),
	}
}

func TestUnusualReportsOpen(t *testing.T) {
	for name, r := range unusual() {
		t.Run(name, func(t *testing.T) {
			p := open(t, r)
			p.Drawn()
			p.Quiet()
			if p.Text("#window") == "" {
				t.Error("the page does not say which time it shows")
			}
		})
	}
}
