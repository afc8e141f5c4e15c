package sched_test

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/sched"
)

// backfiller is a second implementation of a policy, on arrays of seconds.
type backfiller interface {
	submit(now core.Time, j core.Job)
	end(now core.Time, id core.JobID)
	starts(now core.Time) []core.JobID
	plan() []core.Planned // of waiting jobs
}

// crowd holds what both implementations know: the running jobs, as promised, and the waiting jobs in queue order.
type crowd struct {
	nodes   int
	order   sched.Order
	running []core.Allocation
	waiting []waiter
}

// waiter is a waiting job. Its completion is Forever while it has no place.
type waiter struct {
	job   core.Job
	place core.Planned
	end   core.Time
}

// insert adds a job to the queue.
func (c *crowd) insert(w waiter) {
	c.waiting = append(c.waiting, w)
	slices.SortStableFunc(c.waiting, func(a, b waiter) int {
		switch c.order {
		case sched.ShortestFirst:
			return cmp.Compare(shortest(a.job), shortest(b.job))
		case sched.LongestFirst:
			return cmp.Compare(shortest(b.job), shortest(a.job))
		}
		return 0
	})
}

func shortest(j core.Job) core.Time {
	least := core.Forever
	for _, ep := range j.Choices {
		least = min(least, ep.Total())
	}
	return least
}

// take removes a running or waiting job.
func (c *crowd) take(id core.JobID) (a core.Allocation, ok bool) {
	c.waiting = slices.DeleteFunc(c.waiting, func(w waiter) bool {
		if w.job.ID == id {
			a, ok = w.place.Allocation, w.end < core.Forever
		}
		return w.job.ID == id
	})
	c.running = slices.DeleteFunc(c.running, func(r core.Allocation) bool {
		if r.Job == id {
			a, ok = r, true
		}
		return r.Job == id
	})
	return a, ok
}

// plainConservative implements the rule of models.md, word by word.
type plainConservative struct {
	crowd
	algorithm ep.Algorithm
}

// seconds returns the occupation by all jobs except the waiting job `but`.
func (c *plainConservative) seconds(but core.JobID) *dumb {
	d := newDumb(c.nodes, c.running...)
	for _, w := range c.waiting {
		if w.job.ID != but && w.end < core.Forever {
			d.Add(w.place.Allocation)
		}
	}
	return d
}

// best returns a job's earliest completion.
func (c *plainConservative) best(now core.Time, j core.Job) (best core.Planned, end core.Time) {
	d, end := c.seconds(j.ID), core.Forever
	for i, ep := range j.Choices {
		if c.algorithm.Rigid {
			ep = core.EP{{Duration: ep.Total(), Nodes: ep.Peak()}}
		}
		from := max(now, j.Begin)
		start, scheduled, ok := d.Fit(ep, c.algorithm.Limit, from, false, c.algorithm.Compact)
		if !ok {
			continue
		}
		if c.algorithm.LeastWaste && !c.algorithm.Rigid {
			start, scheduled = d.Least(ep, c.algorithm.Limit, from, start+scheduled.Total())
		}
		p := core.Planned{Allocation: core.Allocation{Job: j.ID, Start: start, EP: scheduled}, Choice: i}
		if p.End() < end || p.End() == end && ep.Peak() < best.EP.Peak() {
			best, end = p, p.End()
		}
	}
	return best, end
}

func (c *plainConservative) submit(now core.Time, j core.Job) {
	w := waiter{job: j}
	w.place, w.end = c.best(now, j)
	c.insert(w)
}

func (c *plainConservative) end(now core.Time, id core.JobID) {
	a, ok := c.take(id)
	if !ok || a.End() <= now {
		return
	}
	for i := range c.waiting {
		w := &c.waiting[i]
		if place, end := c.best(now, w.job); end < w.end {
			w.place, w.end = place, end
		}
	}
}

func (c *plainConservative) starts(now core.Time) (all []core.JobID) {
	c.waiting = slices.DeleteFunc(c.waiting, func(w waiter) bool {
		due := w.end < core.Forever && w.place.Start <= now
		if due {
			all = append(all, w.job.ID)
			c.running = append(c.running, w.place.Allocation)
		}
		return due
	})
	return all
}

func (c *plainConservative) plan() (all []core.Planned) {
	for _, w := range c.waiting {
		if w.end < core.Forever {
			all = append(all, w.place)
		}
	}
	return all
}

// plainEASY is EASY on arrays of seconds. The head gets the earliest place that the running jobs leave, by requested times. All
// other jobs start if they fit without moving the head's place. Without back-filling the policy is first come, first served.
type plainEASY struct {
	crowd
	backfills bool
}

func (c *plainEASY) submit(_ core.Time, j core.Job) { c.insert(waiter{job: j}) }

func (c *plainEASY) end(_ core.Time, id core.JobID) { c.take(id) }

func (c *plainEASY) plan() []core.Planned { return nil }

func (c *plainEASY) starts(now core.Time) (all []core.JobID) {
	d, head := newDumb(c.nodes, c.running...), true
	for _, w := range slices.Clone(c.waiting) {
		rigid := core.EP{{Duration: w.job.Choices[0].Total(), Nodes: w.job.Choices[0].Peak()}}
		at := now
		for at < horizon && !d.Free(rigid[0].Nodes, at, at+rigid[0].Duration) {
			at++
		}
		place := core.Allocation{Job: w.job.ID, Start: at, EP: rigid}
		switch {
		case w.job.Begin > now || rigid.Peak() > c.nodes: // the job is not in the queue
		case at == now:
			d.Add(place)
			c.take(w.job.ID)
			c.running = append(c.running, place)
			all = append(all, w.job.ID)
		case !c.backfills:
			return all
		case head:
			d.Add(place)
			head = false
		}
	}
	return all
}

// ruledEASY is EASY as defined in models.md: shadow time and extra nodes. It ignores jobs with a later Begin.
type ruledEASY struct{ plainEASY }

func (c *ruledEASY) starts(now core.Time) (all []core.JobID) {
	free := func() int {
		n := c.nodes
		for _, r := range c.running {
			if r.End() > now {
				n -= r.EP[0].Nodes
			}
		}
		return n
	}
	start := func(i int) {
		w := c.waiting[i]
		rigid := core.EP{{Duration: w.job.Choices[0].Total(), Nodes: w.job.Choices[0].Peak()}}
		c.take(w.job.ID)
		c.running = append(c.running, core.Allocation{Job: w.job.ID, Start: now, EP: rigid})
		all = append(all, w.job.ID)
	}
	nodes := func(i int) int { return c.waiting[i].job.Choices[0].Peak() }
	for len(c.waiting) > 0 && nodes(0) <= free() {
		start(0)
	}
	if len(c.waiting) == 0 {
		return all
	}
	shadow, extra := core.Forever, 0
	for _, r := range c.running {
		left := free()
		for _, other := range c.running {
			if other.End() > now && other.End() <= r.End() {
				left += other.EP[0].Nodes
			}
		}
		if r.End() > now && left >= nodes(0) && r.End() < shadow {
			shadow, extra = r.End(), left-nodes(0)
		}
	}
	for i := 1; i < len(c.waiting); i++ {
		ends := now + c.waiting[i].job.Choices[0].Total()
		if nodes(i) > free() || ends > shadow && nodes(i) > extra {
			continue
		}
		if ends > shadow {
			extra -= nodes(i)
		}
		start(i)
		i--
	}
	return all
}
