package adaptive

import "math"

// estimate is a mean over seeds, and half of its 95 % interval by Student's t.
type estimate struct{ mean, half float64 }

// estimated is that of values, one a seed.
func estimated(values []float64) estimate {
	n := float64(len(values))
	mean := mean(values)
	if len(values) < 2 {
		return estimate{mean, math.NaN()}
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return estimate{mean, student(len(values)-1) * math.Sqrt(squares/(n-1)/n)}
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// each are values, seed by seed: of two series.
func each(a, b []float64, of func(a, b float64) float64) []float64 {
	all := make([]float64, len(a))
	for i := range a {
		all[i] = of(a[i], b[i])
	}
	return all
}

func quotient(a, b float64) float64 { return a / b }

// student is the value below which a variable of Student's distribution lies with 97.5 %: by halving, with the integral of the
// density by Simpson's rule.
func student(freedom int) float64 {
	n := float64(freedom)
	upper, _ := math.Lgamma((n + 1) / 2)
	lower, _ := math.Lgamma(n / 2)
	scale := math.Exp(upper-lower) / math.Sqrt(n*math.Pi)
	density := func(t float64) float64 { return scale * math.Pow(1+t*t/n, -(n+1)/2) }
	within := func(t float64) float64 { // of 0 to t
		const pieces = 2000
		step := t / pieces
		sum := density(0) + density(t)
		for i := 1; i < pieces; i++ {
			sum += density(float64(i)*step) * float64(2+2*(i%2))
		}
		return sum * step / 3
	}
	low, high := 0.0, 16.0
	for range 40 {
		if middle := (low + high) / 2; within(middle) < 0.475 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}
