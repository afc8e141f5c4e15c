package advise

import (
	"math"

	"accordion/core/moldable"
)

// fit is a speed-up curve through points.
type fit struct {
	p     float64 // Amdahl's: the share that runs in parallel. Downey's: the average parallelism
	sigma float64 // Downey's; below 0: it is Amdahl's
	off   float64 // how far from the medians at most, as a share of them
}

// speed is the speed-up on so many nodes.
func (f fit) speed(nodes int) float64 {
	if f.sigma < 0 {
		return 1 / (1 - f.p + f.p/float64(nodes))
	}
	return moldable.Downey(f.p, f.sigma, nodes)
}

// scaled is the time on one node that makes the sum of the squares of the relative errors least, and that sum; and it notes the largest error.
func (f *fit) scaled(points []Size) (t1, squares float64) {
	var xx, x float64
	for _, z := range points {
		part := 1 / f.speed(z.Nodes) / float64(z.Median)
		xx += part * part
		x += part
	}
	t1 = x / xx
	f.off = 0
	for _, z := range points {
		e := t1/f.speed(z.Nodes)/float64(z.Median) - 1
		squares += e * e
		f.off = max(f.off, math.Abs(e))
	}
	return t1, squares
}

// fitAmdahl is the curve of least squares: the one parameter is searched for, and the time on one node follows from it.
func fitAmdahl(points []Size) fit {
	f := fit{sigma: -1}
	f.p = least(0, 1, func(p float64) float64 {
		_, squares := (&fit{p: p, sigma: -1}).scaled(points)
		return squares
	})
	f.scaled(points)
	return f
}

// fitDowney searches for the two parameters: the parallelism in its logarithm, from 1 to far above the largest size, and for each of them
// the variance, from 0 to 4.
func fitDowney(points []Size) fit {
	const mostParallel, mostVariance = 16, 4.0
	top := math.Log(mostParallel * float64(points[len(points)-1].Nodes))
	variance := func(a float64) float64 {
		return least(0, mostVariance, func(sigma float64) float64 {
			_, squares := (&fit{p: a, sigma: sigma}).scaled(points)
			return squares
		})
	}
	a := math.Exp(least(0, top, func(log float64) float64 {
		f := fit{p: math.Exp(log), sigma: variance(math.Exp(log))}
		_, squares := f.scaled(points)
		return squares
	}))
	f := fit{p: a, sigma: variance(a)}
	f.scaled(points)
	return f
}

// least is where a function of few bends is least: the best of some points, and then between its neighbors, again and again. It is simple, the same on
// every machine, and does not stop at a bend, as what goes down a slope would.
func least(from, to float64, of func(float64) float64) float64 {
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
