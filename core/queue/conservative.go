package queue

import (
	"slices"
	"sort"

	"accordion/core"
	"accordion/core/evolve"
	"accordion/core/profile"
)

// Conservative is conservative back-filling: each job gets its place when it is submitted, the one with the earliest
// completion beside what runs and all that wait, and this is a promise. Whenever nodes are given back before their time the
// waiting jobs are gone through once, in the order of the queue: each is lifted out while all others stay, and has the
// earliest place from then on, or its old one where that does not complete later.
//
// With an algorithm it places evolving jobs as their profiles say; of several choices that complete together a job has the
// one with the fewest nodes (at its peak), then the one named first. The zero value never expands a step. A guard
// (core.Job) is kept free for its job to the end.
type Conservative struct {
	Algorithm evolve.Algorithm
	Order     Order // in which the waiting jobs are gone through
}

var (
	_ Policy   = Conservative{}
	_ Promiser = (*conservative)(nil)
)

// New is the state of a machine without jobs. A node count below 0 is 0.
//
// A running job counts as free from the end of its promise on, whether or not End was called yet. What is told by Running
// is taken as it is, and the waiting jobs then all have new places, in their order. A job that fits nowhere waits and is in
// no plan.
func (p Conservative) New(m core.Machine) State {
	s := &conservative{policy: p, machine: m, view: profile.New(m.Nodes)}
	s.placer.algorithm = p.Algorithm
	if p.Algorithm.Rigid {
		s.placer.algorithm = evolve.Algorithm{}
	}
	return s
}

// conservative is the state of Conservative. Unless stale, view is the occupation of what runs and of the places of all
// that wait.
type conservative struct {
	policy  Conservative
	machine core.Machine
	placer  placer
	view    *profile.Profile
	asOf    core.Time

	waiting  []reserved // in the order of the queue
	came     uint32
	due      core.Time // the earliest start of those that wait, or earlier
	held     table[core.Allocation]
	changing []running // those that run whose size changes

	stale bool // all must be placed anew
	freed bool // nodes were given back since the waiting jobs were gone through
}

// reserved is a waiting job with its place; its end is Forever when it has none.
type reserved struct {
	core.Planned
	end  core.Time
	came uint32
	job  core.Job
}

// Submit implements State.
func (s *conservative) Submit(now core.Time, j core.Job) {
	if s.policy.Algorithm.Rigid {
		j.Choices = rectangles(j.Choices)
	}
	s.settle(now)
	r := reserved{job: j, came: s.came, end: core.Forever}
	s.came++
	s.place(now, &r)
	key := s.policy.Order.key(length(j))
	i := len(s.waiting)
	if s.policy.Order != FirstCome {
		i = sort.Search(len(s.waiting), func(i int) bool { return s.policy.Order.key(length(s.waiting[i].job)) > key })
	}
	s.waiting = slices.Insert(s.waiting, i, r)
}

// rectangles are profiles as the rigid baseline sees them: the peak for the total duration.
func rectangles(choices []core.EP) []core.EP {
	if !slices.ContainsFunc(choices, func(ep core.EP) bool { return len(ep) > 1 }) {
		return choices
	}
	all := make([]core.EP, len(choices))
	for i, ep := range choices {
		if all[i] = ep; runnable(ep) {
			all[i] = core.EP{{Duration: ep.Total(), Nodes: ep.Peak()}}
		}
	}
	return all
}

// place gives a job that has none a place.
func (s *conservative) place(now core.Time, r *reserved) {
	if p, ok := s.placer.best(s.view, now, r.job); ok {
		r.Planned, r.end = p, p.End()
		s.view.Add(p.Start, p.EP)
		s.due = min(s.due, p.Start)
	}
}

// Running implements State. It replaces what was known of the job, running or waiting.
func (s *conservative) Running(now core.Time, a core.Allocation) {
	s.End(now, a.Job)
	s.run(running{Allocation: a, foreign: a.Start > now, told: a.EP.At(now - a.Start)})
	s.stale = true
}

// run enters a job that runs.
func (s *conservative) run(r running) {
	s.held.set(r.Job, r.Allocation)
	if len(r.EP) > 1 {
		s.changing = append(s.changing, r)
	}
}

// End implements State. It is nothing when the job is unknown.
func (s *conservative) End(now core.Time, id core.JobID) {
	if a, runs := s.held.take(id); runs {
		if len(a.EP) > 1 {
			s.changing = slices.DeleteFunc(s.changing, func(r running) bool { return r.Job == id })
		}
		s.free(now, a)
		return
	}
	if i := slices.IndexFunc(s.waiting, func(r reserved) bool { return r.job.ID == id }); i >= 0 {
		if r := &s.waiting[i]; r.end < core.Forever {
			s.free(now, r.Allocation)
		}
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// free gives back what is left of a place.
func (s *conservative) free(now core.Time, a core.Allocation) {
	at := a.Start
	for _, step := range a.EP {
		end := at + step.Duration
		if begin := max(at, now); begin < end && !s.stale {
			s.view.Remove(begin, core.EP{{Duration: end - begin, Nodes: step.Nodes}})
			s.freed = true
		}
		at = end
	}
}

// Nodes implements State. All that wait have new places.
func (s *conservative) Nodes(_ core.Time, m core.Machine) {
	s.machine, s.stale = m, true
}

// Starts implements State. Shrinks come first, then growths, then what begins, in the order of the queue.
func (s *conservative) Starts(now core.Time, into []core.Start) []core.Start {
	into = resize(s.changing, now, into)
	s.settle(now)
	if s.due > now {
		return into
	}
	kept := s.waiting[:0]
	s.due = core.Forever
	for i := range s.waiting {
		r := &s.waiting[i]
		if r.end < core.Forever && r.Start <= now {
			nodes := r.EP.At(0)
			into = append(into, core.Start{Job: r.Job, Choice: r.Choice, Nodes: nodes, Begins: true})
			s.run(running{Allocation: r.Allocation, told: nodes})
			continue
		}
		if r.end < core.Forever {
			s.due = min(s.due, r.Start)
		}
		kept = append(kept, *r)
	}
	clear(s.waiting[len(kept):])
	s.waiting = kept
	return into
}

// settle makes all places right for an instant.
func (s *conservative) settle(now core.Time) {
	switch {
	case s.stale || now < s.asOf || s.due < now && s.missed(now):
		s.renew(now)
	case s.freed:
		s.sweep(now)
	}
	s.asOf, s.stale, s.freed = now, false, false
}

// missed says whether a start was.
func (s *conservative) missed(now core.Time) bool {
	return slices.ContainsFunc(s.waiting, func(r reserved) bool { return r.end < core.Forever && r.Start < now })
}

// renew places all that wait anew, beside what runs.
func (s *conservative) renew(now core.Time) {
	s.view.CopyFrom(profile.New(s.machine.Nodes))
	s.held.each(func(a core.Allocation) {
		if a.End() > now {
			s.view.Add(a.Start, a.EP)
		}
	})
	s.due = core.Forever
	for i := range s.waiting {
		r := &s.waiting[i]
		r.end = core.Forever
		s.place(now, r)
	}
}

// sweep goes through the waiting jobs once.
func (s *conservative) sweep(now core.Time) {
	for i := range s.waiting {
		r := &s.waiting[i]
		placed := r.end < core.Forever
		if placed {
			s.view.Remove(r.Start, r.EP)
		}
		p, ok := s.placer.best(s.view, now, r.job)
		if ok && p.End() < r.end {
			r.Planned, r.end, placed = p, p.End(), true
			s.due = min(s.due, p.Start)
		}
		if placed {
			s.view.Add(r.Start, r.EP)
		}
	}
}

// Next implements State.
func (s *conservative) Next(now core.Time) core.Time {
	next := core.Forever
	if s.due > now {
		next = s.due
	} else {
		for i := range s.waiting {
			if r := &s.waiting[i]; r.end < core.Forever && r.Start > now {
				next = min(next, r.Start)
			}
		}
	}
	for i := range s.changing {
		next = min(next, s.changing[i].next(now))
	}
	return next
}

// Promise implements Promiser.
func (s *conservative) Promise(id core.JobID) (core.Allocation, bool) { return s.held.get(id) }

// Plan implements State: everything that waits and fits the machine has a place.
func (s *conservative) Plan(now core.Time) core.Plan {
	s.settle(now)
	var plan core.Plan
	for i := range s.waiting {
		if r := &s.waiting[i]; r.end < core.Forever {
			plan.Jobs = append(plan.Jobs, r.Planned)
		}
	}
	return plan
}

// Clone implements State.
func (s *conservative) Clone() State {
	c := *s
	c.placer = placer{algorithm: s.placer.algorithm}
	c.view = s.view.Clone()
	c.waiting, c.changing = slices.Clone(s.waiting), slices.Clone(s.changing)
	c.held = s.held.clone()
	return &c
}
