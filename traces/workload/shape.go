package workload

import (
	"iter"

	"accordion/core"
	"accordion/traces/model"
)

// phases are how a job's need changes, in millionths: of its run time each lasts so long, and of its peak each needs so
// much. The lengths are one together, and the largest height is one.
type phases []phase

type phase struct{ length, height Factor }

// phases of a shape; only those of Random are drawn.
func (s Shape) phases(d *draw) phases {
	switch s {
	case RampUp:
		return equal(one/4, one/2, 3*one/4, one)
	case RampDown:
		return equal(one, 3*one/4, one/2, one/4)
	case Mountain:
		return equal(one/3, 2*one/3, one, 2*one/3, one/3)
	case PreMainPost:
		return phases{{15 * one / 100, one / 4}, {70 * one / 100, one}, {15 * one / 100, one / 4}}
	}
	return randomPhases(d)
}

// equal are phases of equal length.
func equal(heights ...Factor) phases {
	var p phases
	for _, h := range heights {
		p = append(p, phase{one / Factor(len(heights)), h})
	}
	return p
}

// randomPhases are 2 to 6: the lengths are in the proportion of numbers from 1 to 100, the heights from 10 % up.
func randomPhases(d *draw) phases {
	p := make(phases, 2+d.below(5))
	sum := Factor(0)
	for i := range p {
		p[i] = phase{Factor(1 + d.below(100)), one/10 + Factor(d.below(int(one-one/10)))}
		sum += p[i].length
	}
	for i := range p {
		p[i].length = p[i].length * one / sum
	}
	p[d.below(len(p))].height = one
	return p
}

// steps are those of a run time and a peak: the phases end at the whole seconds of their shares, and heights are rounded up to
// nodes. A phase without a whole second has a step of none.
func (p phases) steps(run core.Time, peak int) iter.Seq[core.Step] {
	return func(yield func(core.Step) bool) {
		var (
			ended core.Time
			until Factor
		)
		for i, f := range p {
			until += f.length
			end := until.Multiply(run)
			if i == len(p)-1 {
				end = run // shares that are no whole millionths leave a rest
			}
			nodes := (int64(f.height)*int64(peak) + int64(one) - 1) / int64(one)
			if !yield(core.Step{Duration: end - ended, Nodes: int(nodes)}) {
				return
			}
			ended = end
		}
	}
}

// over is the profile of the phases for a run time and a peak.
func (p phases) over(run core.Time, peak int) core.EP {
	var ep core.EP
	for s := range p.steps(run, peak) {
		ep = then(ep, s)
	}
	return ep
}

// area is that of over, in node-seconds.
func (p phases) area(run core.Time, peak int) int64 {
	var sum int64
	for s := range p.steps(run, peak) {
		sum += s.Duration * int64(s.Nodes)
	}
	return sum
}

// mean is the mean height, a share of the peak.
func (p phases) mean() Factor {
	var sum Factor
	for _, f := range p {
		sum += f.length * f.height / one
	}
	return sum
}

// draw is a stream of random numbers, a few for each job.
type draw struct{ model.Splitmix }

// dice is the stream of one job.
func dice(seed uint64, number int64) draw {
	d := draw{model.Splitmix(seed)}
	d.Splitmix = model.Splitmix(d.Next() ^ uint64(number))
	d.Next()
	return d
}

// below is a number from 0 to n−1.
func (d *draw) below(n int) int { return int(d.Below(int64(n))) }
