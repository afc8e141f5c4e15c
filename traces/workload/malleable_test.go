package workload

import (
	"testing"

	"accordion/core"
)

func TestParseBounds(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"1/4..2", "1/4..2"}, {"1..1", "1..1"}, {"1/8..4", "1/8..4"}, {"2/3..3/2", "2/3..3/2"},
	} {
		if got, err := ParseBounds(c.text); err != nil || got.String() != c.want {
			t.Errorf("%s: %v, %v; want %s", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "1/4", "1/4..", "..2", "2..4", "1/4..1/2", "0..2", "1/0..2", "-1/4..2", "1/4..2..3", "1/4..+2", "1/4..1001", "a..b", "1/2/3..2"} {
		if got, err := ParseBounds(text); err == nil {
			t.Errorf("%q is parsed as %s, want an error", text, got)
		}
	}
}

func TestAShareOfTheJobsBecomesMalleable(t *testing.T) {
	draw := func(share float64, seed uint64) (all map[int64]core.Range) {
		w := Workload{Machine: core.Machine{Nodes: 20}}
		for i := range 10_000 {
			w.Jobs = append(w.Jobs, Job{Number: int64(i + 1), Run: 100, Request: 200, Size: 1 + i%20})
		}
		m := UsualMalleable
		m.Share = share
		done := WhatIf{Malleable: m, Evolving: .2, Seed: seed}.Apply(&w)
		all = map[int64]core.Range{}
		evolving := 0
		for _, j := range w.Jobs {
			switch j.Kind() {
			case Malleable:
				all[j.Number] = j.Range.Range
			case Evolving:
				evolving++
			}
		}
		if done.Malleable != len(all) || done.Evolving != evolving {
			t.Errorf("%d malleable and %d evolving jobs are counted, and there are %d and %d", done.Malleable, done.Evolving, len(all), evolving)
		}
		if drawn := float64(done.Evolving + done.AsBefore); drawn < 1900 || drawn > 2100 {
			t.Errorf("%v of 10000 jobs are drawn to evolve, want about 2000", drawn)
		}
		return all
	}
	some := draw(.3, 1)
	if len(some) < 2850 || len(some) > 3150 {
		t.Errorf("%d of 10000 jobs are malleable, want about 3000", len(some))
	}
	more := draw(.6, 1)
	for number, r := range some {
		if _, in := more[number]; !in {
			t.Fatalf("job %d is malleable among 30 %%, and not among 60 %%", number)
		}
		size := 1 + int(number-1)%20
		if want := (core.Range{Min: (size + 3) / 4, Max: min(2*size, 20), Every: 300, Cost: 30}); r.Min != want.Min || r.Max != want.Max || r.Every != want.Every || r.Cost != want.Cost {
			t.Fatalf("job %d of %d nodes has %+v, want %+v", number, size, r, want)
		}
	}
}

func TestTheSpeedOfACurveIsThatOfItsSizes(t *testing.T) {
	for _, c := range []Curve{Table1, Piecewise, Downey} {
		j := Job{Number: 7, Run: 1000, Request: 2000, Size: 8}
		speed := c.speed(&j, 2, 16, 100, 1)
		d := jobStream(1, j.Number)
		law := c.law(&j, 100, &d)
		for _, n := range []int{2, 4, 8, 12, 16} {
			got, want := 1000*speed.Stretch(n, 8), float64(law.lasts(1_000_000, n))/1000
			if c == Piecewise && n < 4 {
				continue // the curve of the paper begins at half the size
			}
			if got < want*.98 || got > want*1.02 {
				t.Errorf("%s: 1000 s on 8 nodes are %.1f s on %d, want %.1f", c, got, n, want)
			}
		}
	}
}
