package paper_test

import (
	"slices"
	"testing"
	"time"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/order"
	"accordion/core/profile"
	"accordion/traces/paper"
)

// BenchmarkEvolving runs the whole experiment: 1000 tests with every algorithm. It must take at most 0.5 s on two cores.
func BenchmarkEvolving(b *testing.B) {
	for b.Loop() {
		if _, err := (paper.Evolving{Tests: 1000, Seed: paper.Seed}).Run(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTest runs one test per algorithm. A test may take 0.03 ms with noX, and 0.07 ms with 2X+c.
func BenchmarkTest(b *testing.B) {
	for _, name := range ep.Names() {
		b.Run(name, func(b *testing.B) {
			a := algorithm(b, name)
			test := 0
			for b.Loop() {
				if _, err := ep.Schedule(profile.New(paper.Nodes), paper.Applications(paper.Seed, test%paper.SearchTests), nil, a); err != nil {
					b.Fatal(err)
				}
				test++
			}
		})
	}
}

// BenchmarkOrder reports the makespan with searched orders, relative to noX in the order of submission, as the mean of the first 50 tests.
// It must be at most 0.83 with noX and 20,000 evaluations. It must be at most 0.80 for the best of several expansion limits, if the searches
// of a test take 2 s together.
func BenchmarkOrder(b *testing.B) {
	b.Run("evals=20000", func(b *testing.B) {
		for b.Loop() {
			searchFirstTests(b, []string{"noX"}, func() order.Search { return order.Search{Evals: 20000} })
		}
	})
	b.Run("budget=2s", func(b *testing.B) {
		names := []string{"noX", "2X", "infX"}
		for b.Loop() {
			searchFirstTests(b, names, func() order.Search {
				begin, budget := time.Now(), 2*time.Second/time.Duration(len(names))
				return order.Search{Spent: func() float64 { return float64(time.Since(begin)) / float64(budget) }}
			})
		}
	})
}

// searchFirstTests reports how much the best of the searches saves, and how near it is to the bound.
func searchFirstTests(b *testing.B, names []string, search func() order.Search) {
	toNoX, toBound, evals, begin := 0.0, 0.0, 0, time.Now()
	for test := range paper.SearchTests {
		eps := paper.Applications(paper.Seed, test)
		first, err := ep.Schedule(profile.New(paper.Nodes), eps, nil, algorithm(b, "noX"))
		if err != nil {
			b.Fatal(err)
		}
		best, bound := core.Forever, core.Forever
		for _, name := range names {
			s := search()
			s.Algorithm, s.Seed = algorithm(b, name), uint64(test)
			found, err := s.Run(profile.New(paper.Nodes), eps)
			if err != nil {
				b.Fatal(err)
			}
			best, bound, evals = min(best, found.Makespan), min(bound, found.Bound), evals+found.Evals
		}
		last := slices.MaxFunc(first, func(a, b core.Allocation) int { return int(a.End() - b.End()) })
		toNoX += float64(best) / float64(last.End())
		toBound += float64(best) / float64(bound)
	}
	b.ReportMetric(toNoX/paper.SearchTests, "makespan/noX")
	b.ReportMetric(toBound/paper.SearchTests, "makespan/bound")
	b.ReportMetric(float64(time.Since(begin).Microseconds())/float64(evals), "µs/eval")
}

func algorithm(t testing.TB, name string) ep.Algorithm {
	a, err := ep.ParseAlgorithm(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
