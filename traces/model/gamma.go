package model

import "math"

// Share returns the next number, from 0 to below 1.
func (s *Splitmix) Share() float64 { return float64(s.Next()>>11) / (1 << 53) }

// Normal returns the next number of the standard normal distribution. It uses one of the two numbers that
// Marsaglia's polar method gives.
func (s *Splitmix) Normal() float64 {
	for {
		x, y := 2*s.Share()-1, 2*s.Share()-1
		if r := x*x + y*y; r > 0 && r < 1 {
			return x * math.Sqrt(-2*math.Log(r)/r)
		}
	}
}

// gamma returns the next number of a gamma distribution with a shape of 1 or more (Marsaglia and Tsang, "A Simple Method for Generating Gamma
// Variables", ACM TOMS 26(3), 2000).
func (s *Splitmix) gamma(shape, scale float64) float64 {
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.Normal()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(s.Share()) < x*x/2+d-d*v+d*math.Log(v) {
			return d * v * scale
		}
	}
}

// gammaBelow returns the probability that a gamma variable is below x. It is the regularized incomplete gamma function, by its series of
// positive terms.
func gammaBelow(x, shape, scale float64) float64 {
	x /= scale
	if x <= 0 {
		return 0
	}
	logGamma, _ := math.Lgamma(shape)
	term := 1 / shape
	sum := term
	for n := shape + 1; term > sum*1e-16; n++ {
		term *= x / n
		sum += term
	}
	return min(sum*math.Exp(shape*math.Log(x)-x-logGamma), 1)
}
