package sched_test

import (
	"math/rand/v2"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
)

// The view shows the place that another rigid job without a guard would get. A call of View changes no plan.
func TestAFurtherJobBeginsWhereTheViewHasRoomFirst(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(41, seed))
		nodes := 3 + random.IntN(8)
		state := sched.Repeated{Limit: ep.Limit(1 + random.IntN(2))}.New(core.Machine{Nodes: nodes})
		guarded := seed%2 == 0
		guard := func(d core.Time) core.Time {
			if guarded {
				return random.Int64N(d)
			}
			return 0
		}
		left := nodes
		for id := core.JobID(0); id < 4; id++ {
			n := random.IntN(left + 1)
			if d := 10 + random.Int64N(50); n > 0 {
				state.Running(0, core.Allocation{Job: id, EP: core.EP{{Duration: d, Nodes: n}}, Guard: guard(d)})
			}
			left -= n
		}
		for id := core.JobID(10); id < core.JobID(10+random.IntN(5)); id++ {
			d := 5 + random.Int64N(40)
			j := core.Job{ID: id, Choices: []core.EP{{{Duration: d, Nodes: 1 + random.IntN(nodes)}}}}
			if random.IntN(2) == 0 {
				j.Guard = guard(d)
			}
			state.Submit(0, j)
		}
		now := random.Int64N(10)
		state.Starts(now, nil)
		n, d := 1+random.IntN(nodes), 1+random.Int64N(60)
		want, ok := state.(sched.Viewer).View(now).FirstFit(n, d, now)
		if !ok {
			t.Fatalf("seed %d: no room for ever", seed)
		}
		state.Submit(now, core.Job{ID: 99, Choices: []core.EP{{{Duration: d, Nodes: n}}}})
		plan := state.Plan(now).Jobs
		if last := plan[len(plan)-1]; last.Job != 99 || last.Start != want {
			t.Fatalf("seed %d: job %d begins at %d, by the view at %d", seed, last.Job, last.Start, want)
		}
	}
}
