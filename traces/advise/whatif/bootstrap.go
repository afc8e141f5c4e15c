package whatif

import (
	"cmp"
	"math"
	"slices"

	"accordion/traces/model"
)

// Bootstrap has the parameters of confidence intervals. The same seed gives the same intervals on every machine.
type Bootstrap struct {
	Seed  uint64
	Draws int // number of samples; 0 means 2,000
}

const usualDraws = 2000

// A Change is the difference of two figures.
type Change struct {
	By    Estimate
	Share Estimate // relative to the other figure: −0.5 means half as much; zero if only the other figure is 0
}

// Estimate is a value with its 95 % interval. The interval is known only if there are at least two weeks of jobs.
type Estimate struct {
	Value     float64
	Low, High float64
	Known     bool
}

// series is a difference per week. Its value is Σ sums / Σ counts, or Σ sums if `counts` is nil. As a share it
// is Σ sums / Σ base.
type series struct{ sums, base, counts []float64 }

// of returns the difference and the share if each week counts times[week] times. A value that does not exist is NaN or infinite.
func (s *series) of(times []float64) (by, share float64) {
	sum, base, n := 0.0, 0.0, 0.0
	for w, t := range times {
		sum += t * s.sums[w]
		base += t * s.base[w]
		if s.counts != nil {
			n += t * s.counts[w]
		}
	}
	by, share = sum/n, sum/base
	if s.counts == nil {
		by = sum
	}
	if sum == 0 && base == 0 {
		share = 0
	}
	return by, share
}

// changes returns the figures with their intervals. It resamples the weeks with replacement many times, and computes all figures of each
// sample. It samples whole weeks because the waits of jobs in the same week depend on each other.
func (b Bootstrap) changes(weeks int, all []series) []Change {
	times := make([]float64, weeks)
	for w := range times {
		times[w] = 1
	}
	changes := make([]Change, len(all))
	for i := range all {
		by, share := all[i].of(times)
		changes[i].By.Value, changes[i].Share.Value = finite(by), finite(share)
	}
	if weeks < 2 {
		return changes
	}
	random := model.Splitmix(b.Seed)
	drawn := make([]struct{ by, share []float64 }, len(all))
	for range cmp.Or(b.Draws, usualDraws) {
		clear(times)
		for range weeks {
			times[random.Below(int64(weeks))]++
		}
		for i := range all {
			by, share := all[i].of(times)
			drawn[i].by, drawn[i].share = append(drawn[i].by, by), append(drawn[i].share, share)
		}
	}
	for i := range drawn {
		changes[i].By.between(drawn[i].by)
		changes[i].Share.between(drawn[i].share)
	}
	return changes
}

// finite returns v, or 0 if v is NaN or infinite.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// between sets the interval from sampled values. It ignores NaN and infinite ones.
func (e *Estimate) between(drawn []float64) {
	drawn = slices.DeleteFunc(drawn, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	if len(drawn) == 0 {
		return
	}
	slices.Sort(drawn)
	e.Low, e.High, e.Known = quantile(drawn, 0.025), quantile(drawn, 0.975), true
}

// quantile returns the smallest of the sorted values that at least this share of them does not exceed.
func quantile(sorted []float64, share float64) float64 {
	at := int(math.Ceil(share*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)]
}
