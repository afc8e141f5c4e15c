package advise

import (
	"math"

	"accordion/core/moldable"
)

// fit is a speed-up curve that was fitted to run times.
type fit struct {
	p        float64 // Amdahl: the parallel share; Downey: the average parallelism
	sigma    float64 // Downey: the variance; if it is negative, the curve is Amdahl's
	maxError float64 // largest distance from a median, as a share of the median
}

// speed returns the speed-up on this number of nodes.
func (f fit) speed(nodes int) float64 {
	if f.sigma < 0 {
		return 1 / (1 - f.p + f.p/float64(nodes))
	}
	return moldable.Downey(f.p, f.sigma, nodes)
}

// scaled returns the time on one node with the least sum of squared relative errors, and that sum. It sets f.maxError.
func (f *fit) scaled(points []Size) (t1, squares float64) {
	var xx, x float64
	for _, z := range points {
		part := 1 / f.speed(z.Nodes) / float64(z.Median)
		xx += part * part
		x += part
	}
	t1 = x / xx
	f.maxError = 0
	for _, z := range points {
		e := t1/f.speed(z.Nodes)/float64(z.Median) - 1
		squares += e * e
		f.maxError = max(f.maxError, math.Abs(e))
	}
	return t1, squares
}

// fitAmdahl returns the least-squares fit. It searches for p; the time on one node follows from p.
func fitAmdahl(points []Size) fit {
	f := fit{sigma: -1}
	f.p = minimize(0, 1, func(p float64) float64 {
		_, squares := (&fit{p: p, sigma: -1}).scaled(points)
		return squares
	})
	f.scaled(points)
	return f
}

// fitDowney returns the least-squares fit. It searches for the logarithm of the parallelism, up to far above
// the largest size. For each parallelism it searches for the variance, from 0 to 4.
func fitDowney(points []Size) fit {
	const mostParallel, mostVariance = 16, 4.0
	top := math.Log(mostParallel * float64(points[len(points)-1].Nodes))
	variance := func(a float64) float64 {
		return minimize(0, mostVariance, func(sigma float64) float64 {
			_, squares := (&fit{p: a, sigma: sigma}).scaled(points)
			return squares
		})
	}
	a := math.Exp(minimize(0, top, func(log float64) float64 {
		f := fit{p: math.Exp(log), sigma: variance(math.Exp(log))}
		_, squares := f.scaled(points)
		return squares
	}))
	f := fit{p: a, sigma: variance(a)}
	f.scaled(points)
	return f
}

// minimize returns the place at which a function with few local minima is smallest. It takes the best of some
// points, and repeats the search between the neighbors of that point. Unlike a descent it does not stop at the
// first local minimum, and its result is the same on every machine.
func minimize(from, to float64, of func(float64) float64) float64 {
	const points, rounds = 12, 8
	best := from
	for range rounds {
		step := (to - from) / points
		lowest := math.Inf(1)
		for i := range points + 1 {
			x := from + float64(i)*step
			if y := of(x); y < lowest {
				best, lowest = x, y
			}
		}
		from, to = max(best-step, from), min(best+step, to)
	}
	return best
}
