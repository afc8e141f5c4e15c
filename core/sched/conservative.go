package sched

import (
	"slices"
	"sort"

	"accordion/core"
	"accordion/core/ep"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// Conservative is conservative back-filling. Each job gets a place when it is submitted: the place that completes earliest
// without moving any running or waiting job. The place is a promise. When nodes are released early, the policy goes through
// the waiting jobs once, in queue order. It searches the earliest place from now on for each job while all other jobs keep
// theirs. The job keeps its old place if the new place does not complete earlier.
//
// With an algorithm the policy places evolving jobs as their profiles request. Among choices that complete
// together a job gets the one with the lowest peak of nodes, then the one listed first. The zero value never
// expands a step. The nodes of a job stay reserved during its guard (core.Job) until the job ends.
type Conservative struct {
	Algorithm ep.Algorithm
	Order     Order // the order in which waiting jobs are placed
}

var (
	_ Policy   = Conservative{}
	_ Promiser = (*conservative)(nil)
)

// New returns the state of a machine without jobs. A negative node count counts as 0.
//
// A running job's nodes are free from the end of its promise on, whether or not End was called. The state keeps
// an allocation that is passed to Running unchanged, even if the allocation exceeds the machine. All waiting
// jobs then get new places, in queue order. A job that never fits waits and is in no plan.
func (p Conservative) New(m core.Machine) State {
	s := &conservative{policy: p, machine: m, view: profile.New(m.Nodes), asOf: -core.Forever, due: core.Forever}
	s.memo.begin(nil)
	s.chooser.Algorithm = p.Algorithm
	if p.Algorithm.Rigid {
		s.chooser.Algorithm = ep.Algorithm{}
	}
	return s
}

// conservative is the state of Conservative. Unless `stale` is set, `view` is the occupation by the running
// jobs and by the places of all waiting jobs.
type conservative struct {
	policy  Conservative
	machine core.Machine
	chooser moldable.Chooser
	view    *profile.Profile
	asOf    core.Time

	waiting  []reserved // in the order of the queue
	due      core.Time  // no waiting job starts before this time
	places   jobTable[place]
	changing []Active // running jobs whose size changes
	memo     memo     // used by sweep

	stale bool // all jobs need new places
	freed bool // nodes were released since the last sweep
}

// reserved is a waiting job with its place. Most jobs are rectangles: one choice of one step.
type reserved struct {
	start  core.Time // start of the job's place; Forever if it has no place
	length core.Time // requested time, which determines the job's rank
	id     core.JobID
	nodes  int    // number of nodes of a rectangle
	shape  *shape // nil for a rectangle
	class  int32  // a rectangle's class in memo
	seen   uint64 // value of memo.changes when the rectangle was last known to have no earlier place
}

// shape is a waiting job that is not a rectangle, and its place.
type shape struct {
	job   core.Job
	place core.Planned
}

// place is what a job occupies from start to end: nodes, or its profile ep.
type place struct {
	start, end core.Time
	nodes      int
	ep         core.EP // nil for a rectangle
}

// Submit implements State.
func (s *conservative) Submit(now core.Time, j core.Job) {
	if s.policy.Algorithm.Rigid {
		j.Choices = rectangles(j.Choices)
	}
	s.settle(now)
	r := reserved{id: j.ID, length: length(j)}
	if isRectangle(j) {
		r.nodes = j.Choices[0][0].Nodes
	} else {
		r.shape = &shape{job: j}
	}
	s.place(now, &r)
	if r.shape == nil {
		s.memo.enter(&r)
	}
	if s.policy.Order == FirstCome {
		s.waiting = append(s.waiting, r)
		return
	}
	key := s.policy.Order.Key(r.length)
	i := sort.Search(len(s.waiting), func(i int) bool { return s.policy.Order.Key(s.waiting[i].length) > key })
	s.waiting = slices.Insert(s.waiting, i, r)
}

// isRectangle reports whether a job requests nothing but a number of nodes for a time.
func isRectangle(j core.Job) bool {
	if len(j.Choices) != 1 || len(j.Choices[0]) != 1 || j.Begin != 0 || j.Guard != 0 {
		return false
	}
	step := j.Choices[0][0]
	return step.Nodes > 0 && step.Duration > 0 && step.Duration < core.Forever
}

// rectangles returns the profiles as the rigid baseline treats them: the peak for the total duration.
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

// place gives a waiting job a place, if it fits at all.
func (s *conservative) place(now core.Time, r *reserved) {
	r.start = core.Forever
	if r.shape == nil {
		if at, ok := s.view.FirstFit(r.nodes, r.length, now); ok && at < core.Forever {
			r.start = at
			s.view.Change(at, at+r.length, r.nodes)
		}
	} else if p, ok := s.chooser.Best(s.view, now, r.shape.job); ok {
		r.shape.place, r.start = p, p.Start
		s.view.Add(p.Start, p.EP)
	}
	s.due = min(s.due, r.start)
}

// place returns what the waiting job will occupy.
func (r *reserved) place() place {
	if r.shape != nil {
		return place{start: r.start, end: r.shape.place.End(), ep: r.shape.place.EP}
	}
	return place{start: r.start, end: r.start + r.length, nodes: r.nodes}
}

// planned returns the waiting job's place in the form of a plan.
func (r *reserved) planned() core.Planned {
	if r.shape != nil {
		return r.shape.place
	}
	return rectangle(r.id, r.start, r.length, r.nodes)
}

// Running implements State. It replaces what is known of the job, running or waiting.
func (s *conservative) Running(now core.Time, a core.Allocation) {
	s.End(now, a.Job)
	s.places.Set(a.Job, place{start: a.Start, end: a.End(), ep: a.EP})
	if len(a.EP) > 1 {
		s.changing = append(s.changing, NewActive(now, a))
	}
	s.stale = true
}

// End implements State. It ignores an unknown job.
func (s *conservative) End(now core.Time, id core.JobID) {
	if p, runs := s.places.Take(id); runs {
		if len(p.ep) > 1 {
			s.changing = slices.DeleteFunc(s.changing, func(r Active) bool { return r.Job == id })
		}
		s.free(now, p)
		return
	}
	if i := slices.IndexFunc(s.waiting, func(r reserved) bool { return r.id == id }); i >= 0 {
		if r := &s.waiting[i]; r.shape == nil {
			s.memo.leave(r)
		}
		if r := &s.waiting[i]; r.start < core.Forever {
			s.free(now, r.place())
		}
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// free releases the part of a place from now on.
func (s *conservative) free(now core.Time, p place) {
	if p.end <= now || s.stale {
		return
	}
	s.freed = true
	if p.ep == nil {
		begin := max(p.start, now)
		s.view.Change(begin, p.end, -p.nodes)
		s.memo.freed(s.view, begin, p.end, p.nodes)
		return
	}
	at := p.start
	for _, step := range p.ep {
		end := at + step.Duration
		if begin := max(at, now); begin < end {
			s.view.Change(begin, end, -step.Nodes)
			s.memo.freed(s.view, begin, end, step.Nodes)
		}
		at = end
	}
}

// Nodes implements State. All waiting jobs get new places.
func (s *conservative) Nodes(_ core.Time, m core.Machine) {
	s.machine, s.stale = m, true
}

// Starts implements State. It reports shrinks first, then growths, then starts in queue order.
func (s *conservative) Starts(now core.Time, into []core.Start) []core.Start {
	if len(s.changing) > 0 {
		into = Resize(s.changing, now, into)
	}
	s.settle(now)
	if s.due > now {
		return into
	}
	kept, due := 0, core.Forever
	for i := range s.waiting {
		r := &s.waiting[i]
		if r.start <= now {
			into = append(into, s.begin(r))
			continue
		}
		due = min(due, r.start)
		if kept < i {
			s.waiting[kept] = *r
		}
		kept++
	}
	clear(s.waiting[kept:])
	s.waiting, s.due = s.waiting[:kept], due
	return into
}

// begin records that a waiting job starts in its place.
func (s *conservative) begin(r *reserved) core.Start {
	p := r.place()
	s.places.Set(r.id, p)
	if r.shape == nil {
		s.memo.leave(r)
		return core.Start{Job: r.id, Nodes: r.nodes, Begins: true}
	}
	nodes := p.ep.At(0)
	if len(p.ep) > 1 {
		s.changing = append(s.changing, activeFrom(r.shape.place.Allocation))
	}
	return core.Start{Job: r.id, Choice: r.shape.place.Choice, Nodes: nodes, Begins: true}
}

// settle updates all places for the given time.
func (s *conservative) settle(now core.Time) {
	switch {
	case s.stale || now < s.asOf || s.due < now && s.missed(now):
		s.renew(now)
	case s.freed:
		s.sweep(now)
	}
	s.asOf, s.stale, s.freed = now, false, false
	s.view.Forget(now)
}

// missed reports whether a job should have started before now.
func (s *conservative) missed(now core.Time) bool {
	return slices.ContainsFunc(s.waiting, func(r reserved) bool { return r.start < now })
}

// renew gives all waiting jobs new places, in queue order, around the running jobs.
func (s *conservative) renew(now core.Time) {
	s.view.Clear(s.machine.Nodes)
	s.places.Each(func(p place) {
		switch {
		case p.end <= now:
		case p.ep == nil:
			s.view.Change(p.start, p.end, p.nodes)
		default:
			s.view.Add(p.start, p.ep)
		}
	})
	s.due = core.Forever
	s.memo.renew()
	for i := range s.waiting {
		r := &s.waiting[i]
		if s.place(now, r); r.shape == nil {
			s.memo.placed(r)
		}
	}
}

// Next implements State.
func (s *conservative) Next(now core.Time) core.Time {
	next := s.due
	if next <= now {
		next = core.Forever
		for i := range s.waiting {
			if at := s.waiting[i].start; at > now {
				next = min(next, at)
			}
		}
	}
	for i := range s.changing {
		next = min(next, s.changing[i].Next(now))
	}
	return next
}

// Promise implements Promiser.
func (s *conservative) Promise(id core.JobID) (core.Allocation, bool) {
	p, runs := s.places.Get(id)
	if runs && p.ep == nil {
		return rectangle(id, p.start, p.end-p.start, p.nodes).Allocation, true
	}
	return core.Allocation{Job: id, Start: p.start, EP: p.ep}, runs
}

// Plan implements State. Every waiting job that fits the machine has a place.
func (s *conservative) Plan(now core.Time) core.Plan {
	s.settle(now)
	var plan core.Plan
	for i := range s.waiting {
		if r := &s.waiting[i]; r.start < core.Forever {
			plan.Jobs = append(plan.Jobs, r.planned())
		}
	}
	return plan
}

// Clone implements State.
func (s *conservative) Clone() State {
	c := *s
	c.chooser, c.memo = moldable.Chooser{Algorithm: s.chooser.Algorithm}, s.memo.clone()
	c.view = s.view.Clone()
	c.waiting, c.changing = slices.Clone(s.waiting), slices.Clone(s.changing)
	for i := range c.waiting {
		if r := &c.waiting[i]; r.shape != nil {
			own := *r.shape
			r.shape = &own
		}
	}
	c.places = s.places.Clone()
	return &c
}

// runnable reports whether every step has a positive duration and no negative number of nodes.
func runnable(ep core.EP) bool {
	for _, step := range ep {
		if step.Duration < 1 || step.Nodes < 0 || step.Duration > core.Forever {
			return false
		}
	}
	return len(ep) > 0
}

// rectangle returns the place of a rigid job.
func rectangle(id core.JobID, at, length core.Time, nodes int) core.Planned {
	return core.Planned{Allocation: core.Allocation{Job: id, Start: at, EP: core.EP{{Duration: length, Nodes: nodes}}}}
}
