package sched_test

import (
	"testing"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// full returns the state of a machine without patience. All its nodes are in use until second 20.
func full(nodes int) sched.State {
	state := sched.Patient{}.New(core.Machine{Nodes: nodes})
	state.Running(10, core.Allocation{Job: 100, Start: 0, EP: core.EP{{Duration: 20, Nodes: nodes}}})
	return state
}

// A job that listed the sizes of a curve gets only the sizes that its rule permits, as if it had listed no others.
// But it becomes due like a job that listed all of them.
func TestSizedJobGetsSizesThatTheRulePermits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawStory(t, func(t *rapid.T, id core.JobID, now core.Time, nodes int) core.Job {
			j := core.Job{ID: id, Submit: now}
			size, lasts := rapid.IntRange(1, 3).Draw(t, "nodes"), rapid.Int64Range(4, 20).Draw(t, "lasts")
			for range rapid.IntRange(1, 4).Draw(t, "sizes") {
				j.Choices = append(j.Choices, core.EP{{Duration: lasts, Nodes: size}})
				size, lasts = size+rapid.IntRange(1, 3).Draw(t, "more"), max(1, lasts*7/10)
			}
			return j
		})
		now, m := core.Time(30), core.Machine{Nodes: s.nodes}
		rule, _ := sizing.Named(rapid.SampledFrom(sizing.Names()).Draw(t, "rule"))
		sized := s.policy
		sized.Sizing = rule
		got, want := sized.New(m), s.policy.New(m)
		w := sizing.World{Now: now, Machine: s.nodes}
		if n := rapid.IntRange(0, s.nodes).Draw(t, "held"); n > 0 {
			a := core.Allocation{Job: 100, Start: now - 1, EP: core.EP{{Duration: 9, Nodes: n}}}
			got.Running(now, a)
			want.Running(now, a)
			w.Holds(n, n, 1)
			w.Running = append(w.Running, sizing.Holding{Nodes: n, End: a.End()})
		}
		all := map[core.JobID]*sizing.Sizes{}
		for _, j := range s.arrives {
			one := sizing.New(j, sizing.HalfReference)
			if all[j.ID] = one; one != nil && one.Steps[0].Nodes <= s.nodes {
				w.Waits(one, 1)
				w.Waiting = append(w.Waiting, one)
			}
			got.Submit(now, j)
		}
		first := map[core.JobID]int{}
		for _, j := range s.arrives {
			if one := all[j.ID]; one != nil && !one.Several && len(j.Choices) > 1 {
				lo, hi, ok := one.Range(rule.Factor(&w, one), s.nodes)
				if !ok {
					continue
				}
				few := j
				few.Choices = one.Choices[lo : hi+1]
				first[j.ID] = lo
				j = s.policy.DueLike(few, j)
			}
			want.Submit(now, j)
		}
		plan := want.Plan(now)
		for i := range plan.Jobs {
			if one := all[plan.Jobs[i].Job]; one != nil && one.Choices != nil {
				plan.Jobs[i].Choice = one.Choice(first[plan.Jobs[i].Job] + plan.Jobs[i].Choice)
			}
		}
		if d := gocmp.Diff(plan, got.Plan(now), cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%+v on %d nodes: (-listed so +sized)\n%s", sized, s.nodes, d)
		}
	})
}
