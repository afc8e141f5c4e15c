package adaptive

import (
	"math"
	"testing"

	"accordion/core"
	"accordion/core/sizing"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// The workload has pairs of jobs, one pair per day. The second job of a pair waits for a while, and starts while the first job runs.
func TestModifierDependsOnRunningAndWaitingJobsAtTheStart(t *testing.T) {
	var (
		w        = workload.Workload{Machine: core.Machine{Nodes: 16}}
		outcomes []replay.Outcome
		load     = sizing.Scojo()
		want     modified
	)
	job := func(at, start core.Time, size int) {
		j := workload.Job{Number: int64(len(w.Jobs)), Submit: at, Run: 7200, Request: 7200, Size: size}
		before := workload.Workload{Machine: w.Machine, Jobs: []workload.Job{j}}
		workload.WhatIf{Moldable: 1, Curve: workload.Piecewise}.Apply(&before)
		w.Jobs = append(w.Jobs, before.Jobs[0])
		o := replay.Outcome{Start: start, Choice: 0}
		o.End = start + before.Jobs[0].Runs[0]
		outcomes = append(outcomes, o)
	}
	search := func(world sizing.World, s *sizing.Sizes) {
		best := 0.0
		load.Search(&world, s, func(t sizing.Trial) {
			want.trials[all]++
			if t.Better {
				best = t.Factor
			}
		})
		want.modifier[all] += best
	}
	const pairs = 40 // 5 % at each end do not count
	for k := range core.Time(pairs) {
		now := k * 86400
		job(now, now, 8)
		job(now+100, now+200, 6)
	}
	s := sizing.Statistics{Nodes: [sizing.Classes]float64{1, 1, 1}, Seconds: [sizing.Classes]float64{1, 1, 1}}
	s.Arrivals[0][0] = 1
	load.Known = s.Forecast()
	for k := range core.Time(pairs) {
		now, i := k*86400, 2*k
		if i < 4 || i >= 76 {
			continue
		}
		refs := references(workload.Workload{Machine: w.Machine, Jobs: w.Jobs[i : i+2]})
		search(sizing.World{Now: now, Machine: 16, Waiting: refs[:1]}, refs[0])
		search(sizing.World{Now: now + 200, Machine: 16, Waiting: refs[1:], Running: []sizing.Holding{{Nodes: refs[0].Steps[0].Nodes, End: outcomes[i].End}}}, refs[1])
	}
	got := modify(w, references(w), outcomes, load)
	if n := 72.0; math.Abs(got.modifier[all]-want.modifier[all]/n) > 1e-12 || got.trials[all] != want.trials[all]/n || got.trials[long] != got.trials[all] || got.trials[short] != 0 {
		t.Errorf("%+v, want %v and %v", got, want.modifier[all]/n, want.trials[all]/n)
	}
}
