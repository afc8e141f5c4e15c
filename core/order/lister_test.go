package order

import (
	"math/rand/v2"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/profile"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Whatever orders were tried before, and wherever the snapshots are, the schedule is the one that ep.Schedule
// makes for the order. An order is rejected only if it ends too late.
func TestAChangedOrderIsScheduledAsFromNothing(t *testing.T) {
	names := ep.Names()
	rapid.Check(t, func(t *rapid.T) {
		a, err := ep.ParseAlgorithm(rapid.SampledFrom(names).Draw(t, "algorithm"))
		if err != nil {
			t.Fatal(err)
		}
		busy := profile.New(9)
		busy.Add(rapid.Int64Range(0, 20).Draw(t, "busy from"), core.EP{{Duration: rapid.Int64Range(1, 30).Draw(t, "for"), Nodes: rapid.IntRange(0, 9).Draw(t, "nodes")}})
		eps := make([]core.EP, rapid.IntRange(2, 7).Draw(t, "applications"))
		for i := range eps {
			for range rapid.IntRange(1, 4).Draw(t, "steps") {
				eps[i] = append(eps[i], core.Step{Duration: rapid.Int64Range(1, 9).Draw(t, "duration"), Nodes: rapid.IntRange(1, 9).Draw(t, "nodes")})
			}
		}
		l := newLister(busy, eps, a, rapid.IntRange(1, 8).Draw(t, "snapshots"))
		l.begin(ep.ByArea(eps))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range 12 {
			first, last := l.vary(random)
			plan, err := ep.Schedule(busy.Clone(), eps, l.next.order, a)
			if err != nil {
				t.Fatal(err)
			}
			worst := l.makespan() + random.Int64N(9) - 2
			if tried := l.try(first, last, worst); tried != (makespan(plan) <= worst) {
				t.Fatalf("%v, at most %d s: tried %v, ends at %d", l.next.order, worst, tried, makespan(plan))
			} else if !tried || random.IntN(4) == 0 {
				continue
			}
			l.take()
			if diff := cmp.Diff(plan, l.now.placed); diff != "" || l.makespan() != makespan(plan) {
				t.Fatalf("%v: %d s, from nothing %d s (-want +got):\n%s", l.now.order, l.makespan(), makespan(plan), diff)
			}
		}
	})
}
