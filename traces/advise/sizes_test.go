package advise

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/moldable"

	"pgregory.net/rapid"
)

// sized returns runs of one job, times on each of the sizes. Their durations follow the curve with some jitter.
func sized(sizes []int, times int, lasts func(n int) float64) []Run {
	var all []Run
	for k := range times {
		for _, n := range sizes {
			start := core.Time(len(all)) * 100_000
			length := lasts(n) * (1 + 0.02*float64((k*7+n)%5-2)/2)
			all = append(all, Run{ID: fmt.Sprint(len(all)), User: "ada", Name: fmt.Sprintf("cfd_%dn", n), Start: start, End: start + core.Time(math.Round(length)),
				Requested: n, Held: n, Completed: true, Script: -1})
		}
	}
	return all
}

func TestLineOfSizesForJobOnSeveralSizes(t *testing.T) {
	amdahl := func(n int) float64 { return 36000 * (0.05 + 0.95/float64(n)) }
	for _, c := range []struct {
		name string
		runs []Run
		line string // beginning of the line; "" for no advice
	}{
		{"Amdahl's law", sized([]int{1, 2, 4, 8, 16}, 6, amdahl), "#MOLD amdahl:p=0.9"},
		{"Downey's", sized([]int{2, 4, 8, 16, 32, 64}, 6, func(n int) float64 { return 36000 / moldable.Downey(20, 0.5, n) }), "#MOLD downey:a="},
		{"two sizes are listed", sized([]int{2, 4}, 6, amdahl), "#MOLD 2x5h54m|4x3h14m"},
		{"no curve is like this", sized([]int{1, 2, 4}, 6, func(n int) float64 { return map[int]float64{1: 4000, 2: 3600, 4: 1300}[n] }), "#MOLD 1x1h15m|2x1h8m|4x25m"},
		{"so much faster that it did other work", sized([]int{2, 4}, 6, func(n int) float64 { return map[int]float64{2: 4000, 4: 1200}[n] }), ""},
		{"faster than twice the nodes are", sized([]int{2, 4}, 6, func(n int) float64 { return map[int]float64{2: 4000, 4: 1500}[n] }), "#MOLD 2x1h15m|4x29m"},
		{"at once over on the second", sized([]int{2, 4}, 6, func(n int) float64 { return map[int]float64{2: 4000, 4: 0}[n] }), ""},
		{"one size", sized([]int{4}, 20, amdahl), ""},
		{"no faster on more", sized([]int{2, 4, 8}, 6, func(int) float64 { return 3000 }), ""},
		{"too seldom on the second", append(sized([]int{2}, 9, amdahl), sized([]int{4}, 1, amdahl)...), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			report := Make(c.runs, Options{})
			line := ""
			if len(report.Sizes) > 0 {
				line = report.Sizes[0].Line
			}
			if !strings.HasPrefix(line, c.line) || (line == "") != (c.line == "") {
				t.Errorf("%q, want %q…", line, c.line)
			}
		})
	}
}

// On four nodes most runs were faster. But some took so long that the line would need more time for four nodes than for two.
func TestSizeWithoutShorterTimeIsLeftOut(t *testing.T) {
	all := sized([]int{2, 4, 8}, 9, func(n int) float64 { return map[int]float64{2: 4000, 4: 3500, 8: 1500}[n] })
	for i := range all {
		if r := &all[i]; r.Held == 4 && i%4 == 0 {
			r.End += 1000
		}
	}
	report := Make(all, Options{})
	if len(report.Sizes) != 1 || !report.Sizes[0].Sizes[1].Slower || report.Sizes[0].Line != "#MOLD 2x1h15m|8x29m" {
		t.Errorf("%+v", report.Sizes)
	}
}

func TestSlowerSizeIsMarkedAndLeftOut(t *testing.T) {
	report := Make(sized([]int{2, 4, 8}, 9, func(n int) float64 { return map[int]float64{2: 4000, 4: 2000, 8: 2500}[n] }), Options{})
	if len(report.Sizes) != 1 {
		t.Fatalf("%+v", report)
	}
	s := report.Sizes[0]
	if strings.Contains(s.Line, "8x") || len(s.Sizes) != 3 || !s.Sizes[2].Slower || s.Sizes[1].Slower {
		t.Errorf("%s, %+v", s.Line, s.Sizes)
	}
}

// The fitted curve is within 15 % of the curve of the runs on each size, and never shorter than nearly all of the runs.
func TestFitFindsTheCurveOfTheRunTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := []int{1, 2, 4, 8, 16, 32}[:rapid.IntRange(3, 6).Draw(t, "sizes")]
		t1 := rapid.Float64Range(20_000, 200_000).Draw(t, "t1")
		p, sigma := rapid.Float64Range(0.5, 0.999).Draw(t, "p"), rapid.Float64Range(0, 2).Draw(t, "sigma")
		a := rapid.Float64Range(2, 64).Draw(t, "a")
		speed := fit{p: p, sigma: -1}.speed
		if rapid.Bool().Draw(t, "downey") {
			speed = fit{p: a, sigma: sigma}.speed
		}
		runs := sized(sizes, 6, func(n int) float64 { return t1 / speed(n) })
		report := Make(runs, Options{})
		if len(report.Sizes) == 0 {
			return // the job is not faster on some larger size
		}
		s := report.Sizes[0]
		choices, err := moldable.Parse(strings.TrimPrefix(s.Line, "#MOLD "))
		if err != nil {
			t.Fatalf("%s: %v", s.Line, err)
		}
		at := map[int]core.Time{}
		for _, c := range choices {
			at[c[0].Nodes] = c[0].Duration
		}
		for _, z := range s.Sizes {
			if d := at[z.Nodes]; d != 0 && (d < z.Quantile || float64(d) > 1.15*1.15*float64(z.Quantile)) {
				t.Errorf("%s: %d s on %d nodes, where nearly all took up to %d", s.Line, d, z.Nodes, z.Quantile)
			}
		}
		if s.OnTime < s.Checked {
			t.Errorf("%s: %d of %d on time", s.Line, s.OnTime, s.Checked)
		}
	})
}

func BenchmarkFit(b *testing.B) {
	runs := sized([]int{2, 4, 8, 16, 32, 64}, 6, func(n int) float64 { return 36000 / moldable.Downey(20, 0.5, n) })
	for b.Loop() {
		Make(runs, Options{})
	}
}

func TestOARLineHasOneRequestPerSize(t *testing.T) {
	r := Report{Sizes: []Sizing{{Line: "#MOLD 2x1h|4x90s", choices: []core.EP{{{Duration: 3600, Nodes: 2}}, {{Duration: 90, Nodes: 4}}}}}}
	r.ForOAR()
	if got, want := r.Sizes[0].Line, "oarsub -l nodes=2,walltime=1:00:00 -l nodes=4,walltime=0:01:30"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLatestRunOfAnID(t *testing.T) {
	runs := []Run{{ID: "7", Start: 5}, {ID: "7", Start: 9}, {ID: "8", Start: 20}}
	if got := Latest(runs, "7"); got != &runs[1] {
		t.Errorf("run of second %d, want 9", got.Start)
	}
	if got := Latest(runs, "9"); got != nil {
		t.Errorf("run %s, want none", got.ID)
	}
}

func TestOnlyUser(t *testing.T) {
	for want, runs := range map[string][]Run{"ada": {{User: "ada"}, {User: "ada"}}, "": {{User: "ada"}, {User: "bob"}}} {
		if got := OnlyUser(runs); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := OnlyUser(nil); got != "" {
		t.Errorf("no runs: %q", got)
	}
}
