package sched

import (
	"slices"
	"sort"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/moldable"
	"accordion/core/profile"
	"accordion/core/sizing"
)

// Repeated is repeated back-filling: the scheduling algorithm of RR-7389, Figure 5, for rigid, moldable and evolving jobs
// alike. The queue is taken in its order, and each job gets its earliest completion in the view that those before it
// leave: what runs, with its promises, and what was planned so far. Of several choices that complete together it takes
// the one with the fewest nodes (at its peak), then the one named first.
//
// A waiting job has no guarantee of its start: whenever something changes, all is planned again, and a job may move
// back when one before it gained. But nothing submitted later delays or expands it, and what has started keeps its
// promise.
//
// Jobs with a guard (core.Job) keep their order among each other. One without begins where it is out of their way whether
// or not they, and those before them, use their guards; with its margin, too, it is in the way of none of them by itself.
//
// With a Sizing a moldable job gets its earliest completion over the sizes from its floor to its target. The targets are made
// anew, and with them the plan, when somebody was submitted, began or ended, and never by the clock alone.
//
// The zero value never expands a step and improves nothing.
type Repeated struct {
	Limit      ep.Limit      // how many times its duration a step may last
	Compact    bool          // start as late as the completion allows, where a step would wait
	LeastWaste bool          // wait where it wastes least (ep.Fitter.LeastWaste); goes before Compact
	Order      Order         // of the queue: in another than FirstCome a job that ranks before others delays them
	Sizing     sizing.Sizing // the sizes of moldable jobs; nil: all that they list
}

// algorithm is how one job is placed.
func (r Repeated) algorithm() ep.Algorithm {
	return ep.Algorithm{Limit: r.Limit, Compact: r.Compact, LeastWaste: r.LeastWaste}
}

var (
	_ Policy   = Repeated{}
	_ Promiser = (*repeated)(nil)
)

// New is the state of a machine without jobs. A node count below 0 is 0.
//
// A running job counts as free from the end of its promise on, whether or not End was called yet. Where what runs
// exceeds the machine (nodes were lost), nothing is free. An allocation that lay in the future when Running told of it
// is somebody else's: Starts does not report it. The EPs in plans share memory with the jobs' choices: read only.
func (r Repeated) New(m core.Machine) State {
	s := &repeated{
		policy: r, machine: m, chooser: moldable.Chooser{Algorithm: r.algorithm()},
		running: running{since: -core.Forever, asOf: -core.Forever},
	}
	if r.Sizing != nil {
		s.crowd = NewSystemLoad(m, r.Sizing, sizing.HalfReference)
	}
	return s
}

// repeated is the state of Repeated. A plan is kept until something changes it. Invariant: view is nil (the plan is out
// of date), or slots are the places of the first len(slots) jobs of the queue, view is the occupation of what runs
// and of these, and no other of the first seen jobs begins before later.
type repeated struct {
	policy  Repeated
	machine core.Machine
	queue   []asks
	odd     int       // of these
	begin   core.Time // none of them has to wait for a later instant
	running running

	view    *profile.Profile
	slots   []slot
	seen    int
	later   core.Time
	asOf    core.Time     // when view was begun
	front   profile.Front // of view, where nobody has a guard
	memory  *profile.Profile
	chooser moldable.Chooser

	outlook *outlook // beside view, once a job had a guard; nil until then

	crowd *SystemLoad   // nil without a sizing
	world *sizing.World // as crowd was when view was begun
}

// slot is the place of a waiting job in the plan.
type slot struct {
	core.Planned
	ok bool // it has one
}

// Submit implements State. A job without choices, or of which no choice fits the machine, waits and is in no plan.
func (s *repeated) Submit(now core.Time, j core.Job) {
	if s.crowd != nil {
		s.crowd.Submit(now, j)
		s.view = nil
	}
	s.guard(j.Guard)
	a := asked(j)
	s.odd, s.begin = s.odd+a.odd, max(s.begin, j.Begin)
	if s.policy.Order == FirstCome {
		s.queue = append(s.queue, a)
		return
	}
	key := s.policy.Order.Key(length(j))
	i := sort.Search(len(s.queue), func(i int) bool { return s.policy.Order.Key(length(s.queue[i].Job)) > key })
	s.queue = slices.Insert(s.queue, i, a)
	if i < s.seen {
		s.view = nil
	}
}

// Running implements State. It replaces what was known of the job, running or waiting.
func (s *repeated) Running(now core.Time, a core.Allocation) {
	r := Told(now, a)
	s.forget(a.Job)
	s.guard(a.Guard)
	s.running.begin(r)
	if s.crowd != nil {
		s.crowd.Running(now, a)
	}
	s.view = nil
}

// End implements State. It is nothing when the job is unknown.
func (s *repeated) End(now core.Time, id core.JobID) {
	if s.crowd != nil {
		s.crowd.End(now, id)
		s.view = nil
	}
	// A job that ends as promised has left the view already.
	if i := s.running.find(id); i >= 0 && s.running.all[i].Allocation.End() <= now {
		s.running.end(i)
		return
	}
	s.forget(id)
}

// forget takes a job out, with its place in the plan.
func (s *repeated) forget(id core.JobID) {
	if i := s.running.find(id); i >= 0 {
		s.running.end(i)
		s.view = nil
	}
	if i := slices.IndexFunc(s.queue, func(a asks) bool { return a.ID == id }); i >= 0 {
		s.odd -= s.queue[i].odd
		s.queue = slices.Delete(s.queue, i, i+1)
		if i < s.seen {
			s.view = nil
		}
	}
}

// Nodes implements State.
func (s *repeated) Nodes(_ core.Time, m core.Machine) {
	s.machine = m
	if s.crowd != nil {
		s.crowd.Nodes(m)
	}
	s.view = nil
}

// Starts implements State. Shrinks come first, then growths, then what begins, in the order of the queue. When it was not
// called at the instant of a change, the change is reported late, at the size of this instant.
func (s *repeated) Starts(now core.Time, into []core.Start) []core.Start {
	into = s.running.resize(now, into)
	s.planStarts(now)
	for i := range s.slots {
		if p := &s.slots[i]; p.ok && p.Start <= now {
			r := changingFrom(p.Allocation)
			s.running.begin(r)
			into = append(into, core.Start{Job: p.Job, Choice: p.Choice, Nodes: r.Size(), Begins: true})
			s.begins(now, p)
		}
	}
	s.leave(now)
	s.later = s.running.next(now)
	return into
}

// leave takes those out of the queue that have begun. The view stays: they occupy what they were planned to.
func (s *repeated) leave(now core.Time) {
	kept := 0
	for i := range s.slots {
		if s.slots[i].ok && s.slots[i].Start <= now {
			if s.outlook != nil { // what it was to keep free before is over
				s.view = nil
			}
			s.odd -= s.queue[i].odd
			continue
		}
		s.slots[kept], s.queue[kept] = s.slots[i], s.queue[i]
		kept++
	}
	s.queue = slices.Delete(s.queue, kept, len(s.slots))
	s.slots, s.seen = s.slots[:kept], len(s.queue)
}

// Next implements State.
func (s *repeated) Next(now core.Time) core.Time {
	next := s.running.next(now)
	for i := range s.slots {
		if p := &s.slots[i]; p.ok && p.Start > now {
			next = min(next, p.Start)
		}
	}
	return next
}

// Promise implements Promiser.
func (s *repeated) Promise(id core.JobID) (core.Allocation, bool) {
	if i := s.running.find(id); i >= 0 {
		return s.running.all[i].Allocation, true
	}
	return core.Allocation{}, false
}

// Plan implements State: everything that waits and fits the machine has a place.
func (s *repeated) Plan(now core.Time) core.Plan {
	s.plan(now)
	var plan core.Plan
	if len(s.slots) > 0 {
		plan.Jobs = make([]core.Planned, 0, len(s.slots))
	}
	for i := range s.slots {
		if s.slots[i].ok {
			plan.Jobs = append(plan.Jobs, s.slots[i].Planned)
		}
	}
	return plan
}

// Clone implements State.
func (s *repeated) Clone() State {
	s.complete()
	c := &repeated{
		policy:  s.policy,
		machine: s.machine,
		queue:   slices.Clone(s.queue),
		running: s.running.clone(),
		odd:     s.odd,
		begin:   s.begin,
		slots:   slices.Clone(s.slots),
		seen:    s.seen,
		later:   s.later,
		asOf:    s.asOf,
		outlook: s.outlook.Clone(),
		chooser: moldable.Chooser{Algorithm: s.chooser.Algorithm},
	}
	if s.crowd != nil {
		c.crowd = s.crowd.Clone()
	}
	if s.view != nil {
		c.view = s.view.Clone()
		c.memory = c.view
	}
	return c
}

// plan gives every waiting job its place. What is planned already stays: jobs submitted since come after it, and a
// plan made earlier is still the best as long as none of its starts was missed.
func (s *repeated) plan(now core.Time) {
	s.complete()
	s.keep(now)
	s.give(now, len(s.queue))
	s.seen = len(s.queue)
}

// keep renews a plan that is out of date.
func (s *repeated) keep(now core.Time) {
	missed := func(p slot) bool { return p.ok && p.Start < now }
	if s.view == nil || now < s.asOf || slices.ContainsFunc(s.slots, missed) {
		s.renew(now)
	}
	s.front.Since(now)
}

// give gives so many jobs their places, not before an instant.
func (s *repeated) give(now core.Time, jobs int) {
	for i := len(s.slots); i < jobs; i++ {
		j := s.queue[i].Job
		p, ok := s.place(now, j)
		if ok {
			s.outlook.Occupy(s.view, &p, max(now, j.Begin))
		}
		s.slots = append(s.slots, slot{p, ok})
	}
}

// renew begins a new plan: the view of what runs.
func (s *repeated) renew(now core.Time) {
	if s.memory == nil {
		s.memory = new(profile.Profile)
	}
	s.running.occupy(s.memory, s.machine.Nodes, now)
	s.view, s.asOf = s.memory, now
	s.front.Forget(now)
	if s.crowd != nil {
		s.world = s.crowd.World(now)
	}
	s.slots, s.seen = slices.Grow(s.slots[:0], len(s.queue)), 0
	if s.outlook != nil {
		s.outlook.Renew(now, s.view, asAllocations(s.running.all))
	}
}

// guard notes that a job has one.
func (s *repeated) guard(g core.Time) {
	if g > 0 && s.outlook == nil {
		s.outlook, s.view = new(outlook), nil
	}
}

// fit is a job's earliest completion.
func (s *repeated) fit(now core.Time, j core.Job) (core.Planned, bool) {
	if s.outlook == nil {
		return s.chooser.BestBehind(&s.front, s.view, now, j)
	}
	return s.outlook.Best(&s.chooser, s.view, now, j)
}
