package adaptive

import "accordion/traces/interval"

// estimate is a mean over seeds with its interval.
type estimate = interval.Estimate

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// each returns of(a, b) for each seed.
func each(a, b []float64, of func(a, b float64) float64) []float64 {
	all := make([]float64, len(a))
	for i := range a {
		all[i] = of(a[i], b[i])
	}
	return all
}

func quotient(a, b float64) float64 { return a / b }
