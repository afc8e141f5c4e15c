package advise

import (
	"fmt"
	"slices"
	"testing"

	"accordion/core"

	"pgregory.net/rapid"
)

// again returns runs of one job, one per hour, each with steps of these lengths on these sizes.
func again(name string, held int, sizes []int32, lengths ...[]core.Time) []Run {
	var all []Run
	for k, its := range lengths {
		start := core.Time(k) * 3600
		r := Run{ID: fmt.Sprint(100 + k), User: "ada", Account: "phys", Partition: "main", Name: fmt.Sprintf("%s_%d", name, k),
			Submit: start, Start: start, Requested: held, Held: held, Completed: true}
		at := start
		for i, n := range its {
			r.Steps = append(r.Steps, Step{Name: string(rune('a' + i)), From: at, To: at + n, Nodes: nodes(0, sizes[i])})
			at += n
		}
		r.End = at
		all = append(all, r)
	}
	return all
}

func TestRepeatedJobGetsALine(t *testing.T) {
	all := again("mesh", 6, []int32{2, 6, 1}, []core.Time{300, 600, 600}, []core.Time{310, 610, 590}, []core.Time{290, 600, 580}, []core.Time{300, 620, 600},
		[]core.Time{300, 600, 600}, []core.Time{300, 900, 600})
	report := Make(all, Options{})
	if len(report.Advice) != 1 {
		t.Fatalf("%d pieces of advice: %+v", len(report.Advice), report)
	}
	a := report.Advice[0]
	// The 0.9 quantile of four is the largest: 310 s, 620 s and 600 s; the margin adds a tenth.
	if a.Line != "#EP 2x5m50s,6x11m30s,1x11m" || a.Kind != Evolving || a.Name != "mesh_#" {
		t.Errorf("%s: %s %s", a.Name, a.Kind, a.Line)
	}
	if a.Runs != 6 || a.Checked != 2 || a.OnTime != 1 {
		t.Errorf("%d runs, %d of %d on time", a.Runs, a.OnTime, a.Checked)
	}
	var held, used int64
	for i := range all {
		held += all[i].held()
		used += observed(&all[i]).Area()
	}
	if a.Held != held || a.Used != used || a.Saved != held-used-6*(2*6+6) || a.Waste() != held-used { // two seconds of six nodes to grow, one second to shrink
		t.Errorf("held %d used %d saved %d, want %d, %d, %d", a.Held, a.Used, a.Saved, held, used, held-used-6*(2*6+6))
	}
	if len(a.Boundaries) != 2 || a.Boundaries[0].After != "a" || a.Boundaries[0].Before != "b" || a.Boundaries[1].After != "b" || a.Boundaries[1].BeforeStep != 2 {
		t.Errorf("accordion step goes to %+v", a.Boundaries)
	}
	if got, want := report.Monthly(3600*int64(report.Period)), float64(month); got != want {
		t.Errorf("a node all the time is %v node-hours a month, want %v", got, want)
	}
}

func TestNoLineWithoutEnoughSaving(t *testing.T) {
	long := []core.Time{600, 600}
	for _, c := range []struct {
		name string
		runs []Run
		kind Kind // "" for no advice
		left NoAdvice
	}{
		{"it uses what it holds", again("a", 4, []int32{4, 4}, long, long, long), "", NoAdvice{FullyUsed: 3}},
		{"a short beginning", again("a", 4, []int32{1, 4}, []core.Time{20, 900}, []core.Time{20, 900}, []core.Time{20, 900}), "", NoAdvice{FullyUsed: 3}},
		{"too seldom", again("a", 4, []int32{1, 4}, long, long), "", NoAdvice{TooFewRuns: 2}},
		{"never all of its nodes", again("a", 8, []int32{4, 4}, long, long, long), Smaller, NoAdvice{}},
		{"other each time", slices.Concat(again("a", 4, []int32{1, 4}, long, long), again("a", 4, []int32{4, 1}, long, long)), LeftAlone, NoAdvice{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := Make(c.runs, Options{})
			kind := Kind("")
			if len(report.Advice) > 0 {
				kind = report.Advice[0].Kind
			}
			if kind != c.kind || report.NoAdvice != c.left {
				t.Errorf("%q and %+v left, want %q and %+v", kind, report.NoAdvice, c.kind, c.left)
			}
		})
	}
}

func TestLeftAloneHasAReason(t *testing.T) {
	long := []core.Time{600, 600}
	report := Make(slices.Concat(again("a", 4, []int32{1, 4}, long, long), again("a", 4, []int32{4, 1}, long, long)), Options{Margin: -1})
	if got, want := report.Advice[0].Why, "its runs do not evolve alike: 2 times 1, 4 nodes; 2 times 4, 1 nodes"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestJobsThatDidNotCompleteAreIgnored(t *testing.T) {
	all := again("a", 4, []int32{1, 4}, []core.Time{600, 600}, []core.Time{600, 600}, []core.Time{600, 600}, []core.Time{100, 10})
	all[3].Completed = false
	all = append(all, Run{ID: "9", Name: "shell", Completed: true, End: 100, Held: 1})
	report := Make(all, Options{})
	if report.NoAdvice != (NoAdvice{NotCompleted: 1, NoSteps: 1}) || len(report.Advice) != 1 || report.Advice[0].Runs != 3 {
		t.Errorf("%+v", report)
	}
}

// With its line, each run that counts as saved holds what its steps used, in each second of its own steps. The same runs in another order get
// the same advice.
func TestSuggestionNeverHoldsLessThanAStepUsed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Run
		for range rapid.IntRange(3, 8).Draw(t, "runs") {
			r := *runs.Draw(t, "run")
			r.ID = fmt.Sprint(len(all))
			all = append(all, r)
		}
		o := Options{Shortest: rapid.Int64Range(1, 20).Draw(t, "shortest"), Quantile: rapid.Float64Range(0.1, 1).Draw(t, "quantile")}
		report := Make(all, o)
		shuffled := rapid.Permutation(all).Draw(t, "order")
		if again := Make(shuffled, o); fmt.Sprint(again) != fmt.Sprint(report) {
			t.Fatalf("another order, other advice: %v, %v", report, again)
		}
		for _, a := range report.Advice {
			if a.Kind == LeftAlone {
				continue
			}
			var saved int64
			for i := range all {
				r := &all[i]
				own := sample{run: r, ep: joinShort(new(watcher).observed(r), o.Shortest)}
				if own.ep == nil || !own.fits(a.EP) || a.shape != "" && a.shape != shape(own.ep) {
					continue
				}
				var stretched core.EP // the line with the durations of the run's steps
				for k, s := range own.ep {
					stretched = append(stretched, core.Step{Duration: s.length(), Nodes: a.EP[k].Nodes})
				}
				used := plain(r)
				for s := range used.Total() {
					if stretched.At(s) < used.At(s) {
						t.Fatalf("%s gives %d nodes at %d, where %d were used by %s", a.Line, stretched.At(s), s, used.At(s), used)
					}
				}
				resizes := int64(0)
				for k := range len(a.EP) - 1 {
					if a.EP[k+1].Nodes > a.EP[k].Nodes {
						resizes += 2 * int64(a.EP[k+1].Nodes)
					} else {
						resizes += int64(a.EP[k].Nodes)
					}
				}
				saved += max(r.held()-stretched.Area()-resizes, 0)
			}
			if saved != a.Saved {
				t.Errorf("%d node-seconds are said to be saved, want %d", a.Saved, saved)
			}
		}
	})
}

func TestDurationsAreRoundedForPeople(t *testing.T) {
	o := Options{}.filled(nil)
	for _, c := range []struct{ in, want core.Time }{{1, 2}, {10, 11}, {100, 110}, {110, 130}, {1000, 1100}, {1091, 1260}, {3600, 3960}} {
		if got := o.rounded(c.in); got != c.want {
			t.Errorf("%d s are written as %d, want %d", c.in, got, c.want)
		}
	}
	if got := (Options{Margin: 0}).rounded(7); got != 7 {
		t.Errorf("7 s without a margin are %d", got)
	}
}

func TestQuantileIsOneOfTheDurations(t *testing.T) {
	ten := []core.Time{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}
	for share, want := range map[float64]core.Time{0.9: 9, 0.91: 10, 1: 10, 0.5: 5, 0.01: 1} {
		if got := Quantile(slices.Clone(ten), share); got != want {
			t.Errorf("%v of them: %d, want %d", share, got, want)
		}
	}
}

func TestNumbersInNamesAreIgnored(t *testing.T) {
	for name, want := range map[string]string{"mesh": "mesh", "mesh_017": "mesh_#", "7a8b9": "#a#b#", "": "", "naïve2": "naïve#"} {
		if got := WithoutNumbers(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// A month of a site: 300,000 jobs with 1.2 million steps. Reading them and computing the advice must take less than 10 s together.
func BenchmarkMonth(b *testing.B) {
	var all []Run
	for i := range 300_000 {
		all = append(all, again(fmt.Sprintf("job%c", 'a'+i%26), 16, []int32{2, 16, 4, 1}, []core.Time{300 + core.Time(i%50), 600, 300, 120})...)
		r := &all[i]
		r.User, r.ID = fmt.Sprint("user", i%997), fmt.Sprint(i)
	}
	b.ReportAllocs()
	for b.Loop() {
		Make(all, Options{})
	}
}
