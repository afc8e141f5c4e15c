package easy

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
	"accordion/core/sched"
)

// beside is Starts where others run whose profile changes, or are to come: the same on a profile of all that runs.
func (s *state) beside(now core.Time, into []core.Start) []core.Start {
	var (
		view    = s.view(now)
		filling = s.crowd.Sizing.Filling()
		head    *waiter // nil: all before have started
		chooser moldable.Chooser
		factor  float64 // the head's
	)
	s.world = s.crowd.World(now)
	for i := 0; i < len(s.queue); {
		if view.Free(now) == 0 {
			break
		}
		w := s.queue[i]
		size := -1
		if head == nil {
			factor = s.crowd.Sizing.Factor(s.world, w.sizes)
			lo, hi := s.sizes(w, factor)
			if p, ok := chooser.Best(view, now, s.asked(w, lo, hi)); ok && p.Start == now {
				size = lo + p.Choice
			} else if head = w; ok {
				view.Add(p.Start, p.EP)
				s.remember(lo + p.Choice)
			}
		} else {
			lo, hi := s.filled(w, filling, factor)
			size = largest(view, now, w.sizes.Steps, lo, hi)
		}
		if size < 0 {
			i++
			continue
		}
		view.Add(now, core.EP{w.sizes.Steps[size]})
		into = s.start(now, i, size, s.whose(w, head), into)
	}
	return into
}

// largest is the largest of some sizes that fits into a view now; −1 when there is none. What is free for a size is free for
// no smaller one for longer.
func largest(view *profile.Profile, now core.Time, steps []core.Step, lo, hi int) int {
	free := view.Free(now)
	for k := fitting(steps, lo, hi, free); k >= lo; k = fitting(steps, lo, k, free) {
		if free = view.Nodes() - view.Max(now, now+steps[k].Duration); steps[k].Nodes <= free {
			return k
		}
	}
	return -1
}

// asked is a waiting job that lists some of its sizes only. One that is in the queue may begin at once, also where the clock was
// set back before its begin.
func (s *state) asked(w *waiter, lo, hi int) core.Job {
	j := core.Job{ID: w.id, Choices: w.sizes.Choices[lo : hi+1]}
	if w.sizes.Several { // it is its peak for its total
		j.Choices = []core.EP{w.sizes.Steps}
	}
	return j
}

// view is the occupation of what runs, without what has outstayed its request.
func (s *state) view(now core.Time) *profile.Profile {
	view := new(profile.Profile)
	s.runs.Occupy(view, s.machine.Nodes, now, s.others)
	return view
}

// Promise implements sched.Promiser: a job with a profile of several steps runs as its peak for its total.
func (s *state) Promise(id core.JobID) (core.Allocation, bool) { return s.crowd.Allocation(id) }

// Plan implements sched.State: what starts now, and then all that waits and fits the machine, in the order of the queue, each
// where it completes first at the sizes that it may have today.
func (s *state) Plan(now core.Time) core.Plan {
	c := s.clone()
	var plan core.Plan
	for _, start := range c.Starts(now, nil) {
		if !start.Begins {
			continue
		}
		h, _, _ := c.runs.Get(start.Job)
		ep := core.EP{{Duration: h.End - now, Nodes: start.Nodes}}
		plan.Jobs = append(plan.Jobs, core.Planned{Allocation: core.Allocation{Job: start.Job, Start: now, EP: ep}, Choice: start.Choice})
	}
	c.rest(now, &plan)
	return plan
}

// Explain implements sched.Explainer.
func (s *state) Explain(now core.Time, tell func(sched.SizeBasis)) {
	c := s.clone()
	c.tell = tell
	c.Starts(now, nil)
	c.left(now, func(_ int, w, by *waiter) {
		tell(sched.SizeBasis{Job: w.id, Sizes: w.sizes, World: c.world, Head: by.id, HeadSizes: by.sizes, MinSize: w.least})
	})
}

// left are the jobs that wait and fit the machine, in the order of the queue and then those aside, each with the one whose factor it has
// today.
func (s *state) left(now core.Time, tell func(i int, w, by *waiter)) {
	s.world = s.crowd.World(now)
	slices.SortFunc(s.aside, func(a, b *waiter) int { return cmp.Compare(a.rank.came, b.rank.came) })
	var head *waiter
	for i, w := range append(s.queue, s.aside...) {
		if w.sizes == nil || w.sizes.Steps[0].Nodes > s.machine.Nodes {
			continue
		}
		if head == nil {
			head = w
		}
		tell(i, w, s.whose(w, head))
	}
}

// rest plans what waits.
func (s *state) rest(now core.Time, plan *core.Plan) {
	var (
		view    = s.view(now)
		chooser moldable.Chooser
		factor  float64
		whose   *waiter // whose that is
	)
	s.left(now, func(i int, w, by *waiter) {
		if by != whose {
			factor, whose = s.crowd.Sizing.Factor(s.world, by.sizes), by
		}
		lo, hi := s.sizes(w, factor)
		j := s.asked(w, lo, hi)
		if i >= len(s.queue) {
			j.Begin = w.begin
		}
		p, ok := chooser.Best(view, now, j)
		if !ok || p.Start >= core.Forever {
			return
		}
		view.Add(p.Start, p.EP)
		p.Choice = w.sizes.Choice(lo + p.Choice)
		plan.Jobs = append(plan.Jobs, p)
	})
}
