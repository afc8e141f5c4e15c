package workload

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/sizing"
)

// Jobs of whole days are counted per half hour.
func TestArrivalsAreTheMeansOfAPlainCount(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		days := rapid.Int64Range(1, 5).Draw(t, "days")
		before := rapid.Int64Range(0, 100_000).Draw(t, "before")
		w := Workload{Machine: core.Machine{Nodes: 64}}
		submits := []core.Time{0, days * sizing.Day}
		submits = append(submits, rapid.SliceOfN(rapid.Int64Range(1, days*sizing.Day-1), 0, 50).Draw(t, "submits")...)
		for i, at := range submits {
			run := rapid.Int64Range(1, 10_000).Draw(t, "run")
			w.Jobs = append(w.Jobs, Job{Number: int64(i), Submit: at, Run: run, Request: run + rapid.Int64Range(0, 100).Draw(t, "more"), Size: rapid.IntRange(1, 64).Draw(t, "size")})
		}
		last := w.Jobs[1]
		w.Jobs = append(append(w.Jobs[:1:1], w.Jobs[2:]...), last)
		f, err := w.Arrivals(before)
		if err != nil {
			t.Fatal(err)
		}
		if f.Jobs != len(submits) || f.Days != float64(days) {
			t.Fatalf("%d jobs in %v days", f.Jobs, f.Days)
		}
		var want sizing.Statistics
		var count [sizing.Classes]float64
		for _, j := range w.Jobs {
			c := sizing.ClassOf(j.Request)
			want.Arrivals[(j.Submit+before)%sizing.Day/sizing.HalfHour][c] += 1 / float64(days)
			want.Nodes[c] += float64(j.Size)
			want.Seconds[c] += float64(j.Run)
			count[c]++
		}
		for c := range count {
			if n := max(count[c], 1); math.Abs(f.Nodes[c]-want.Nodes[c]/n) > 1e-9 || math.Abs(f.Seconds[c]-want.Seconds[c]/n) > 1e-9 {
				t.Fatalf("class %d has %v nodes and %v s, counted %v and %v of %v", c, f.Nodes[c], f.Seconds[c], want.Nodes[c], want.Seconds[c], n)
			}
			for h := range want.Arrivals {
				if math.Abs(f.Arrivals[h][c]-want.Arrivals[h][c]) > 1e-9 {
					t.Fatalf("%v jobs of class %d in half hour %d, counted %v", f.Arrivals[h][c], c, h, want.Arrivals[h][c])
				}
			}
		}
	})
}

func TestMoldableJobCountsByItsReferenceSize(t *testing.T) {
	j := Job{Run: 4000, Request: 4000, Size: 8, Choices: []core.EP{{{Duration: 3000, Nodes: 10}}, {{Duration: 2900, Nodes: 20}}}, Runs: []core.Time{2500, 2400}}
	late := j
	late.Submit = sizing.Day
	w := Workload{Jobs: []Job{j, late}}
	f, err := w.Arrivals(0)
	if err != nil || f.Nodes != [sizing.Classes]float64{sizing.Medium: 10} || f.Seconds != [sizing.Classes]float64{sizing.Medium: 2500} {
		t.Errorf("%+v, error %v", f, err)
	}
	w.Jobs = w.Jobs[:1]
	if _, err := w.Arrivals(0); !errors.Is(err, ErrShort) {
		t.Errorf("of one job: error %v", err)
	}
}
