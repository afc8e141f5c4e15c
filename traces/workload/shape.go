package workload

import (
	"iter"

	"accordion/core"
	"accordion/traces/model"
)

// phases describes how the number of nodes that a job needs changes. Each phase has a length, as a share of the run time, and a height, as a
// share of the peak, both in millionths. The sum of the lengths is one, and the largest height is one.
type phases []phase

type phase struct{ length, height Factor }

// phases returns the phases of a shape. Only Random draws them.
func (s Shape) phases(d *stream) phases {
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

// equal returns phases of equal length.
func equal(heights ...Factor) phases {
	var p phases
	for _, h := range heights {
		p = append(p, phase{one / Factor(len(heights)), h})
	}
	return p
}

// randomPhases returns 2 to 6 phases. Their lengths are in the proportion of random numbers from 1 to 100. Their heights are from 10 to
// 100 %, and one height is 100 %.
func randomPhases(d *stream) phases {
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

// steps returns the steps for a run time and a peak. Phases end at the whole seconds of their shares, and heights are rounded up to nodes. A
// phase without a whole second has a step of duration 0.
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
				end = run // shares in millionths may not add up to one
			}
			nodes := (int64(f.height)*int64(peak) + int64(one) - 1) / int64(one)
			if !yield(core.Step{Duration: end - ended, Nodes: int(nodes)}) {
				return
			}
			ended = end
		}
	}
}

// over returns the profile of the phases for a run time and a peak.
func (p phases) over(run core.Time, peak int) core.EP {
	var ep core.EP
	for s := range p.steps(run, peak) {
		ep = appendStep(ep, s)
	}
	return ep
}

// area returns the node-seconds of over.
func (p phases) area(run core.Time, peak int) int64 {
	var sum int64
	for s := range p.steps(run, peak) {
		sum += s.Duration * int64(s.Nodes)
	}
	return sum
}

// mean returns the mean height, as a share of the peak.
func (p phases) mean() Factor {
	var sum Factor
	for _, f := range p {
		sum += f.length * f.height / one
	}
	return sum
}

// stream is a stream of random numbers of one job.
type stream struct{ model.Splitmix }

// jobStream returns the stream of one job.
func jobStream(seed uint64, number int64) stream {
	d := stream{model.Splitmix(seed)}
	d.Splitmix = model.Splitmix(d.Next() ^ uint64(number))
	d.Next()
	return d
}

// below returns a number from 0 to n−1.
func (d *stream) below(n int) int { return int(d.Below(int64(n))) }
