package sizing_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"accordion/core"
	"accordion/core/sizing"
)

// randomWorld returns a machine with some jobs. The first waiting job is the one to size.
func randomWorld(r *rand.Rand) *sizing.World {
	w := &sizing.World{Now: r.Int64N(20 * sizing.Day), Machine: 16 + r.IntN(112)}
	for range r.IntN(6) {
		w.Running = append(w.Running, sizing.Holding{Nodes: 1 + r.IntN(30), End: w.Now - 100 + r.Int64N(40_000)})
	}
	for range 1 + r.IntN(8) {
		j := piecewise(1+r.IntN(w.Machine/2), 1+r.Int64N(100_000), w.Machine)
		if r.IntN(4) == 0 {
			j.Choices = j.Choices[:1]
		}
		w.Waiting = append(w.Waiting, sizing.New(j, sizing.AsListed))
	}
	return w
}

func randomStatistics(r *rand.Rand) *sizing.Statistics {
	var s sizing.Statistics
	for c := range sizing.Classes {
		for h := range s.Arrivals {
			s.Arrivals[h][c] = 3 * r.Float64()
		}
		s.Nodes[c], s.Seconds[c] = 1+20*r.Float64(), math.Exp(10*r.Float64())
	}
	return &s
}

// figure2 implements Figure 2 of the paper, word by word, with the differences that Load's comment describes. It sums
// arrivals over each half hour, in slices.
func figure2(w *sizing.World, js *sizing.Sizes, s *sizing.Statistics, beyond, unbounded bool) float64 {
	const ideal, delta, maxBad = .90, .02, 3
	clip := func(x *sizing.Sizes, m float64) float64 {
		if unbounded {
			return m * float64(x.Nodes)
		}
		steps := x.Steps
		return math.Max(float64(steps[x.Least()].Nodes), math.Min(m*float64(x.Nodes), float64(min(steps[len(steps)-1].Nodes, w.Machine))))
	}
	modifier, best, bestLoad, counter := 1., 0., math.Inf(1), 0
	for ok := false; !ok; {
		n := clip(js, modifier)
		ts := js.Lasts(n)
		work := n * ts
		for _, run := range w.Running {
			work += float64(run.Nodes) * math.Max(0, math.Min(float64(run.End-w.Now), ts))
		}
		for _, x := range w.Waiting {
			if x != js {
				work += clip(x, modifier) * math.Min(x.Lasts(clip(x, modifier)), ts)
			}
		}
		if s != nil {
			f := modifier
			if !unbounded {
				f = math.Max(.5, math.Min(modifier, 2))
			}
			work += future(s, w.Now, ts, f)
		}
		load := work / (float64(w.Machine) * ts)
		current := modifier
		ok = load >= ideal-delta && load <= ideal+delta
		if !ok {
			modifier *= ideal / load
		}
		if math.Abs(load-ideal) < math.Abs(bestLoad-ideal) {
			bestLoad, best, counter = load, current, 0
		} else if counter++; counter == maxBad {
			break
		}
	}
	if s == nil && !beyond {
		return math.Min(best, 1)
	}
	return best
}

func future(s *sizing.Statistics, now core.Time, ts, f float64) float64 {
	speed := .15 + .5*f
	if f > 1 {
		speed = .5 + .15*f
	}
	work := 0.
	for c := range sizing.Classes {
		r := s.Seconds[c] * .65 / speed
		const slices = 4000
		for i := range slices {
			t := ts * (float64(i) + .5) / slices
			rate := s.Arrivals[sizing.HalfHourOf(now+core.Time(t))][c] / float64(sizing.HalfHour)
			work += rate * ts / slices * math.Min(r, ts-t) * f * s.Nodes[c]
		}
	}
	return work
}

func TestLoadIsFigure2(t *testing.T) {
	blind := sizing.Load{Ideal: .9, Delta: .02, Bad: 3, Blind: true, Beyond: true}
	unbounded := blind
	unbounded.Reading.Unbounded = true
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 15))
		w, s := randomWorld(r), randomStatistics(r)
		knowing := sizing.Scojo()
		knowing.Reading, knowing.Known = unbounded.Reading, s.Forecast()
		for _, c := range []struct {
			name   string
			load   sizing.Load
			known  *sizing.Statistics
			beyond bool
			within float64
		}{
			{"blind", blind, nil, true, 1e-9},
			{"without bounds", unbounded, nil, true, 1e-6},
			{"without bounds, known", knowing, s, true, .02},
			{"nothing learned yet", sizing.Scojo(), nil, false, 1e-9},
			{"known", sizing.Load{Ideal: .9, Delta: .02, Bad: 3, Known: s.Forecast()}, s, false, .02},
		} {
			if got, want := c.load.Factor(w, w.Waiting[0]), figure2(w, w.Waiting[0], c.known, c.beyond, c.load.Reading.Unbounded); math.Abs(got-want) > c.within*want {
				t.Errorf("seed %d, %s: factor %v, want %v", seed, c.name, got, want)
			}
		}
	}
}

func TestSearchTellsWhatWasTriedAndTheLastBetterOneIsTheAnswer(t *testing.T) {
	w := randomWorld(rand.New(rand.NewPCG(4, 4)))
	var answer sizing.Trial
	tried := 0
	sizing.Scojo().Search(w, w.Waiting[0], func(trial sizing.Trial) {
		tried++
		if trial.Better {
			answer = trial
		}
	})
	if got := sizing.Scojo().Factor(w, w.Waiting[0]); tried == 0 || got != answer.Factor {
		t.Errorf("of %d trials %v is the answer, the last better one %v", tried, got, answer)
	}
}

// Jobs of one class arrive twice in the first half hour of each day and never otherwise. They have 10 nodes and last
// 600 s. On an empty machine of 100 nodes, a job of 20 nodes for an hour is sized at midnight. That job alone is a
// load of .2.
func TestJobsToComeCountFromTheirArrivalToTheEndOfTheJob(t *testing.T) {
	s := sizing.Statistics{}
	s.Arrivals[0][sizing.Medium], s.Nodes[sizing.Medium], s.Seconds[sizing.Medium] = 2, 10, 600
	w := &sizing.World{Now: 5 * sizing.Day, Machine: 100}
	j := sizing.New(core.Job{Choices: []core.EP{{{Duration: 3600, Nodes: 20}}}}, sizing.AsListed)
	first := func(seconds core.Time) float64 {
		w.Now = 5*sizing.Day + seconds
		load := 0.
		sizing.Load{Ideal: .9, Delta: .02, Bad: 1, Known: s.Forecast()}.Search(w, j, func(trial sizing.Trial) {
			if trial.Factor == 1 {
				load = trial.Load
			}
		})
		return load
	}
	for _, c := range []struct {
		at   core.Time
		want float64
	}{
		{0, .2 + 2*10*600./360_000},                 // both jobs count completely
		{900, .2 + 10*600./360_000},                 // one job still arrives, on average
		{1800, .2},                                  // no job arrives any more on this day
		{sizing.Day - 3600, .2},                     // no job arrives before the sized job ends
		{sizing.Day - 1800, .2 + 2*10*500./360_000}, // both jobs of the next day; a third of them is cut, by 300 s on average
	} {
		if got := first(c.at); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("at second %d of the day the load is %v, want %v", c.at, got, c.want)
		}
	}
}

func TestWhatIsLearnedIsWhatArrivedAndEnded(t *testing.T) {
	short, long := sizing.New(core.Job{Choices: []core.EP{{{Duration: 30, Nodes: 2}}}}, sizing.AsListed), sizing.New(core.Job{Choices: []core.EP{{{Duration: 7200, Nodes: 8}}}}, sizing.AsListed)
	var tally sizing.Tally
	begin := 3*sizing.Day + 5*sizing.HalfHour // the sixth half hour of a day
	for day := range core.Time(2) {
		tally.Arrives(begin+day*sizing.Day, short)
		tally.Arrives(begin+day*sizing.Day+100, short)
	}
	tally.Arrives(begin+sizing.HalfHour, long)
	tally.Ends(short, 10)
	tally.Ends(short, 20)
	tally.Ends(long, 3600)
	s, enough := tally.Statistics(begin + 2*sizing.Day + sizing.HalfHour)
	if !enough {
		t.Fatal("two days are not enough")
	}
	// The sixth half hour of the day has passed three times, with 4 short jobs in all, and the seventh twice, with one long job.
	if got := s.Arrivals[5][sizing.Short]; math.Abs(got-4./3) > 1e-12 {
		t.Errorf("%v short jobs arrive in the sixth half hour, want 4/3", got)
	}
	if got := s.Arrivals[6][sizing.Long]; math.Abs(got-.5) > 1e-12 {
		t.Errorf("%v long jobs arrive in the seventh half hour, want 1/2", got)
	}
	if s.Nodes != [3]float64{2, 0, 8} || s.Seconds != [3]float64{15, 0, 3600} {
		t.Errorf("means: %v nodes, %v seconds", s.Nodes, s.Seconds)
	}
}

func TestBeforeADayIsOverNothingIsLearned(t *testing.T) {
	var tally sizing.Tally
	if _, enough := tally.Statistics(100 * sizing.Day); enough {
		t.Error("statistics of nothing")
	}
	s := sizing.New(core.Job{Choices: []core.EP{{{Duration: 30, Nodes: 2}}}}, sizing.AsListed)
	tally.Arrives(-50, s)
	if _, enough := tally.Statistics(sizing.Day - 51); enough {
		t.Error("statistics of less than a day")
	}
	if got, enough := tally.Statistics(sizing.Day - 50); !enough || got.Arrivals[sizing.HalfHourOf(-50)][sizing.Short] != 1 {
		t.Errorf("after a day: %v, %v", got.Arrivals, enough)
	}
	if (&sizing.Statistics{}).Forecast() != nil {
		t.Error("a forecast of nothing")
	}
}
