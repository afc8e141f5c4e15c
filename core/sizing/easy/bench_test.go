package easy_test

import (
	"testing"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/sched"
	"accordion/core/sizing"
	"accordion/core/sizing/easy"
)

// busy returns the state of a machine of 1,000 nodes with 500 running jobs and 2,000 waiting moldable ones, of 150 to
// 200 sizes each. With others, some running jobs change their size.
func busy(b *testing.B, policy sched.Policy, others bool) sched.State {
	choices, err := moldable.Parse("amdahl:p=0.99,t1=10h,nodes=1-200")
	if err != nil {
		b.Fatal(err)
	}
	s := policy.New(core.Machine{Nodes: 1000})
	for i := range 500 {
		ep := core.EP{{Duration: core.Time(600 + 37*i), Nodes: 1 + i%3}}
		if others && i%10 == 0 {
			ep = append(ep, core.Step{Duration: 600, Nodes: 1})
		}
		s.Running(0, core.Allocation{Job: core.JobID(-1 - i), EP: ep})
	}
	for i := range 2000 {
		s.Submit(0, core.Job{ID: core.JobID(i + 1), Choices: choices[i%50:]})
	}
	return s
}

// BenchmarkCycle does what a cycle of a live cluster does: it fills a new state and makes its plan.
// docs/performance.md has the figures.
func BenchmarkCycle(b *testing.B) {
	for name, policy := range map[string]sched.Policy{
		"share":       easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work}},
		"scojo-p":     easy.EASY{Sizing: sizing.Scojo(), Floor: sizing.AsListed, Order: easy.Order{By: easy.Class}, Remembers: true},
		"traditional": easy.Traditional{Order: easy.Order{By: easy.Class}},
	} {
		for _, others := range []bool{false, true} {
			b.Run(name+map[bool]string{false: "", true: "/beside others"}[others], func(b *testing.B) {
				for b.Loop() {
					if plan := busy(b, policy, others).Plan(0); len(plan.Jobs) != 2000 {
						b.Fatalf("%d of 2000 jobs are planned", len(plan.Jobs))
					}
				}
			})
		}
	}
}

// A pass that starts no job allocates no memory, however many jobs wait.
func TestPassThatStartsNoJobAllocatesNothing(t *testing.T) {
	for name, policy := range map[string]sched.Policy{
		"share":   easy.EASY{Sizing: sizing.Share{}, Order: easy.Order{By: easy.Work}},
		"load":    easy.EASY{Sizing: sizing.Scojo()},
		"classes": easy.Traditional{Order: easy.Order{By: easy.Class}},
	} {
		s := policy.New(core.Machine{Nodes: 10})
		s.Running(0, core.Allocation{Job: -1, EP: core.EP{{Duration: 1000, Nodes: 9}}})
		for id := range core.JobID(100) {
			s.Submit(0, core.Job{ID: id, Choices: []core.EP{{{Duration: 5000, Nodes: 4}}, {{Duration: 3000, Nodes: 8}}}})
		}
		into := s.Starts(0, nil)
		if n := testing.AllocsPerRun(20, func() { into = s.Starts(1, into[:0]) }); n > 0 || len(into) > 0 {
			t.Errorf("%s: a pass asks %v times for memory and starts %v", name, n, into)
		}
	}
}
