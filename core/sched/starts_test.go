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

// The jobs that start do not depend on calls of Plan, in which all jobs have a place. That also holds if seconds are
// skipped, nodes are lost, jobs exceed their requested times or are removed, and running jobs change their size or
// begin later.
func TestStartsAreThoseOfThePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 8).Draw(t, "machine")
		policy := sched.Repeated{Order: drawOrder(t), Sizing: rapid.SampledFrom([]sizing.Sizing{nil, sizing.Share{}, sizing.Scojo()}).Draw(t, "sizing")}
		asked, told := policy.New(core.Machine{Nodes: nodes}), policy.New(core.Machine{Nodes: nodes})
		both := func(do func(sched.State)) { do(asked); do(told) }
		several := rapid.SampledFrom([]int{1, 1, 1, 3}).Draw(t, "most steps")
		for _, a := range drawRunning(t, 0, nodes) {
			both(func(s sched.State) { s.Running(0, a) })
		}
		id := core.JobID(0)
		for now := core.Time(0); now < 40; now += rapid.SampledFrom([]core.Time{1, 1, 1, 2, 5, -2}).Draw(t, "later") {
			for range rapid.IntRange(0, 3).Draw(t, "submitted") {
				id++
				j := core.Job{ID: id, Submit: now, Begin: rapid.SampledFrom([]core.Time{0, 0, 0, 0, 0, now + 3}).Draw(t, "begin")}
				for range rapid.IntRange(1, 6).Draw(t, "choices") {
					j.Choices = append(j.Choices, drawEP(t, several, nodes+1))
				}
				both(func(s sched.State) { s.Submit(now, j) })
			}
			for range rapid.IntRange(0, 1).Draw(t, "ended") {
				gone := core.JobID(rapid.IntRange(1, int(id)+1).Draw(t, "gone"))
				both(func(s sched.State) { s.End(now, gone) })
			}
			if rapid.IntRange(0, 19).Draw(t, "nodes lost") == 19 {
				m := core.Machine{Nodes: rapid.IntRange(1, nodes).Draw(t, "left")}
				both(func(s sched.State) { s.Nodes(now, m) })
			}
			if rapid.Bool().Draw(t, "nobody asks") {
				continue
			}
			asked.Plan(now)
			a, b := asked.Starts(now, nil), told.Starts(now, nil)
			if d := cmp.Diff(a, b, cmpopts.EquateEmpty()); d != "" {
				t.Fatalf("second %d (-planned +told)\n%s", now, d)
			}
			if rapid.IntRange(0, 9).Draw(t, "plan") == 9 {
				if d := cmp.Diff(asked.Plan(now), told.Plan(now), cmpopts.EquateEmpty()); d != "" {
					t.Fatalf("second %d (-plan +plan of the one that was told)\n%s", now, d)
				}
			}
		}
	})
}
