package workload

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
)

// equalJobs returns a workload of equal jobs.
func equalJobs(jobs int, j Job, machine int) Workload {
	w := Workload{Name: "crowd", Machine: core.Machine{Nodes: machine}}
	for i := range jobs {
		j.Number = int64(i + 1)
		w.Jobs = append(w.Jobs, j)
	}
	return w
}

func TestShapes(t *testing.T) {
	for _, c := range []struct {
		shape Shape
		same  Same
		want  string // profile of a job of 12 nodes that runs 600 s and requested 1000 s
	}{
		{RampUp, SamePeak, "3x150s,6x150s,9x150s,12x550s"},
		{RampDown, SamePeak, "12x150s,9x150s,6x150s,3x550s"},
		{Mountain, SamePeak, "4x120s,8x120s,12x120s,8x120s,4x520s"},
		{PreMainPost, SamePeak, "3x90s,12x420s,3x490s"},
		{RampUp, SameArea, "5x147s,10x147s,15x147s,19x547s"},
		{RampDown, SameArea, "19x147s,15x147s,10x147s,5x547s"},
		{Mountain, SameArea, "7x116s,14x116s,20x117s,14x116s,7x517s"},
		{PreMainPost, SameArea, "4x92s,15x431s,4x493s"},
	} {
		t.Run(fmt.Sprint(c.shape, " same ", c.same), func(t *testing.T) {
			w := equalJobs(1, Job{Run: 600, Request: 1000, Size: 12}, 100)
			if done := (WhatIf{Evolving: 1, Shape: c.shape, Same: c.same}).Apply(&w); done.Evolving != 1 {
				t.Fatalf("what became of the job: %+v", done)
			}
			if got := w.Jobs[0].Choices[0].String(); got != c.want {
				t.Errorf("it asks for %s, want %s", got, c.want)
			}
		})
	}
}

// For all shapes, the rigid baseline holds the peak for the profile's whole length, and the work of the job stays the same.
func TestEvolvingJobKeepsPeakOrArea(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		machine := rapid.IntRange(1, 3000).Draw(t, "machine")
		before := Job{
			Run:  rapid.OneOf(rapid.Int64Range(1, 30), rapid.Int64Range(1, MaxTime)).Draw(t, "run"),
			Size: rapid.IntRange(1, machine).Draw(t, "size"),
		}
		before.Request = min(before.Run+rapid.Int64Range(0, 10000).Draw(t, "more"), MaxTime)
		x := WhatIf{
			Evolving: 1, Seed: rapid.Uint64().Draw(t, "seed"),
			Shape: Shape(rapid.IntRange(0, int(shapes)-1).Draw(t, "shape")), Same: Same(rapid.IntRange(0, 1).Draw(t, "same")),
		}
		w := equalJobs(1, before, machine)
		before = w.Jobs[0]
		done := x.Apply(&w)
		j := w.Jobs[0]
		if done.AsBefore == 1 {
			if !sameJob(j, before) {
				t.Fatalf("it stays as it is, but is %+v, was %+v", j, before)
			}
			return
		}
		ep := j.Choices[0]
		if ep.Peak() != j.Size || ep.Total() != j.Request || j.Run > j.Request || j.Size > machine || j.Kind() != Evolving {
			t.Fatalf("its profile %v is not of peak %d and length %d, on %d nodes", ep, j.Size, j.Request, machine)
		}
		for i, s := range ep {
			if s.Duration < 1 || s.Nodes < 1 || i > 0 && s.Nodes == ep[i-1].Nodes {
				t.Fatalf("its profile %v has a step that is none", ep)
			}
		}
		work := j.Need()
		switch x.Same {
		case SamePeak:
			if j.Size != before.Size || j.Run != before.Run || j.Request != before.Request {
				t.Fatalf("run rigidly it is %+v, not the log's %+v", j, before)
			}
		case SameArea:
			// Rounding the run time by a second may move the end of each of at most six steps by one second.
			if asked := int64(before.Size) * before.Run; work < asked || work >= asked+6*int64(j.Size) {
				t.Fatalf("it works %d node-seconds, the log's job %d, with a peak of %d", work, asked, j.Size)
			}
			if j.Request-j.Run != before.Request-before.Run {
				t.Fatalf("it asks for %d more than it runs, the log's job for %d", j.Request-j.Run, before.Request-before.Run)
			}
		}
	})
}

func TestDrawDependsOnlyOnSeedAndNumber(t *testing.T) {
	drawn := func(x WhatIf, w Workload) (evolving, moldable []int64) {
		w.Jobs = slices.Clone(w.Jobs)
		x.Apply(&w)
		for _, j := range w.Jobs {
			switch j.Kind() {
			case Evolving:
				evolving = append(evolving, j.Number)
			case Moldable:
				moldable = append(moldable, j.Number)
			}
		}
		return evolving, moldable
	}
	w := equalJobs(10000, Job{Run: 600, Request: 1000, Size: 12}, 100)
	some, molds := drawn(WhatIf{Evolving: 0.3, Moldable: 0.2, Shape: Mountain, Seed: 7}, w)
	if math.Abs(float64(len(some))-3000) > 200 || math.Abs(float64(len(molds))-2000) > 200 {
		t.Errorf("of 10000 jobs %d evolve and %d are moldable, want about 3000 and 2000", len(some), len(molds))
	}
	more, _ := drawn(WhatIf{Evolving: 0.4, Shape: RampUp, Same: SameArea, Seed: 7}, w)
	for _, n := range some {
		if _, in := slices.BinarySearch(more, n); !in {
			t.Fatalf("job %d evolves among 30 %%, and not among 40", n)
		}
	}
	half := w
	half.Jobs = w.Jobs[5000:]
	fewer, _ := drawn(WhatIf{Evolving: 0.3, Seed: 7}, half)
	if at, _ := slices.BinarySearch(some, 5001); !slices.Equal(fewer, some[at:]) {
		t.Error("other jobs evolve when fewer are selected")
	}
	other, _ := drawn(WhatIf{Evolving: 0.3, Seed: 8}, w)
	if slices.Equal(other, some) {
		t.Error("another seed draws the same jobs")
	}
	if all, _ := drawn(WhatIf{Evolving: 1, Seed: 7}, w); len(all) != 10000 {
		t.Errorf("of all jobs %d evolve", len(all))
	}
	if none, also := drawn(WhatIf{Seed: 7}, w); len(none)+len(also) != 0 {
		t.Errorf("of no jobs %d evolve and %d are moldable", len(none), len(also))
	}
}

func TestMoldableJobFollowsAmdahlsLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		machine := rapid.IntRange(1, 3000).Draw(t, "machine")
		before := Job{
			Run:  rapid.OneOf(rapid.Int64Range(1, 30), rapid.Int64Range(1, 1_000_000)).Draw(t, "run"),
			Size: rapid.IntRange(1, machine).Draw(t, "size"),
		}
		before.Request = before.Run + rapid.Int64Range(0, 10000).Draw(t, "more")
		w := equalJobs(1, before, machine)
		if done := (WhatIf{Moldable: 1, Seed: rapid.Uint64().Draw(t, "seed")}).Apply(&w); done.AsBefore == 1 {
			return
		}
		j := w.Jobs[0]
		if j.Run != before.Run || j.Request != before.Request || j.Size != before.Size || len(j.Runs) != len(j.Choices) {
			t.Fatalf("the log's job is gone: %+v, was %+v", j, before)
		}
		fits := false // whether one row of the table fits all sizes
		for _, kind := range table1 {
			ok := true
			for i, ep := range j.Choices {
				p, m, n := float64(kind.parallel)/1000, float64(ep.Peak()), float64(before.Size)
				want := float64(before.Run) * (1 - p + p/m) / (1 - p + p/n)
				ok = ok && math.Abs(float64(j.Runs[i])-want) <= 1+1e-9*want && (ep.Peak() == before.Size || ep.Peak() <= kind.most)
			}
			fits = fits || ok
		}
		if !fits {
			t.Fatalf("no row of Table 1 gives sizes %v with run times %v to a job of %+v", j.Choices, j.Runs, before)
		}
		for i, ep := range j.Choices {
			if len(ep) != 1 || ep.Peak() > machine || ep.Total() < j.Runs[i] || i > 0 && (ep.Peak() <= j.Choices[i-1].Peak() || j.Runs[i] >= j.Runs[i-1]) {
				t.Fatalf("choices %v with run times %v on %d nodes", j.Choices, j.Runs, machine)
			}
			if ep.Peak() == before.Size && (ep.Total() != before.Request || j.Runs[i] != before.Run) {
				t.Fatalf("in the log's size it asks for %d and runs %d, not %d and %d", ep.Total(), j.Runs[i], before.Request, before.Run)
			}
		}
	})
}

func TestAmdahlIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parallel := rapid.Int64Range(0, 1000).Draw(t, "parallel")
		run := rapid.Int64Range(1, MaxTime).Draw(t, "run")
		n, m := rapid.Int64Range(1, int64(MaxNodes)).Draw(t, "n"), rapid.Int64Range(1, int64(MaxNodes)).Draw(t, "m")
		// run · ((1−P) + P/m) / ((1−P) + P/n), rounded up
		serial := big.NewRat(1000-parallel, 1000)
		share := func(n int64) *big.Rat { return new(big.Rat).Add(serial, big.NewRat(parallel, 1000*n)) }
		want := new(big.Rat).Quo(new(big.Rat).Mul(big.NewRat(run, 1), share(m)), share(n))
		up := new(big.Int).Add(want.Num(), new(big.Int).Sub(want.Denom(), big.NewInt(1)))
		up.Quo(up, want.Denom())
		if got := amdahl(parallel, run, n, m); !up.IsInt64() || up.Int64() > core.Forever {
			if got != core.Forever {
				t.Fatalf("%d s, want a time beyond all", got)
			}
		} else if got != max(up.Int64(), 1) {
			t.Fatalf("%d s, want %v", got, up)
		}
	})
}

func TestEvolvingJobsOfTheLogStayAsTheyAre(t *testing.T) {
	w := equalJobs(1, Job{Run: 600, Request: 600, Size: 12, Choices: []core.EP{{{Duration: 300, Nodes: 6}, {Duration: 300, Nodes: 12}}}}, 100)
	if done := (WhatIf{Evolving: 1}).Apply(&w); done != (Supposed{}) || len(w.Jobs[0].Choices[0]) != 2 {
		t.Errorf("what became of it: %+v, %v", done, w.Jobs[0].Choices)
	}
}

func TestShapesAndSharesAreParsed(t *testing.T) {
	for i, name := range ShapeNames() {
		if s, err := ParseShape(name); err != nil || s != Shape(i) {
			t.Errorf("%s is read as %v, error %v", name, s, err)
		}
	}
	if _, err := ParseShape("hill"); err == nil || err.Error() != `shape "hill" is not one of ramp-up, ramp-down, mountain, pre-main-post, random` {
		t.Errorf("hill: %v", err)
	}
	for name, same := range map[string]Same{"peak": SamePeak, "area": SameArea} {
		if got, err := ParseSame(name); err != nil || got != same {
			t.Errorf("%s is read as %v, error %v", name, got, err)
		}
	}
	if _, err := ParseSame("both"); err == nil {
		t.Error("both is read")
	}
	for text, want := range map[string]float64{"30%": 0.3, "0.3": 0.3, "0": 0, "1": 1, "100%": 1, "12.5%": 0.125} {
		if got, err := ParseShare("share", text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is read as %v, error %v", text, got, err)
		}
	}
	for _, text := range []string{"", "%", "30", "-1%", "NaN", "101%", "a", "inf"} {
		if got, err := ParseShare("share", text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}
