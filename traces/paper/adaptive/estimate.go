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

// student is the value within which, on both sides of 0, a variable of Student's distribution lies with 95 %.
func student(freedom int) float64 {
	low, high := 0.0, 16.0
	for range 40 {
		if middle := (low + high) / 2; within(middle, freedom) < 0.95 {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// within is how probable it is that the variable lies between −t and t: a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).
func within(t float64, freedom int) float64 {
	angle := math.Atan(t / math.Sqrt(float64(freedom)))
	sin, cos := math.Sincos(angle)
	sum, term := 0.0, 1.0
	odd := freedom % 2
	if odd == 1 {
		term = cos
	}
	for k := odd; k <= freedom-2; k += 2 {
		sum += term
		term *= cos * cos * float64(k+1) / float64(k+2)
	}
	if odd == 1 {
		return 2 / math.Pi * (angle + sin*sum)
	}
	return sin * sum
}
