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

// Repeated is repeated back-filling: the scheduling algorithm of RR-7389, Figure 5, for rigid, moldable and
// evolving jobs alike. It goes through the queue in order. Each job gets its earliest completion on the nodes
// that the running jobs, with their promises, and the jobs planned so far leave free. Among choices that
// complete together a job gets the one with the lowest peak of nodes, then the one listed first.
//
// A waiting job's start is not guaranteed. Whenever something changes, everything is planned again, and a job may be planned
// later because an earlier job starts sooner. But no later submission delays or expands a job, and a job that has started keeps
// its promise.
//
// Jobs with a guard (core.Job) keep their order among each other. A job without a guard starts only if neither it nor its margin
// delays an earlier job with a guard, whether or not guards are used.
//
// With a Sizing a moldable job gets its earliest completion over the sizes from its floor to its target. The targets
// and the plan are computed again when a job was submitted, started or ended, but not because time passes.
//
// The zero value never expands a step and improves nothing.
type Repeated struct {
	Limit      ep.Limit      // expansion limit of steps
	Compact    bool          // if a step would wait, start the job as late as its completion allows
	LeastWaste bool          // choose the schedule that wastes least (ep.Fitter.LeastWaste); takes precedence over Compact
	Order      Order         // order of the queue; with an order other than FirstCome a job delays earlier jobs that rank after it
	Sizing     sizing.Sizing // the rule for the sizes of moldable jobs; nil permits all sizes that they list
}

// algorithm returns how one job is placed.
func (r Repeated) algorithm() ep.Algorithm {
	return ep.Algorithm{Limit: r.Limit, Compact: r.Compact, LeastWaste: r.LeastWaste}
}

var (
	_ Policy   = Repeated{}
	_ Promiser = (*repeated)(nil)
)

// New returns the state of a machine without jobs. A negative node count counts as 0.
//
// A running job's nodes count as free from the end of its promise on, whether or not End was called. If running jobs
// exceed the machine because nodes were lost, no node is free. Starts does not report an allocation that begins after
// the Running call that added it. The EPs in plans share memory with the jobs' choices and are read only.
func (r Repeated) New(m core.Machine) State {
	s := &repeated{
		policy: r, machine: m, chooser: moldable.Chooser{Algorithm: r.algorithm()},
		running: runningJobs{since: -core.Forever, asOf: -core.Forever},
	}
	if r.Sizing != nil {
		s.load = NewSystemLoad(m, r.Sizing, sizing.HalfReference)
	}
	return s
}

// repeated is the state of Repeated. It keeps a plan until something changes it. Invariant: if the plan is out
// of date, `view` is nil. Otherwise `slots` are the places of the first len(slots) jobs of the queue, and
// `view` is the occupation by the running jobs and these places. Those of the first `seen` jobs that have no
// slot do not start before time `later`.
type repeated struct {
	policy    Repeated
	machine   core.Machine
	queue     []queued
	multiStep int       // number of jobs in queue with a choice of several steps
	begin     core.Time // no job in queue has a later Begin
	running   runningJobs

	view    *profile.Profile
	slots   []slot
	seen    int
	later   core.Time
	asOf    core.Time     // when view was built
	front   profile.Front // results of searches in view; used while no job has a guard
	memory  *profile.Profile
	chooser moldable.Chooser

	guards *guardView // nil until a job has a guard

	load  *SystemLoad   // nil without a sizing
	world *sizing.World // load when view was built
}

// slot is the place of a waiting job in the plan.
type slot struct {
	core.Planned
	ok bool // the job has a place
}

// Submit implements State. A job without choices, or of which no choice fits the machine, waits and is in no plan.
func (s *repeated) Submit(now core.Time, j core.Job) {
	if s.load != nil {
		s.load.Submit(now, j)
		s.view = nil
	}
	s.guard(j.Guard)
	a := newQueued(j)
	s.multiStep, s.begin = s.multiStep+a.multiStep, max(s.begin, j.Begin)
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

// Running implements State. It replaces what is known of the job, running or waiting.
func (s *repeated) Running(now core.Time, a core.Allocation) {
	r := NewActive(now, a)
	s.forget(a.Job)
	s.guard(a.Guard)
	s.running.begin(r)
	if s.load != nil {
		s.load.Running(now, a)
	}
	s.view = nil
}

// End implements State. It ignores an unknown job.
func (s *repeated) End(now core.Time, id core.JobID) {
	if s.load != nil {
		s.load.End(now, id)
		s.view = nil
	}
	// A job that ends as promised no longer occupies the view.
	if i := s.running.find(id); i >= 0 && s.running.all[i].Allocation.End() <= now {
		s.running.end(i)
		return
	}
	s.forget(id)
}

// forget removes a job and its place in the plan.
func (s *repeated) forget(id core.JobID) {
	if i := s.running.find(id); i >= 0 {
		s.running.end(i)
		s.view = nil
	}
	if i := slices.IndexFunc(s.queue, func(a queued) bool { return a.ID == id }); i >= 0 {
		s.multiStep -= s.queue[i].multiStep
		s.queue = slices.Delete(s.queue, i, i+1)
		if i < s.seen {
			s.view = nil
		}
	}
}

// Nodes implements State.
func (s *repeated) Nodes(_ core.Time, m core.Machine) {
	s.machine = m
	if s.load != nil {
		s.load.Nodes(m)
	}
	s.view = nil
}

// Starts implements State. It reports shrinks first, then growths, then starts in queue order. If it was not called
// at the time of a change, it reports the change late, with the present size.
func (s *repeated) Starts(now core.Time, into []core.Start) []core.Start {
	into = s.running.resize(now, into)
	s.planStarts(now)
	for i := range s.slots {
		if p := &s.slots[i]; p.ok && p.Start <= now {
			r := activeFrom(p.Allocation)
			s.running.begin(r)
			into = append(into, core.Start{Job: p.Job, Choice: p.Choice, Nodes: r.Size(), Begins: true})
			s.started(now, p)
		}
	}
	s.removeStarted(now)
	s.later = s.running.next(now)
	return into
}

// removeStarted removes the jobs that have started from the queue. The view does not change, because these jobs occupy their
// planned places.
func (s *repeated) removeStarted(now core.Time) {
	kept := 0
	for i := range s.slots {
		if s.slots[i].ok && s.slots[i].Start <= now {
			if s.guards != nil { // the time that guards kept free before the start has passed
				s.view = nil
			}
			s.multiStep -= s.queue[i].multiStep
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

// Plan implements State. Every waiting job that fits the machine has a place.
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
		policy:    s.policy,
		machine:   s.machine,
		queue:     slices.Clone(s.queue),
		running:   s.running.clone(),
		multiStep: s.multiStep,
		begin:     s.begin,
		slots:     slices.Clone(s.slots),
		seen:      s.seen,
		later:     s.later,
		asOf:      s.asOf,
		guards:    s.guards.Clone(),
		chooser:   moldable.Chooser{Algorithm: s.chooser.Algorithm},
	}
	if s.load != nil {
		c.load = s.load.Clone()
	}
	if s.view != nil {
		c.view = s.view.Clone()
		c.memory = c.view
	}
	return c
}

// plan gives every waiting job its place. Places in an earlier plan stay: jobs submitted since come after them. An
// earlier plan is still the best as long as none of its starts was missed.
func (s *repeated) plan(now core.Time) {
	s.complete()
	s.refresh(now)
	s.assign(now, len(s.queue))
	s.seen = len(s.queue)
}

// refresh renews a plan that is out of date.
func (s *repeated) refresh(now core.Time) {
	missed := func(p slot) bool { return p.ok && p.Start < now }
	if s.view == nil || now < s.asOf || slices.ContainsFunc(s.slots, missed) {
		s.renew(now)
	}
	s.front.Since(now)
}

// assign gives the first jobs of the queue places that begin at now or later.
func (s *repeated) assign(now core.Time, jobs int) {
	for i := len(s.slots); i < jobs; i++ {
		j := s.queue[i].Job
		p, ok := s.place(now, j)
		if ok {
			s.guards.Occupy(s.view, &p, max(now, j.Begin))
		}
		s.slots = append(s.slots, slot{p, ok})
	}
}

// renew starts a new plan with the view of the running jobs.
func (s *repeated) renew(now core.Time) {
	if s.memory == nil {
		s.memory = new(profile.Profile)
	}
	s.running.occupy(s.memory, s.machine.Nodes, now)
	s.view, s.asOf = s.memory, now
	s.front.Forget(now)
	if s.load != nil {
		s.world = s.load.World(now)
	}
	s.slots, s.seen = slices.Grow(s.slots[:0], len(s.queue)), 0
	if s.guards != nil {
		s.guards.Renew(now, s.view, asAllocations(s.running.all))
	}
}

// guard records that a job has a guard.
func (s *repeated) guard(g core.Time) {
	if g > 0 && s.guards == nil {
		s.guards, s.view = new(guardView), nil
	}
}

// fit returns a job's earliest completion.
func (s *repeated) fit(now core.Time, j core.Job) (core.Planned, bool) {
	if s.guards == nil {
		return s.chooser.BestBehind(&s.front, s.view, now, j)
	}
	return s.guards.Best(&s.chooser, s.view, now, j)
}
