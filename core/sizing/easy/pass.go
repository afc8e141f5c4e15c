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
		return s.beside(now, into)
	}
	if len(s.queue) == 0 || s.free <= 0 {
		return into
	}
	s.world = s.crowd.World(now)
	for len(s.queue) > 0 && s.free > 0 {
		place := s.place(now)
		if place.at > now {
			return s.backfill(now, place, into)
		}
		into = s.start(now, 0, place.size, s.queue[0], into)
	}
	return into
}

// spot is where the head of the queue comes to lie.
type spot struct {
	size   int       // number
	at     core.Time // Forever on a machine that lost nodes and will never have as many
	beside int       // nodes that are free beside it then
	factor float64   // of its reference, that the sizing gave it
}

// place is where the head comes to lie: the earliest completion over the sizes that it may have; of equals the one with the
// fewest nodes.
func (s *state) place(now core.Time) spot {
	w := s.queue[0]
	factor := 1.
	if len(w.sizes.Steps) > 1 {
		factor = s.crowd.Sizing.Factor(s.world, w.sizes)
	}
	lo, hi := s.sizes(w, factor)
	best := s.earliest(now, w.sizes.Steps, lo, hi)
	best.factor = factor
	if best.at > now {
		s.remember(best.size)
	}
	return best
}

// remember has the head get no smaller size later, where the policy does so.
func (s *state) remember(size int) {
	if w := s.queue[0]; s.remembers && size > w.least {
		older := *w
		older.least = size
		s.queue[0] = &older
	}
}

// sizes are those that a job may have by a factor.
func (s *state) sizes(w *waiter, factor float64) (lo, hi int) {
	factor = s.rounding.Of(factor, w.sizes)
	if w.least == 0 {
		lo, hi, _ = w.sizes.Range(factor, s.machine.Nodes)
		return lo, hi
	}
	lo, hi, _ = sched.SizeBasis{Sizes: w.sizes, MinSize: w.least}.Range(factor, s.machine.Nodes)
	return lo, hi
}

// earliest is the earliest completion over some sizes, by the requested ends of what runs.
func (s *state) earliest(now core.Time, steps []core.Step, lo, hi int) spot {
	best, end := spot{size: lo, at: core.Forever}, 2*core.Forever
	at, free, i := now, s.free, len(s.runs.List)
	for {
		if k := fitting(steps, lo, hi, free); k >= lo && at+steps[k].Duration < end {
			for k > lo && steps[k-1].Duration == steps[k].Duration {
				k--
			}
			best, end = spot{size: k, at: at, beside: free - steps[k].Nodes}, at+steps[k].Duration
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

// fitting is the number of the largest of some sizes that has no more nodes than those; below lo when there is none.
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

// backfill starts what does not delay the head.
func (s *state) backfill(now core.Time, head spot, into []core.Start) []core.Start {
	filling := s.crowd.Sizing.Filling()
	if filling == sizing.AsHead && len(s.queue) > 1 && len(s.queue[0].sizes.Steps) == 1 {
		head.factor = s.crowd.Sizing.Factor(s.world, s.queue[0].sizes)
	}
	for i := 1; i < len(s.queue) && s.free > 0; {
		w := s.queue[i]
		if w.sizes.Steps[0].Nodes > s.free {
			i++
			continue
		}
		lo, hi := 0, 0
		if len(w.sizes.Steps) > 1 {
			lo, hi = s.filled(w, filling, head.factor)
		}
		k := s.beneath(now, head, w.sizes.Steps, lo, hi)
		if k < lo {
			i++
			continue
		}
		if step := &w.sizes.Steps[k]; now+step.Duration > head.at {
			head.beside -= step.Nodes
		}
		into = s.start(now, i, k, s.whose(w, s.queue[0]), into)
	}
	return into
}

// whose is the job whose factor a job has behind the head of the queue.
func (s *state) whose(w, head *waiter) *waiter {
	if s.crowd.Sizing.Filling() == sizing.AsHead && head != nil {
		return head
	}
	return w
}

// filled are the sizes at which a job may be back-filled.
func (s *state) filled(w *waiter, filling sizing.Filling, factor float64) (lo, hi int) {
	if filling != sizing.AsHead {
		factor = s.crowd.Sizing.Factor(s.world, w.sizes)
	}
	lo, hi = s.sizes(w, factor)
	if filling != sizing.UpTo {
		lo = hi
	}
	return lo, hi
}

// beneath is the largest of some sizes that fits now and does not delay the head; below lo when there is none. A size that
// ends by the head's start is one of the largest, as smaller ones last longer.
func (s *state) beneath(now core.Time, head spot, steps []core.Step, lo, hi int) int {
	k := fitting(steps, lo, hi, s.free)
	if k < lo || now+steps[k].Duration <= head.at {
		return k
	}
	return fitting(steps, lo, k, head.beside)
}

// start moves number i of the queue to what runs, on one of its sizes, by the factor of a job.
func (s *state) start(now core.Time, i, size int, by *waiter, into []core.Start) []core.Start {
	w := s.queue[i]
	if s.tell != nil {
		s.tell(sched.SizeBasis{Job: w.id, Sizes: w.sizes, World: s.world, Head: by.id, HeadSizes: by.sizes, MinSize: w.least})
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	step := &w.sizes.Steps[size]
	end := min(core.Forever, now+step.Duration)
	s.hold(sched.RunningJob{End: end, ID: w.id, Nodes: step.Nodes}, now)
	s.crowd.Begin(now, w.id, step.Nodes, end)
	s.world = s.crowd.World(now)
	return append(into, core.Start{Job: w.id, Choice: w.sizes.Choice(size), Nodes: step.Nodes, Begins: true})
}
