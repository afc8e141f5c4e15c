package whatif

import (
	"testing"

	"accordion/traces/model"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestOneWeekHasNoInterval(t *testing.T) {
	got := Bootstrap{}.changes(1, []series{{sums: []float64{6}, base: []float64{12}, counts: []float64{3}}})
	if diff := cmp.Diff([]Change{{By: Estimate{Value: 2}, Share: Estimate{Value: .5}}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An interval is between the smallest and the largest week, and the same for the same seed. If all weeks are equal it has no width.
func TestIntervalsAreWithinTheWeeks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 30).Draw(t, "weeks")
		s := series{sums: make([]float64, n), base: make([]float64, n), counts: make([]float64, n)}
		low, high := 1e9, -1e9
		alike := rapid.Bool().Draw(t, "alike")
		for w := range n {
			s.counts[w] = float64(rapid.IntRange(1, 100).Draw(t, "jobs"))
			mean := 7.0
			if !alike {
				mean = float64(rapid.IntRange(-1000, 1000).Draw(t, "mean"))
			}
			s.sums[w], s.base[w] = mean*s.counts[w], 10*s.counts[w]
			low, high = min(low, mean), max(high, mean)
		}
		b := Bootstrap{Seed: rapid.Uint64().Draw(t, "seed"), Draws: 100}
		got := b.changes(n, []series{s})[0]
		if diff := cmp.Diff(got, b.changes(n, []series{s})[0]); diff != "" {
			t.Fatalf("the same seed: %s", diff)
		}
		const rounding = 1e-6
		if e := got.By; !e.Known || e.Low < low-rounding || e.High > high+rounding || e.Low > e.High {
			t.Fatalf("%+v of weeks from %v to %v", e, low, high)
		}
		if alike && got.By.High-got.By.Low > rounding {
			t.Fatalf("%+v of weeks that are alike", got.By)
		}
		if d := got.Share.Value - got.By.Value/10; d > rounding || d < -rounding {
			t.Fatalf("a share of %v, by %v from 10", got.Share.Value, got.By.Value)
		}
	})
}

// If weeks are drawn from a known distribution, about 95 % of the intervals contain the true mean.
func TestIntervalsContainTheTrueMean(t *testing.T) {
	random := model.Splitmix(3)
	const weeks, times = 40, 400
	held := 0
	for i := range times {
		s := series{sums: make([]float64, weeks), base: make([]float64, weeks), counts: make([]float64, weeks)}
		for w := range weeks {
			s.counts[w], s.base[w] = 10, 10
			for range 12 { // nearly normal, with mean 6
				s.sums[w] += 10 * float64(random.Below(1_000_000)) / 1_000_000
			}
		}
		if e := (Bootstrap{Seed: uint64(i), Draws: 400}).changes(weeks, []series{s})[0].By; e.Low <= 6 && 6 <= e.High {
			held++
		}
	}
	if held < times*90/100 || held > times*98/100 {
		t.Errorf("%d of %d intervals hold the mean", held, times)
	}
}
