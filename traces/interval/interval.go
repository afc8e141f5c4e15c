// Package interval computes confidence intervals of values that were measured with different seeds.
//
//	e := interval.Of([]float64{1.02, .97, 1.01, .99})
//	fmt.Println(e.Mean, e.Half) // with 95 % probability, the true mean is within Half of e.Mean
//
// The values must be independent. Waits of jobs in one replay are not.
package interval

import "math"

// Estimate is a mean and half of its 95 % interval by Student's t. Half is NaN for a single value.
type Estimate struct{ Mean, Half float64 }

// Of returns the estimate of values, one per seed.
func Of(values []float64) Estimate {
	n := float64(len(values))
	mean := 0.0
	for _, v := range values {
		mean += v
	}
	mean /= n
	if len(values) < 2 {
		return Estimate{mean, math.NaN()}
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return Estimate{mean, student(len(values)-1) * math.Sqrt(squares/(n-1)/n)}
}

// Slack returns Half, or 0 if it is NaN.
func (e Estimate) Slack() float64 {
	if math.IsNaN(e.Half) {
		return 0
	}
	return e.Half
}

// student returns the value t for which a variable of Student's distribution is between −t and t with a
// probability of 95 %.
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

// within returns the probability that the variable is between −t and t, as a finite sum (Abramowitz and Stegun, 26.7.3 and 26.7.4).
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
