package queue

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/mold"
)

func TestTheSizesOfAModelAreChosenAsIfEachHadBeenTried(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRepeated(rapid.IntRange(1, 24).Draw(t, "nodes"))
		for i := range rapid.IntRange(0, 12).Draw(t, "others") {
			r.Running(0, core.Allocation{Job: core.JobID(100 + i), Start: rapid.Int64Range(0, 60).Draw(t, "start"),
				EP: core.EP{{Duration: rapid.Int64Range(1, 40).Draw(t, "duration"), Nodes: rapid.IntRange(1, 20).Draw(t, "size")}}})
		}
		choices, err := mold.Parse(fmt.Sprintf("amdahl:p=0.%d,t1=%ds,nodes=%d-%d", rapid.IntRange(0, 99).Draw(t, "p"),
			rapid.IntRange(1, 300).Draw(t, "t1"), rapid.IntRange(1, 8).Draw(t, "from"), rapid.IntRange(8, 30).Draw(t, "to")))
		if err != nil {
			t.Fatal(err)
		}
		j := core.Job{ID: 1, Begin: rapid.Int64Range(0, 30).Draw(t, "begin"), Choices: choices}
		r.renew(0)
		got, ok := r.placer.best(r.view, 0, j)
		var want core.Planned
		found := false
		for i, ep := range choices {
			start, fits := r.view.FirstFit(ep[0].Nodes, ep[0].Duration, j.Begin)
			if fits && (!found || start+ep[0].Duration < want.End()) {
				want, found = core.Planned{Allocation: core.Allocation{Job: 1, Start: start, EP: ep}, Choice: i}, true
			}
		}
		if ok != found || ok && (got.Choice != want.Choice || got.Start != want.Start) {
			t.Fatalf("chosen is %+v, %t; one search a size gives %+v, %t", got, ok, want, found)
		}
	})
}

func newRepeated(nodes int) *repeated { return Repeated{}.New(core.Machine{Nodes: nodes}).(*repeated) }

// BenchmarkPlanWithModels is the plan of 2,000 jobs of 200 sizes each beside 500 running ones, on 1,000 nodes. The bound
// is 100 ms; figures in docs/performance.md.
func BenchmarkPlanWithModels(b *testing.B) {
	choices, err := mold.Parse("amdahl:p=0.99,t1=10h,nodes=1-200")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s := Repeated{}.New(core.Machine{Nodes: 1000})
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
