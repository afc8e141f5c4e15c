package paper_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"accordion/core/ep"
	"accordion/traces/paper"

	"github.com/google/go-cmp/cmp"
)

func run(t *testing.T, e paper.Evolving) []paper.Row {
	t.Helper()
	rows, err := e.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Ratios must agree within 0.015 and percentages within 1.2, because the papers' figures are rounded and the seed differs. A figure that the
// papers print as ε must be below 1. Times of the schedulers are not compared, because they depend on the machine.
func TestMeansAgreeWithThePapers(t *testing.T) {
	ratios := []string{"reservation", "makespan", "act", "awt"}
	compared := 0
	for _, r := range run(t, paper.Evolving{Tests: 1000, Seed: paper.Seed}) {
		if r.Printed == nil || r.Metric == "time" {
			continue
		}
		compared++
		near := 1.2
		switch {
		case r.Printed.Text == "ε":
			near = 1
		case slices.Contains(ratios, r.Metric):
			near = .015
		}
		if math.Abs(r.Ours.Avg-r.Printed.Avg) >= near {
			t.Errorf("%s, %s: %.4f is not within %v of the printed %v%s", r.Algorithm, r.Metric, r.Ours.Avg, near, r.Printed.Avg, r.Printed.Text)
		}
	}
	if compared != 6*9 {
		t.Errorf("%d figures were compared, not those of 6 algorithms and 9 metrics", compared)
	}
}

func TestEveryAlgorithmHasTenMetricsInOrder(t *testing.T) {
	rows := run(t, paper.Evolving{Tests: 3, Seed: 1})
	names := ep.Names()
	if len(rows) != 10*len(names) {
		t.Fatalf("%d rows for %d algorithms", len(rows), len(names))
	}
	metrics := []string{"waste", "reservation", "utilisation", "makespan", "time", "act", "awt", "expanded", "expansion", "app_waste"}
	for i, r := range rows {
		if r.Algorithm != names[i/10] || r.Metric != metrics[i%10] {
			t.Errorf("row %d is %s of %s", i, r.Metric, r.Algorithm)
		}
		if (r.Printed != nil) != (i < 60) {
			t.Errorf("%s, %s: printed %v", r.Algorithm, r.Metric, r.Printed)
		}
		if r.Ours.Min > r.Ours.Avg+1e-9 || r.Ours.Avg > r.Ours.Max+1e-9 {
			t.Errorf("%s, %s: %+v", r.Algorithm, r.Metric, r.Ours)
		}
	}
}

// The rows of one core and of several cores are equal to the last digit, except for times.
func TestFiguresDoNotDependOnTheCores(t *testing.T) {
	e := paper.Evolving{Tests: 12, Seed: 5, Search: 12}
	figures := func(cores int) []paper.Row {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
		return slices.DeleteFunc(run(t, e), func(r paper.Row) bool { return r.Metric == "time" })
	}
	one := figures(1)
	if diff := cmp.Diff(one, figures(7)); diff != "" {
		t.Errorf("one core (-) and seven (+):\n%s", diff)
	}
	e.Seed++
	if cmp.Equal(one, figures(1)) {
		t.Error("another seed gives the same figures")
	}
}

func TestApplicationsDependOnlyOnSeedAndNumber(t *testing.T) {
	seventh := paper.Applications(1, 7)
	for test := range 100 {
		eps := paper.Applications(1, test)
		if test == 7 && !cmp.Equal(eps, seventh) {
			t.Error("test 7 has changed")
		}
		if len(eps) < 15 || len(eps) > 20 {
			t.Errorf("test %d has %d applications", test, len(eps))
		}
		for _, requested := range eps {
			if err := ep.Check(requested, 75); err != nil || len(requested) > 10 {
				t.Errorf("test %d: %v, %v", test, requested, err)
			}
			for _, s := range requested {
				if s.Duration < 500 || s.Duration > 3600 {
					t.Errorf("test %d: a step of %d s", test, s.Duration)
				}
			}
		}
	}
}

func TestSearchedOrderIsNoLongerThanItsFirstOrder(t *testing.T) {
	rows := run(t, paper.Evolving{Tests: 6, Seed: 1, Search: 200})
	found := map[string]map[string]paper.Row{}
	for _, r := range rows {
		if found[r.Algorithm] == nil {
			found[r.Algorithm] = map[string]paper.Row{}
		}
		found[r.Algorithm][r.Metric] = r
	}
	for _, name := range []string{"noX", "2X+c", "infX+c"} {
		searched, plain := found[name+"+search"], found[name]
		if s := searched["makespan"].Ours; s.Avg > plain["makespan"].Ours.Avg || s.Avg <= 0 {
			t.Errorf("%s: makespan %+v, %+v without the search", name, s, plain["makespan"].Ours)
		}
		if bound := searched["makespan_to_bound"].Ours; bound.Min < 1 {
			t.Errorf("%s: a makespan of %v of the lower bound", name, bound.Min)
		}
		if best := found["best+search"]["makespan_to_nox"].Ours; best.Avg > searched["makespan_to_nox"].Ours.Avg || best.Max > 1 {
			t.Errorf("the best of all takes %+v of noX's time; %s %+v", best, name, searched["makespan_to_nox"].Ours)
		}
	}
}

func TestProgressReachesAllWork(t *testing.T) {
	var progress []int
	e := paper.Evolving{Tests: 4, Seed: 1, Search: 5}
	e.Done = func(work int) { progress = append(progress, work) }
	run(t, e)
	if !slices.IsSorted(progress) || len(progress) != e.Work() || progress[len(progress)-1] != 4+4*3 {
		t.Errorf("progress %v of %d", progress, e.Work())
	}
}

func TestCanceledContextEndsTheExperiment(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := paper.Evolving{Tests: 10_000, Seed: 1, Done: func(int) { cancel() }}
	if rows, err := e.Run(ctx); !errors.Is(err, context.Canceled) || rows != nil {
		t.Errorf("%d rows, %v", len(rows), err)
	}
	if _, err := (paper.Evolving{}).Run(t.Context()); err == nil {
		t.Error("no tests, no error")
	}
}

func TestPrintedEpsilonIsZeroWithItsText(t *testing.T) {
	for _, r := range run(t, paper.Evolving{Tests: 1, Seed: 1}) {
		if r.Algorithm != "2X+c" || r.Metric != "expansion" {
			continue
		}
		text, err := json.Marshal(r.Printed)
		if want := `{"min":0,"avg":0,"max":60,"text":"ε"}`; err != nil || string(text) != want {
			t.Errorf("%s, %v; want %s", text, err, want)
		}
		return
	}
	t.Error("no such row")
}

func TestTextHasEveryAlgorithmAboveItsPublishedFigures(t *testing.T) {
	text := paper.Text(run(t, paper.Evolving{Tests: 1, Seed: 1, Search: 5}))
	for _, want := range []string{"Table 1", "Table 2", "infX+c", "0.46 0.58 0.69", "0 ε 60", "0 5 1354", "Searched orders", "best+search", "makespan to bound"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
}
