package order_test

import (
	"math"
	"slices"
	"testing"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/order"
	"accordion/core/profile"
	"accordion/traces/paper"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func algorithm(t testing.TB, name string) ep.Algorithm {
	a, err := ep.ParseAlgorithm(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTheResultIsTheListScheduleOfItsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems().Draw(t, "problem")
		a := ep.Algorithm{Limit: p.limit, Compact: rapid.Bool().Draw(t, "compact"), Rigid: rapid.Bool().Draw(t, "rigid")}
		found, err := order.Search{Algorithm: a, Evals: rapid.IntRange(0, 60).Draw(t, "evals"), Seed: rapid.Uint64().Draw(t, "seed")}.Run(p.profile(), p.eps)
		if err != nil {
			t.Fatal(err)
		}
		if sorted := slices.Sorted(slices.Values(found.Order)); !slices.Equal(sorted, ep.InOrder(p.eps)) {
			t.Fatalf("%v is no order of %d applications", found.Order, len(p.eps))
		}
		plan, err := ep.Schedule(p.profile(), p.eps, found.Order, a)
		if err != nil || !cmp.Equal(plan, found.Plan) || latest(plan) != found.Makespan {
			t.Fatalf("%v until %d; the order makes %v, %v", found.Plan, found.Makespan, plan, err)
		}
		for _, rule := range []func([]core.EP) []int{ep.InOrder, ep.ByArea, ep.ByLength} {
			if plan, err := ep.Schedule(p.profile(), p.eps, rule(p.eps), a); err != nil || latest(plan) < found.Makespan {
				t.Fatalf("a rule's order ends at %d, before the search's %d (%v)", latest(plan), found.Makespan, err)
			}
		}
	})
}

func TestTheBestOfAllOrdersOfAFewApplicationsIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems().Draw(t, "problem")
		a := ep.Algorithm{Limit: p.limit}
		best := everyOrder(p, a, nil, core.Forever)
		found, err := order.Search{Algorithm: a, Evals: 1000}.Run(p.profile(), p.eps)
		if err != nil || found.Makespan != best {
			t.Fatalf("found %d s, %v; the best order takes %d s", found.Makespan, err, best)
		}
	})
}

func latest(plan []core.Allocation) core.Time {
	var last core.Time
	for _, a := range plan {
		last = max(last, a.End())
	}
	return last
}

func TestTheSameSeedFindsTheSameOrder(t *testing.T) {
	eps := paper.Applications(paper.Seed, 3)
	search := order.Search{Algorithm: algorithm(t, "2X+c"), Seed: 7, Evals: 300}
	one, err := search.Run(profile.New(paper.Nodes), eps)
	two, err2 := search.Run(profile.New(paper.Nodes), eps)
	if err != nil || err2 != nil || !cmp.Equal(one, two) {
		t.Errorf("%v, %v:\n%s", err, err2, cmp.Diff(one, two))
	}
	if one.Evals != 300 {
		t.Errorf("%d orders were tried, not 300", one.Evals)
	}
}

func TestASearchEndsWithItsBudget(t *testing.T) {
	eps := paper.Applications(paper.Seed, 4)
	asked := 0
	spent := func() float64 { asked++; return float64(asked-1) / 50 }
	found, err := order.Search{Algorithm: algorithm(t, "noX"), Spent: spent}.Run(profile.New(paper.Nodes), eps)
	if err != nil || found.Evals != 3+50 {
		t.Errorf("%d orders, %v; want the three rules and 50 more", found.Evals, err)
	}
	found, err = order.Search{Algorithm: algorithm(t, "noX"), Evals: 20, Spent: func() float64 { return math.NaN() }}.Run(profile.New(paper.Nodes), eps)
	if err != nil || found.Evals != 3 {
		t.Errorf("a clock that makes no sense: %d orders, %v; want the three rules", found.Evals, err)
	}
}

func TestASearchThatMeetsTheBoundIsOver(t *testing.T) {
	eps := []core.EP{{{Duration: 10, Nodes: 6}}, {{Duration: 10, Nodes: 6}}, {{Duration: 10, Nodes: 4}}}
	found, err := order.Search{Algorithm: algorithm(t, "noX"), Evals: 1000}.Run(profile.New(10), eps)
	if err != nil || found.Makespan != 20 || found.Bound != 20 || found.Evals != 3 {
		t.Errorf("%+v, %v; want 20 s, proved, after three orders", found, err)
	}
}

func TestAnApplicationThatNeverFitsIsAnError(t *testing.T) {
	if found, err := (order.Search{Evals: 9}).Run(profile.New(5), []core.EP{{{Duration: 1, Nodes: 6}}}); err == nil {
		t.Errorf("%+v", found)
	}
}

// With more applications than snapshots the machine is rebuilt from the last snapshot before the change.
func TestManyApplicationsAreScheduledFromSnapshots(t *testing.T) {
	var eps []core.EP
	for test := range 6 {
		eps = append(eps, paper.Applications(paper.Seed, test)...)
	}
	found, err := order.Search{Algorithm: algorithm(t, "2X"), Evals: 40}.Run(profile.New(paper.Nodes), eps)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := ep.Schedule(profile.New(paper.Nodes), eps, found.Order, algorithm(t, "2X"))
	if err != nil || latest(plan) != found.Makespan {
		t.Errorf("%d s found; its order takes %d s, %v", found.Makespan, latest(plan), err)
	}
}

// In the paper's first tests, the makespan of the best order is on average at most 0.83 of the makespan of the order of
// submission. docs/performance.md has the measured figures.
func TestSearchingShortensThePapersTests(t *testing.T) {
	tests, evals, most := 6, 1000, .84
	if *long {
		tests, evals, most = 50, 20000, .83
	}
	noX := algorithm(t, "noX")
	sum := 0.0
	for test := range tests {
		eps := paper.Applications(paper.Seed, test)
		first, err := ep.Schedule(profile.New(paper.Nodes), eps, nil, noX)
		if err != nil {
			t.Fatal(err)
		}
		found, err := order.Search{Algorithm: noX, Seed: uint64(test), Evals: evals}.Run(profile.New(paper.Nodes), eps)
		if err != nil {
			t.Fatal(err)
		}
		if found.Makespan < found.Bound {
			t.Errorf("test %d: %d s, below the bound of %d s", test, found.Makespan, found.Bound)
		}
		sum += float64(found.Makespan) / float64(latest(first))
	}
	t.Logf("%d evaluations, %d tests: %.4f of first come, first served", evals, tests, sum/float64(tests))
	if mean := sum / float64(tests); mean > most {
		t.Errorf("%.4f of the makespan of first come, first served; at most %.2f is right", mean, most)
	}
}

func BenchmarkSearch(b *testing.B) {
	eps := paper.Applications(paper.Seed, 0)
	for _, name := range []string{"noX", "2X+c", "infX+c"} {
		b.Run(name, func(b *testing.B) {
			const evals = 20000
			evaluated := 0
			for b.Loop() {
				found, err := order.Search{Algorithm: algorithm(b, name), Evals: evals}.Run(profile.New(paper.Nodes), eps)
				if err != nil {
					b.Fatal(err)
				}
				evaluated += found.Evals
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(evaluated), "µs/eval")
		})
	}
}
