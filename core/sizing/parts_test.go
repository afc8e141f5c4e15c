package sizing

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
)

// The parts of a load add up to the load of the trial.
func TestPartsOfALoadAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &World{Machine: 64}
		list := func() *Sizes {
			n, d := rapid.IntRange(1, 16).Draw(t, "nodes"), rapid.Int64Range(100, 9000).Draw(t, "seconds")
			return New(core.Job{Choices: []core.EP{{{Duration: d, Nodes: n}}, {{Duration: d * 6 / 10, Nodes: 2 * n}}}}, HalfReference)
		}
		for range rapid.IntRange(0, 4).Draw(t, "running") {
			w.Running = append(w.Running, Holding{Nodes: rapid.IntRange(1, 16).Draw(t, "held"), End: rapid.Int64Range(-10, 9000).Draw(t, "end")})
		}
		for range rapid.IntRange(0, 4).Draw(t, "waiting") {
			w.Waiting = append(w.Waiting, list())
		}
		s := list()
		w.Waiting = append(w.Waiting, s)
		if rapid.Bool().Draw(t, "more is to come") {
			known := &Statistics{Nodes: [Classes]float64{4, 4, 8}, Seconds: [Classes]float64{30, 600, 7200}}
			known.Arrivals[0][Medium], known.Arrivals[2][Long] = 5, 1
			w.Learned = known.Forecast()
		}
		l := Scojo()
		l.Search(w, s, func(tried Trial) {
			p := l.Parts(w, s, tried.Factor)
			sum := p.Own + p.Running + p.Waiting + p.Future
			if p.Own < 0 || p.Running < 0 || p.Waiting < -1e-12 || p.Future < -1e-12 {
				t.Fatalf("%+v", p)
			}
			// Without a forecast a factor above 1 is reported as 1.
			if (tried.Factor != 1 || w.Learned != nil) && math.Abs(sum-tried.Load) > 1e-9 {
				t.Fatalf("%+v is %v together, tried was %+v", p, sum, tried)
			}
		})
	})
}
