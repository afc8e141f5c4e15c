package sched_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// sizedPlan computes the plan of Figure 5 in which each moldable job lists only the sizes that the rule permits. `references` has
// the references of the running jobs.
func sizedPlan(policy sched.Repeated, nodes int, now core.Time, running []core.Allocation, references map[core.JobID]int, jobs []core.Job) core.Plan {
	w := sizing.World{Now: now, Machine: nodes}
	for _, a := range running {
		w.Holds(a.EP.Peak(), references[a.Job], 1)
		w.Running = append(w.Running, sizing.Holding{Nodes: a.EP.Peak(), End: a.End()})
	}
	for _, j := range jobs {
		if s := sizing.New(j, sizing.HalfReference); s != nil && j.Begin <= now && s.Steps[0].Nodes <= nodes {
			w.Waits(s, 1)
			w.Waiting = append(w.Waiting, s)
		}
	}
	dumb, plan, waiting := newDumb(nodes, running...), core.Plan{}, 0
	for _, j := range jobs {
		s := sizing.New(j, sizing.HalfReference)
		lo := 0
		if s != nil && !s.Several && len(j.Choices) > 1 {
			if j.Begin <= now && s.Steps[0].Nodes <= nodes {
				s = w.Waiting[waiting] // the job itself, for Load
			}
			first, hi, ok := s.Range(policy.Sizing.Factor(&w, s), nodes)
			if !ok {
				continue
			}
			lo, j.Choices = first, s.Choices[first:hi+1]
		}
		if s != nil && j.Begin <= now && s.Steps[0].Nodes <= nodes {
			waiting++
		}
		for _, p := range dumb.plan(policy, now, []core.Job{j}).Jobs {
			if s != nil && !s.Several && s.Choices != nil {
				p.Choice = s.Choice(lo + p.Choice)
			}
			plan.Jobs = append(plan.Jobs, p)
		}
	}
	return plan
}

// drawSized draws a job with sizes of a curve, or of another kind.
func drawSized(t *rapid.T, id core.JobID, nodes int) core.Job {
	j := drawJob(t, id, nodes)
	if rapid.Bool().Draw(t, "on a curve") {
		j.Choices = nil
		n, d := rapid.IntRange(1, nodes).Draw(t, "reference"), rapid.Int64Range(1, 15).Draw(t, "lasts")
		for k := (n + 1) / 2; k <= min(2*n, nodes); k++ {
			j.Choices = append(j.Choices, core.EP{{Duration: d*core.Time(n)/core.Time(k) + core.Time(k)/2 + 1, Nodes: k}})
		}
	}
	return j
}

func drawSizing(t *rapid.T) sizing.Sizing {
	s, _ := sizing.Named(rapid.SampledFrom(sizing.Names()).Draw(t, "sizing"))
	if load, is := s.(sizing.Load); is {
		load.Blind = true // nothing is learned in a few seconds
		s = load
	}
	return s
}

// TestARepeatedPlanWithASizingIsThatOfTheSizesThatJobsMayHave submits, starts and ends jobs. After each event the
// state must plan as the definition does with the targets of that time.
func TestARepeatedPlanWithASizingIsThatOfTheSizesThatJobsMayHave(t *testing.T) {
	checks(t)
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(2, 8).Draw(t, "machine")
		policy := drawPolicy(t)
		policy.Sizing = drawSizing(t)
		var (
			s          = policy.New(core.Machine{Nodes: nodes})
			running    []core.Allocation
			references = map[core.JobID]int{}
			jobs       []core.Job
			now        core.Time
		)
		for next := core.JobID(1); next < 10; next++ {
			if len(running) > 0 && rapid.Bool().Draw(t, "end") {
				i := rapid.IntRange(0, len(running)-1).Draw(t, "which")
				s.End(now, running[i].Job)
				running = append(running[:i:i], running[i+1:]...)
			} else {
				j := drawSized(t, next, nodes)
				s.Submit(now, j)
				jobs = append(jobs, j)
			}
			want := sizedPlan(policy, nodes, now, running, references, jobs)
			if d := cmp.Diff(want, s.Plan(now), cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("second %d (-words +plan)\n%s", now, d)
			}
			for _, p := range want.Jobs {
				if p.Start != now {
					continue
				}
				for i, j := range jobs {
					if j.ID == p.Job {
						jobs = append(jobs[:i:i], jobs[i+1:]...)
						references[j.ID] = sizing.New(j, sizing.HalfReference).Nodes
						break
					}
				}
				running = append(running, p.Allocation)
			}
			s = s.Clone()
			s.Starts(now, nil)
			if after, later := s.Plan(now), s.Clone().Plan(now+1); untouched(after, now+1) && !cmp.Equal(after, later, cmpopts.EquateEmpty()) {
				t.Fatalf("second %d: the clock alone changed the plan:\n%s", now, cmp.Diff(after, later))
			}
			now += rapid.Int64Range(0, 4).Draw(t, "passes")
		}
	})
}

// untouched reports whether no job of a plan starts before a time.
func untouched(plan core.Plan, at core.Time) bool {
	for _, p := range plan.Jobs {
		if p.Start < at {
			return false
		}
	}
	return true
}
