package sizing_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/sizing"
)

// job returns a job with choices as users write them.
func job(t *testing.T, text string) core.Job {
	choices, err := moldable.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return core.Job{Choices: choices}
}

// The second column was computed by hand: the size with the least nodes x seconds^2. If there are several, it
// is the one with the fewest nodes.
func TestTheReferenceIsTheSizeWithTheLeastNodesTimesSquaredSeconds(t *testing.T) {
	for _, c := range []struct {
		list    string
		nodes   int
		seconds core.Time
	}{
		{"4x100s", 4, 100},
		{"4x100s|8x65s|16x52s", 8, 65},           // 40000, 33800, 43264
		{"16x52s|4x100s|8x65s", 8, 65},           // in any order
		{"4x100s|16x50s", 4, 100},                // 40000 for both: the fewer nodes
		{"1x100s|2x60s|4x61s|8x62s", 2, 60},      // longer on more nodes: sizes behind the minimum are left out
		{"8x90s|8x100s|8x80s", 8, 80},            // the same nodes three times: the shortest counts
		{"1x3650d|1000x3d", 1000, 3 * 24 * 3600}, // 9.9e16 and 6.7e13: no overflow
	} {
		if s := sizing.New(job(t, c.list), sizing.HalfReference); s.Nodes != c.nodes || s.Seconds != c.seconds {
			t.Errorf("%s: %d nodes for %d s, want %d for %d", c.list, s.Nodes, s.Seconds, c.nodes, c.seconds)
		}
	}
}

// The time for which a job runs determines its class. The time for which it has its nodes determines its reference.
func TestAPauseIsNoneOfAJobsRunTime(t *testing.T) {
	for _, c := range []struct {
		list           string
		pause, seconds core.Time
		class          sizing.Class
	}{
		{"4x100s", 0, 100, sizing.Medium},
		{"4x100s", 60, 40, sizing.Short},
		{"4x3659s", 60, 3599, sizing.Medium},
		{"4x100s|8x72s", 60, 40, sizing.Short}, // 40000 and 41472; without the pauses it would be 6400 and 1152
		{"4x160s|8x110s", 60, 50, sizing.Short},
		{"4x30s", 60, 1, sizing.Short},
		{"4x30s", -60, 30, sizing.Short},
	} {
		j := job(t, c.list)
		j.Pause = c.pause
		if s := sizing.New(j, sizing.HalfReference); s.Seconds != c.seconds || s.Class() != c.class || s.Steps[0].Duration != j.Choices[0].Total() {
			t.Errorf("%s with a pause of %d: %d s, %s, %v", c.list, c.pause, s.Seconds, s.Class(), s.Steps)
		}
	}
}

func TestTheCurveOfThePaperHasItsReferenceAtTheSizeOfTheLog(t *testing.T) {
	for n := 1; n <= 512; n++ {
		if s := sizing.New(piecewise(n, 1e9, 4*n), sizing.HalfReference); s.Nodes != n {
			t.Fatalf("the reference of a job of %d nodes has %d", n, s.Nodes)
		}
	}
}

// piecewise returns a job whose efficiency is .8, .65 and .4 on half, once and twice the reference. The speed-up is
// linear in between (Barsanti and Sodan, JSSPP 2006, Table 1).
func piecewise(nodes int, seconds core.Time, machine int) core.Job {
	var j core.Job
	for n := (nodes + 1) / 2; n <= min(2*nodes, machine); n++ {
		part := float64(n) / float64(nodes)
		speed := .5*part + .15
		if part > 1 {
			speed = .15*part + .5
		}
		j.Choices = append(j.Choices, core.EP{{Duration: core.Time(math.Ceil(float64(seconds) * .65 / speed)), Nodes: n}})
	}
	return j
}

func TestFromTheFloorToTheTargetAJobMayChoose(t *testing.T) {
	const list = "2x400s|4x200s|6x150s|8x104s|12x90s|16x83s" // reference 8, floor 4
	for _, c := range []struct {
		list     string
		floor    sizing.Floor
		factor   float64
		machine  int
		from, to int // nodes; 0 if the job cannot run
	}{
		{list, sizing.HalfReference, 1, 100, 4, 8},
		{list, sizing.AsListed, 1, 100, 2, 8},
		{list, sizing.HalfReference, 0, 100, 4, 4},
		{list, sizing.AsListed, 0, 100, 2, 2},
		{list, sizing.HalfReference, math.Inf(1), 100, 4, 16},
		{list, sizing.HalfReference, .6874, 100, 4, 4}, // 5.4992 rounds to 5; the largest listed size up to 5 is 4
		{list, sizing.HalfReference, .6875, 100, 4, 6}, // 5.5 rounds to 6
		{list, sizing.HalfReference, math.Inf(1), 13, 4, 12},
		{list, sizing.HalfReference, 1, 3, 2, 2}, // the machine lost nodes: it has fewer than the floor
		{list, sizing.HalfReference, 1, 1, 0, 0},
		{"10x100s|16x50s", sizing.HalfReference, 0, 100, 10, 10}, // the floor, 8, is not listed
		{"4x100s", sizing.HalfReference, 0, 100, 4, 4},
		{"1x100s|2x60s|4x61s|8x59s", sizing.AsListed, 2, 100, 1, 2}, // 4 nodes last longer than 2, so that size is left out
	} {
		s := sizing.New(job(t, c.list), c.floor)
		from, to := 0, 0
		if lo, hi, ok := s.Range(c.factor, c.machine); ok {
			from, to = s.Steps[lo].Nodes, s.Steps[hi].Nodes
		}
		if from != c.from || to != c.to {
			t.Errorf("%s, factor %v, machine %d: %d to %d nodes, want %d to %d", c.list, c.factor, c.machine, from, to, c.from, c.to)
		}
	}
}

func TestNothingIsChosenForAJobWithStepsAndForNoneThatCannotRun(t *testing.T) {
	steps := core.Job{Choices: []core.EP{{{Duration: 10, Nodes: 3}, {Duration: 5, Nodes: 7}}, {{Duration: 4, Nodes: 9}}}}
	s := sizing.New(steps, sizing.HalfReference)
	if lo, hi, ok := s.Range(math.Inf(1), 100); s.Nodes != 7 || s.Seconds != 15 || !s.Several || lo != 0 || hi != 0 || !ok || s.Choice(0) != 0 {
		t.Errorf("%+v, %d to %d", s, lo, hi)
	}
	for _, choices := range [][]core.EP{nil, {}, {{}}, {{{Duration: 0, Nodes: 4}}}, {{{Duration: 5, Nodes: -1}}}, {{{Duration: 5, Nodes: 4}, {Duration: 0, Nodes: 4}}}} {
		if s := sizing.New(core.Job{Choices: choices}, sizing.AsListed); s != nil {
			t.Errorf("%v can be run: %+v", choices, s)
		}
	}
}

// For any list, sizes increase and durations never do, and each size is listed. A size that is left out lasts at
// least as long as one with fewer or equal nodes.
func TestUnusableSizesAreLeftOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var j core.Job
		for range rapid.IntRange(1, 12).Draw(t, "sizes") {
			j.Choices = append(j.Choices, core.EP{{Duration: rapid.Int64Range(0, 30).Draw(t, "seconds"), Nodes: rapid.IntRange(0, 12).Draw(t, "nodes")}})
		}
		s := sizing.New(j, sizing.HalfReference)
		for i, ep := range j.Choices {
			if s == nil || ep[0].Duration < 1 || ep[0].Nodes < 1 {
				continue
			}
			best := s.UpTo(ep[0].Nodes)
			if best < 0 || s.Steps[best].Duration > ep[0].Duration {
				t.Fatalf("choice %d, %v, is better than all of %v", i, ep, s.Steps)
			}
		}
		if s == nil {
			return
		}
		for i, step := range s.Steps {
			if j.Choices[s.Choice(i)][0] != step || s.Choices[i][0] != step || i > 0 && (step.Nodes <= s.Steps[i-1].Nodes || step.Duration > s.Steps[i-1].Duration) {
				t.Fatalf("size %d of %v, choice %d", i, s.Steps, s.Choice(i))
			}
		}
		if lo, _, _ := s.Range(0, 100); lo != s.Least() || 2*s.Steps[lo].Nodes < s.Nodes {
			t.Fatalf("the floor of %v is %d, its reference %d", s.Steps, s.Steps[lo].Nodes, s.Nodes)
		}
	})
}

func TestBetweenListedSizesTheSpeedIsLinear(t *testing.T) {
	s := sizing.New(job(t, "10x100s|20x50s|40x40s"), sizing.AsListed) // speeds .01, .02, .025
	for _, c := range []struct{ nodes, seconds float64 }{{1, 100}, {10, 100}, {15, 1 / .015}, {20, 50}, {30, 1 / .0225}, {40, 40}, {99, 40}} {
		if got := s.Lasts(c.nodes); math.Abs(got-c.seconds) > 1e-9 {
			t.Errorf("on %v nodes: %v s, want %v", c.nodes, got, c.seconds)
		}
	}
}

// A machine of 100 nodes: a job of reference 50 holds 40, and references of 30 and 10 wait. The demand is 80, the
// mean reference 30, and s is 1.25. The job of 30 may have 1.25·√(30/60) = .884 of its reference. The job of 10 would
// get 1.25·√(30/20) = 1.531, but the limit is 1.
func TestShareIsThePartOfTheMachineByTheRootOfTheReference(t *testing.T) {
	large, small := sizing.New(job(t, "30x1h"), sizing.HalfReference), sizing.New(job(t, "10x1h"), sizing.HalfReference)
	w := sizing.World{Machine: 100}
	w.Holds(40, 50, 1)
	w.Waits(large, 1)
	w.Waits(small, 1)
	check := func(s *sizing.Sizes, want float64) {
		t.Helper()
		if got := (sizing.Share{}).Factor(&w, s); math.Abs(got-want) > 1e-12 {
			t.Errorf("a job of %d nodes may have %v of it, want %v", s.Nodes, got, want)
		}
	}
	check(large, 1.25*math.Sqrt(.5))
	check(small, 1)
	w.Holds(40, 50, -1)
	w.Waits(large, -1)
	check(small, 10/3.) // alone: s is 10, and a third of it counts
	w.Waits(small, -1)
	check(small, math.Inf(1)) // no demand
}
