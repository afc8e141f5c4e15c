package workload

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
)

// drawJob draws a job of a log and its machine.
func drawJob(t *rapid.T) (j Job, machine int) {
	machine = rapid.IntRange(1, 3000).Draw(t, "machine")
	j = Job{Run: rapid.OneOf(rapid.Int64Range(1, 30), rapid.Int64Range(1, 1_000_000)).Draw(t, "run"), Size: rapid.IntRange(1, machine).Draw(t, "size")}
	j.Request = j.Run + rapid.Int64Range(0, 10000).Draw(t, "more")
	return j, machine
}

// molded returns a job after mold, and false if it stays rigid.
func molded(t *rapid.T, x WhatIf, j Job, machine int) (Job, bool) {
	x.Moldable = 1
	x.Seed = rapid.Uint64().Draw(t, "seed")
	w := equalJobs(1, j, machine)
	done := x.Apply(&w)
	return w.Jobs[0], done.Moldable == 1
}

func sizesOf(j *Job) []int {
	var all []int
	for _, ep := range j.Choices {
		all = append(all, ep.Peak())
	}
	return all
}

// The curve has the published efficiencies, and a linear speed-up between them.
func TestPiecewiseCurveHasThePublishedEfficiencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, machine := drawJob(t)
		j, ok := molded(t, WhatIf{Curve: Piecewise}, before, machine)
		n := before.Size
		if !ok {
			if n > 1 || machine > 1 {
				t.Fatalf("%+v stays rigid on %d nodes", before, machine)
			}
			return
		}
		sizes := sizesOf(&j)
		if sizes[0] != (n+1)/2 || sizes[len(sizes)-1] != min(2*n, machine) || !slices.Contains(sizes, n) {
			t.Fatalf("a job of %d nodes on %d lists %v", n, machine, sizes)
		}
		speed := func(m int) *big.Rat { // at N/2, N, 2N: efficiency times size
			x := big.NewRat(int64(m), 1)
			at := func(parts, efficiency int64) *big.Rat { return big.NewRat(int64(n)*parts*efficiency, 200) }
			from, to, left := big.NewRat(int64(n), 2), big.NewRat(int64(n), 1), at(1, 80)
			right := at(2, 65)
			if m > n {
				from, to, left, right = big.NewRat(int64(n), 1), big.NewRat(int64(2*n), 1), at(2, 65), at(4, 40)
			}
			part := new(big.Rat).Quo(new(big.Rat).Sub(x, from), new(big.Rat).Sub(to, from))
			return part.Mul(part, right.Sub(right, left)).Add(part, left)
		}
		best, least := 0, int64(math.MaxInt64)
		for i, m := range sizes {
			for _, d := range []struct{ at, is core.Time }{{before.Run, j.Runs[i]}, {before.Request, j.Choices[i].Total()}} {
				want := new(big.Rat).Mul(big.NewRat(d.at, 1), new(big.Rat).Quo(speed(n), speed(m)))
				over := new(big.Rat).Sub(big.NewRat(d.is, 1), want)
				if over.Sign() < 0 || over.Cmp(big.NewRat(1, 1)) >= 0 {
					t.Fatalf("%d s on %d nodes are %d s on %d, not %v rounded up", d.at, n, d.is, m, want)
				}
			}
			if cost := int64(m) * j.Choices[i].Total() * j.Choices[i].Total(); cost < least {
				best, least = m, cost
			}
		}
		if best != n {
			t.Fatalf("of %v the best ratio of run time and efficiency has %d, not the log's %d", sizes, best, n)
		}
	})
}

func TestDowneysCurveRisesToItsAverageParallelism(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := speedUp{a: rapid.Float64Range(1, 500).Draw(t, "A"), sigma: rapid.Float64Range(0, 5).Draw(t, "sigma")}
		if one := s.on(1); math.Abs(one-1) > 1e-9 {
			t.Fatalf("on one node %v times as fast", one)
		}
		before := 0.0
		for n := 1.0; n < s.end()+5; n++ {
			now := s.on(n)
			if now < before-1e-9 || now > min(n, s.a)*(1+1e-9) {
				t.Fatalf("%+v: on %v nodes %v times as fast, on one less %v", s, n, now, before)
			}
			if before > 0 && now-before > 1+1e-9 {
				t.Fatalf("%+v: the speed-up jumps by %v at %v nodes", s, now-before, n)
			}
			before = now
		}
		if math.Abs(before-s.a) > 1e-9 {
			t.Fatalf("%+v ends %v times as fast", s, before)
		}
	})
}

func TestDowneyCurveGoesThroughTheLogsRunTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, machine := drawJob(t)
		j, ok := molded(t, WhatIf{Curve: Downey}, before, machine)
		if !ok {
			return
		}
		at, listed := slices.BinarySearch(sizesOf(&j), before.Size)
		if !listed || j.Runs[at] != before.Run || j.Choices[at].Total() != before.Request {
			t.Fatalf("%+v became %+v", before, j)
		}
		for i := range j.Runs {
			if i > 0 && (j.Runs[i] > j.Runs[i-1] || j.Choices[i].Total() > j.Choices[i-1].Total()) || j.Runs[i] > j.Choices[i].Total() {
				t.Fatalf("run times %v, choices %v", j.Runs, j.Choices)
			}
		}
	})
}

func TestOffersListTheirSizes(t *testing.T) {
	for _, c := range []struct {
		offer            Offer
		least, own, most int
		want             []int
	}{
		{Three, 5, 9, 18, []int{5, 9, 18}},
		{Three, 1, 1, 2, []int{1, 2}},
		{Three, 1, 40, 32, []int{1, 32, 40}},
		{Powers, 5, 9, 18, []int{8, 9, 16}},
		{Powers, 1, 8, 8, []int{1, 2, 4, 8}},
		{All, 5, 9, 12, []int{5, 6, 7, 8, 9, 10, 11, 12}},
		{All, 1, 40, 3, []int{1, 2, 3, 40}},
	} {
		if got := c.offer.sizes(c.least, c.own, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s of %d to %d and %d: %v, want %v", offerNames[c.offer], c.least, c.most, c.own, got, c.want)
		}
	}
	if Usual.of(Table1) != Powers || Usual.of(Piecewise) != All || Three.of(Table1) != Three {
		t.Error("what is usual is not what was said")
	}
}

func TestAtMost128SizesAreListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		least := rapid.IntRange(1, 5000).Draw(t, "least")
		most := rapid.IntRange(least, 20000).Draw(t, "most")
		own := rapid.IntRange(least, most).Draw(t, "own")
		sizes := All.sizes(least, own, most)
		if beyond := All.sizes(least, most+own, most); len(beyond) != min(mostSizes, most-least+2) || beyond[len(beyond)-1] != most+own {
			t.Fatalf("of %d to %d, the log's %d being above: %v", least, most, most+own, beyond)
		}
		if len(sizes) != min(mostSizes, most-least+1) || sizes[0] != least || sizes[len(sizes)-1] != most || !slices.Contains(sizes, own) {
			t.Fatalf("of %d to %d, %d being the log's: %v", least, most, own, sizes)
		}
		apart := float64(most-least) / float64(max(len(sizes)-1, 1))
		for i, n := range sizes {
			if even := float64(least) + float64(i)*apart; n != own && math.Abs(float64(n)-even) >= 1 || i > 0 && n <= sizes[i-1] {
				t.Fatalf("of %d to %d, %d being the log's: %v is not evenly apart at %d", least, most, own, sizes, i)
			}
		}
	})
}

func TestCurvesAndOffersAreParsed(t *testing.T) {
	for i, name := range CurveNames() {
		if c, err := ParseCurve(name); err != nil || c != Curve(i) || c.String() != name {
			t.Errorf("%s is read as %v, error %v", name, c, err)
		}
	}
	for i, name := range OfferNames() {
		if o, err := ParseOffer(name); err != nil || o != All+Offer(i) {
			t.Errorf("%s is read as %v, error %v", name, o, err)
		}
	}
	if _, err := ParseCurve("amdahl"); err == nil || err.Error() != `curve "amdahl" is not one of table1, piecewise, downey` {
		t.Errorf("amdahl: %v", err)
	}
	if _, err := ParseOffer("two"); err == nil || err.Error() != `offer "two" is not one of all, three, powers` {
		t.Errorf("two: %v", err)
	}
}
