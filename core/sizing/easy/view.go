package easy

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
	"accordion/core/sched"
)

// startsByView does what Starts does if running jobs or later reservations change their size. It uses a profile of
// everything that runs.
func (s *state) startsByView(now core.Time, into []core.Start) []core.Start {
	var (
		view    = s.view(now)
		filling = s.load.Sizing.Filling()
		head    *waiter // the first job that did not start; nil as long as all jobs have started
		chooser moldable.Chooser
		factor  float64 // factor of the head
	)
	s.world = s.load.World(now)
	for i := 0; i < len(s.queue); {
		if view.Free(now) == 0 {
			break
		}
		w := s.queue[i]
		size := -1
		if head == nil {
			factor = s.load.Sizing.Factor(s.world, w.sizes)
			lo, hi := s.sizes(w, factor)
			if p, ok := chooser.Best(view, now, s.asked(w, lo, hi)); ok && p.Start == now {
				size = lo + p.Choice
			} else if head = w; ok {
				view.Add(p.Start, p.EP)
				s.remember(lo + p.Choice)
			}
		} else {
			lo, hi := s.backfillSizes(w, filling, factor)
			size = largest(view, now, w.sizes.Steps, lo, hi)
		}
		if size < 0 {
			i++
			continue
		}
		view.Add(now, core.EP{w.sizes.Steps[size]})
		into = s.start(now, i, size, s.factorJob(w, head), into)
	}
	return into
}

// largest returns the index of the largest of some sizes that fits into a view now, or -1 if none fits. Smaller sizes
// never run shorter, so the nodes that are free for one size bound those for every smaller one.
func largest(view *profile.Profile, now core.Time, steps []core.Step, lo, hi int) int {
	free := view.Free(now)
	for k := fitting(steps, lo, hi, free); k >= lo; k = fitting(steps, lo, k, free) {
		if free = view.Nodes() - view.Max(now, now+steps[k].Duration); steps[k].Nodes <= free {
			return k
		}
	}
	return -1
}

// asked returns a waiting job that lists only some of its sizes. A job in the queue may start immediately, even if
// the clock was set back to before its begin.
func (s *state) asked(w *waiter, lo, hi int) core.Job {
	j := core.Job{ID: w.id, Choices: w.sizes.Choices[lo : hi+1]}
	if w.sizes.Several { // the job counts as its peak for its total duration
		j.Choices = []core.EP{w.sizes.Steps}
	}
	return j
}

// view returns the occupation by running jobs, without those whose requested time has ended.
func (s *state) view(now core.Time) *profile.Profile {
	view := new(profile.Profile)
	s.runs.Occupy(view, s.machine.Nodes, now, s.others)
	return view
}

// Promise implements sched.Promiser. A job with a profile of several steps runs as its peak for its total duration.
func (s *state) Promise(id core.JobID) (core.Allocation, bool) { return s.load.Allocation(id) }

// Plan implements sched.State. The plan has the jobs that start now, then all other waiting jobs that fit the machine, in queue
// order. Each has its earliest completion over the sizes that it may have now.
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
	c.planWaiting(now, &plan)
	return plan
}

// Explain implements sched.Explainer.
func (s *state) Explain(now core.Time, tell func(sched.SizeBasis)) {
	c := s.clone()
	c.explain = tell
	c.Starts(now, nil)
	c.eachWaiting(now, func(_ int, w, by *waiter) {
		tell(sched.SizeBasis{Job: w.id, Sizes: w.sizes, World: c.world, Head: by.id, HeadSizes: by.sizes, MinSize: w.least})
	})
}

// eachWaiting calls `tell` for each waiting job that fits the machine: first the jobs in queue order, then the
// ineligible jobs. `by` is the job whose factor applies to job w now.
func (s *state) eachWaiting(now core.Time, tell func(i int, w, by *waiter)) {
	s.world = s.load.World(now)
	slices.SortFunc(s.ineligible, func(a, b *waiter) int { return cmp.Compare(a.rank.seq, b.rank.seq) })
	var head *waiter
	for i, w := range append(s.queue, s.ineligible...) {
		if w.sizes == nil || w.sizes.Steps[0].Nodes > s.machine.Nodes {
			continue
		}
		if head == nil {
			head = w
		}
		tell(i, w, s.factorJob(w, head))
	}
}

// planWaiting adds the waiting jobs to a plan.
func (s *state) planWaiting(now core.Time, plan *core.Plan) {
	var (
		view    = s.view(now)
		chooser moldable.Chooser
		factor  float64
		whose   *waiter // the job to which factor belongs
	)
	s.eachWaiting(now, func(i int, w, by *waiter) {
		if by != whose {
			factor, whose = s.load.Sizing.Factor(s.world, by.sizes), by
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
