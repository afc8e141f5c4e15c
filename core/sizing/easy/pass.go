package easy

import (
	"slices"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// Starts implements sched.State.
func (s *state) Starts(now core.Time, into []core.Start) []core.Start {
	s.advance(now)
	s.age(now)
	if len(s.others) > 0 {
		into = sched.Resize(s.others, now, into)
		return s.startsByView(now, into)
	}
	if len(s.queue) == 0 || s.free <= 0 {
		return into
	}
	s.world = s.load.World(now)
	for len(s.queue) > 0 && s.free > 0 {
		place := s.place(now)
		if place.at > now {
			return s.backfill(now, place, into)
		}
		into = s.start(now, 0, place.size, s.queue[0], into)
	}
	return into
}

// headPlace is the place of the head of the queue.
type headPlace struct {
	size   int       // index of the head's size
	at     core.Time // start; Forever on a machine that lost nodes and will never have enough
	beside int       // nodes that are free at that time in addition to the head's nodes
	factor float64   // factor of the head's reference, by the sizing rule
}

// place returns the place of the head: the earliest completion over the sizes that it may have. If several
// sizes complete then, it takes the one with the fewest nodes.
func (s *state) place(now core.Time) headPlace {
	w := s.queue[0]
	factor := 1.
	if len(w.sizes.Steps) > 1 {
		factor = s.load.Sizing.Factor(s.world, w.sizes)
	}
	lo, hi := s.sizes(w, factor)
	best := s.earliest(now, w.sizes.Steps, lo, hi)
	best.factor = factor
	if best.at > now {
		s.remember(best.size)
	}
	return best
}

// remember keeps the head from getting a smaller size later, if the policy requires that.
func (s *state) remember(size int) {
	if w := s.queue[0]; s.remembers && size > w.least {
		older := *w
		older.least = size
		s.queue[0] = &older
	}
}

// sizes returns the indexes of the sizes that a job may have with a factor.
func (s *state) sizes(w *waiter, factor float64) (lo, hi int) {
	factor = s.rounding.Of(factor, w.sizes)
	if w.least == 0 {
		lo, hi, _ = w.sizes.Range(factor, s.machine.Nodes)
		return lo, hi
	}
	lo, hi, _ = sched.SizeBasis{Sizes: w.sizes, MinSize: w.least}.Range(factor, s.machine.Nodes)
	return lo, hi
}

// earliest returns the earliest completion over some sizes, by the requested ends of the running jobs.
func (s *state) earliest(now core.Time, steps []core.Step, lo, hi int) headPlace {
	best, end := headPlace{size: lo, at: core.Forever}, 2*core.Forever
	at, free, i := now, s.free, len(s.runs.List)
	for {
		if k := fitting(steps, lo, hi, free); k >= lo && at+steps[k].Duration < end {
			for k > lo && steps[k-1].Duration == steps[k].Duration {
				k--
			}
			best, end = headPlace{size: k, at: at, beside: free - steps[k].Nodes}, at+steps[k].Duration
			if k == hi {
				return best
			}
		}
		if i == 0 || s.runs.List[i-1].End+steps[hi].Duration >= end {
			return best
		}
		for at = s.runs.List[i-1].End; i > 0 && s.runs.List[i-1].End == at; i-- {
			free += s.runs.List[i-1].Nodes
		}
	}
}

// fitting returns the index of the largest of some sizes that has at most the given nodes, or lo-1 if there is none.
func fitting(steps []core.Step, lo, hi, nodes int) int {
	if steps[hi].Nodes <= nodes {
		return hi
	}
	if steps[lo].Nodes > nodes {
		return lo - 1
	}
	for hi-lo > 1 {
		if middle := (lo + hi) / 2; steps[middle].Nodes <= nodes {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}

// backfill starts the jobs that do not delay the head.
func (s *state) backfill(now core.Time, head headPlace, into []core.Start) []core.Start {
	filling := s.load.Sizing.Filling()
	if filling == sizing.AsHead && len(s.queue) > 1 && len(s.queue[0].sizes.Steps) == 1 {
		head.factor = s.load.Sizing.Factor(s.world, s.queue[0].sizes)
	}
	for i := 1; i < len(s.queue) && s.free > 0; {
		w := s.queue[i]
		if w.sizes.Steps[0].Nodes > s.free {
			i++
			continue
		}
		lo, hi := 0, 0
		if len(w.sizes.Steps) > 1 {
			lo, hi = s.backfillSizes(w, filling, head.factor)
		}
		k := s.largestFit(now, head, w.sizes.Steps, lo, hi)
		if k < lo {
			i++
			continue
		}
		if step := &w.sizes.Steps[k]; now+step.Duration > head.at {
			head.beside -= step.Nodes
		}
		into = s.start(now, i, k, s.factorJob(w, s.queue[0]), into)
	}
	return into
}

// factorJob returns the job whose factor applies to a job behind the head of the queue.
func (s *state) factorJob(w, head *waiter) *waiter {
	if s.load.Sizing.Filling() == sizing.AsHead && head != nil {
		return head
	}
	return w
}

// backfillSizes returns the indexes of the sizes at which a job may be back-filled.
func (s *state) backfillSizes(w *waiter, filling sizing.Filling, factor float64) (lo, hi int) {
	if filling != sizing.AsHead {
		factor = s.load.Sizing.Factor(s.world, w.sizes)
	}
	lo, hi = s.sizes(w, factor)
	if filling != sizing.UpTo {
		lo = hi
	}
	return lo, hi
}

// largestFit returns the index of the largest of some sizes that fits now and does not delay the head, or lo-1 if there is none. If
// any size ends before the head's start, then so does the largest size that fits, because smaller sizes last longer.
func (s *state) largestFit(now core.Time, head headPlace, steps []core.Step, lo, hi int) int {
	k := fitting(steps, lo, hi, s.free)
	if k < lo || now+steps[k].Duration <= head.at {
		return k
	}
	return fitting(steps, lo, k, head.beside)
}

// start starts job i of the queue on one of its sizes. `by` is the job whose factor gave this size.
func (s *state) start(now core.Time, i, size int, by *waiter, into []core.Start) []core.Start {
	w := s.queue[i]
	if s.explain != nil {
		s.explain(sched.SizeBasis{Job: w.id, Sizes: w.sizes, World: s.world, Head: by.id, HeadSizes: by.sizes, MinSize: w.least})
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	step := &w.sizes.Steps[size]
	end := min(core.Forever, now+step.Duration)
	s.hold(sched.RunningJob{End: end, ID: w.id, Nodes: step.Nodes}, now)
	s.load.Begin(now, w.id, step.Nodes, end)
	s.world = s.load.World(now)
	return append(into, core.Start{Job: w.id, Choice: w.sizes.Choice(size), Nodes: step.Nodes, Begins: true})
}
