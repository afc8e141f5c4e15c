package sched_test

import (
	"math/rand/v2"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/moldable"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// busyQueue returns the state of a machine of 1,000 nodes with 500 running and 2,000 waiting jobs: 1,400 rigid, 400
// evolving with 3 to 8 steps, 200 moldable with 4 choices.
func busyQueue(policy sched.Policy) sched.State {
	r := rand.New(rand.NewPCG(3, 4))
	seconds := func() core.Time { return 60 + r.Int64N(4*3600) }
	s := policy.New(core.Machine{Nodes: 1000})
	for i := range 500 {
		s.Running(0, core.Allocation{Job: core.JobID(-1 - i), Start: -1 - r.Int64N(50), EP: core.EP{{Duration: seconds(), Nodes: 1 + r.IntN(3)}}})
	}
	for i := range 2000 {
		j := core.Job{ID: core.JobID(i)}
		switch i % 10 {
		case 0, 1:
			ep := make(core.EP, 3+r.IntN(6))
			for k := range ep {
				ep[k] = core.Step{Duration: seconds(), Nodes: 1 + r.IntN(64)}
			}
			j.Choices = []core.EP{ep}
		case 2:
			for n, d := 4+r.IntN(12), 8*seconds(); len(j.Choices) < 4; n, d = 2*n, d*6/10 {
				j.Choices = append(j.Choices, core.EP{{Duration: d, Nodes: n}})
			}
		default:
			j.Choices = []core.EP{{{Duration: seconds(), Nodes: 1 << r.IntN(8)}}}
		}
		s.Submit(0, j)
	}
	return s
}

// A plan of this size may take 60 ms. It takes 17 to 22 ms on a shared virtual machine with 2 cores.
func BenchmarkPlan(b *testing.B) {
	for _, c := range []struct {
		name   string
		policy sched.Repeated
	}{
		{"noX", sched.Repeated{}},
		{"2X+c", sched.Repeated{Limit: ep.Twice, Compact: true}},
		{"2X+opt", sched.Repeated{Limit: ep.Twice, LeastWaste: true}},
		{"infX", sched.Repeated{Limit: ep.Unlimited}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := busyQueue(c.policy)
			b.ReportAllocs()
			for b.Loop() {
				s.Nodes(0, core.Machine{Nodes: 1000}) // invalidates the present plan
				if got := len(s.Plan(0).Jobs); got != 2000 {
					b.Fatalf("%d jobs planned", got)
				}
			}
		})
	}
}

// BenchmarkPlanWithModels plans 2,000 jobs of 200 sizes each on 1,000 nodes, on which 500 jobs run. A plan may take 100 ms, and a
// sizing rule adds less than 10 ms. docs/performance.md has the figures.
func BenchmarkPlanWithModels(b *testing.B) {
	for _, c := range []struct {
		name string
		rule sizing.Sizing
	}{{"earliest of all", nil}, {"share", sizing.Share{}}, {"least", sizing.Least{}}, {"load", sizing.Scojo()}} {
		b.Run(c.name, func(b *testing.B) { planWithModels(b, sched.Repeated{Sizing: c.rule}) })
	}
}

func planWithModels(b *testing.B, policy sched.Repeated) {
	choices, err := moldable.Parse("amdahl:p=0.99,t1=10h,nodes=1-200")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s := policy.New(core.Machine{Nodes: 1000})
		for i := range 500 {
			s.Running(0, core.Allocation{Job: core.JobID(-1 - i), EP: core.EP{{Duration: core.Time(600 + 37*i), Nodes: 1 + i%3}}})
		}
		for i := range 2000 {
			s.Submit(0, core.Job{ID: core.JobID(i + 1), Choices: choices[i%50:]})
		}
		if plan := s.Plan(0); len(plan.Jobs) != 2000 {
			b.Fatalf("%d of 2000 jobs are planned", len(plan.Jobs))
		}
	}
}
