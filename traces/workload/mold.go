package workload

import (
	"slices"

	"accordion/core"
)

// mold turns a rigid job into a moldable one, which lists some sizes of its law. It returns false if there is only the log's size.
func (x WhatIf) mold(j *Job, machine int, d *stream) bool {
	l := x.Curve.law(j, machine, d)
	sizes := x.Offer.of(x.Curve).sizes(l.least, j.Size, l.most)
	m := choices{steps: make([]core.Step, 0, len(sizes)), runs: make([]core.Time, 0, len(sizes))}
	for _, n := range sizes {
		run := l.lasts(j.Run, n)
		request := l.asks(run, n)
		if max(run, request) <= MaxTime && !(l.faster && len(m.runs) > 0 && run >= m.runs[len(m.runs)-1]) {
			m.steps = append(m.steps, core.Step{Duration: request, Nodes: n})
			m.runs = append(m.runs, run)
		}
	}
	if len(m.runs) < 2 {
		return false
	}
	j.Choices, j.Runs = m.profiles(), m.runs
	return true
}

// choices has the sizes of one job in two slices, because a log of a large machine has millions of sizes.
type choices struct {
	steps []core.Step
	runs  []core.Time
}

func (c *choices) profiles() []core.EP {
	all := make([]core.EP, len(c.steps))
	for i := range all {
		all[i] = c.steps[i : i+1 : i+1]
	}
	return all
}

// mostSizes is the maximum number of sizes of a job.
const mostSizes = 128

// sizes returns the offered sizes from `least` to `most` nodes and the log's own size, in ascending order.
func (o Offer) sizes(least, own, most int) []int {
	all := []int{own}
	switch o {
	case Three:
		all = append(all, least, most)
	case Powers:
		for n := 1; n <= most; n *= 2 {
			if n >= least {
				all = append(all, n)
			}
		}
	default:
		return evenly(least, own, most)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// evenly returns all sizes from `least` to `most`, or mostSizes of these sizes at equal distances. The log's own size replaces the nearest of
// these sizes, but never the first or the last. If it is outside of the range, it is added.
func evenly(least, own, most int) []int {
	n := min(most-least+1, mostSizes)
	if own < least || own > most {
		n = min(n, mostSizes-1)
	}
	all := make([]int, n, n+1)
	for i := range all {
		all[i] = least + i*(most-least)/max(n-1, 1)
	}
	switch at, has := slices.BinarySearch(all, own); {
	case has:
	case at == 0 || at == n:
		return slices.Insert(all, at, own)
	case at == n-1 || at > 1 && own-all[at-1] <= all[at]-own:
		all[at-1] = own
	default:
		all[at] = own
	}
	return all
}
