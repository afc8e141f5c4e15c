package sched

import (
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// state is the state of EASY and of Rigid. It starts what the definition starts (plain), and looks at as few jobs as it can.
//
// As long as only rectangles run and wait and one job at a time has a reservation, there is no view. What is used only falls as time
// goes on then, so that free and place tell which jobs start. The first job of another kind makes the view, with which three things are
// known.
//
// A rectangle that found no room finds none as time goes on, until a promise ends or shrinks, or a job ends early: what is
// used only grows until then. Of any other job it is known how long a step of it lacks room at least. So when only submissions
// happened since the last pass, the new jobs alone are tried.
//
// Who finds no room is mostly told by the staircase of the fewest nodes free from now until t, for eight jobs at once.
//
// Unless stale, view is the occupation from asOf on of what runs and of places.
type easyState struct {
	line
	free  int         // nodes that no rectangle has at asOf; below 0 when nodes were lost
	place reservation // as long as there is no view

	view    *profile.Profile // nil: there are only rectangles
	chooser moldable.Chooser
	plain   *plain // from the first job on that only the definition knows; nil before

	others []Changing  // that run and are no rectangles, in the order in which they came
	nexts  []core.Time // when they change next
	later  int         // jobs submitted so far that had to wait for an instant

	places  []core.Planned // the reservations, in the order of due
	several bool           // one of them has several profiles
	begin   core.Time      // the last one must not begin before
	only    [1]core.EP     // memory

	stale    bool            // view has to be made again, and there is no reservation
	freed    bool            // since the last pass nodes were given back before their time
	backs    uint32          // that they were given back before it
	wakes    core.Time       // no job that was passed over begins before, unless nodes are given back
	stairs   []profile.Stair // as of the last pass; none: they are to be made
	changing []Changing      // memory
}

func newState(p rules, m core.Machine) *easyState {
	p.Reservations = max(p.Reservations, 1)
	m.Nodes = max(m.Nodes, 0)
	s := &easyState{line: newLine(p, m), free: m.Nodes, place: noReservation(), stale: true, wakes: core.Forever}
	if p.Reservations > 1 {
		s.look()
	}
	if p.Sizing != nil {
		s.define()
	}
	return s
}

// look has it go by a view: there is more than rectangles.
func (s *easyState) look() {
	if s.view == nil {
		s.view = profile.New(s.machine.Nodes)
	}
}

// define has it go by the definition: there is what nothing else knows.
func (s *easyState) define() {
	if s.plain == nil {
		s.plain = s.line.plain()
		s.plain.running = append(s.plain.running, s.others...)
		s.plain.places = s.places
	}
}

// Submit implements sched.State. A job without choices, or of which no choice fits the machine, waits and holds nobody up.
func (s *easyState) Submit(now core.Time, j core.Job) {
	if !s.isRectangle(&j) {
		s.look()
		if j.Guard > 0 || j.Foreign {
			s.define()
		}
		if j.Begin > now {
			s.later++
		}
	}
	if s.plain != nil {
		s.plain.Submit(now, j)
		return
	}
	s.submit(now, &j)
}

// Running implements sched.State. It replaces what was known of the job, running or waiting.
func (s *easyState) Running(now core.Time, a core.Allocation) {
	if a.Guard > 0 && !s.policy.rigid {
		s.define()
	}
	if s.plain != nil {
		s.plain.Running(now, a)
		return
	}
	s.End(now, a.Job)
	s.turned, s.stale = true, true
	s.place.Drop()
	if isRun(now, &a) {
		h := RunningJob{End: a.End(), ID: a.Job, Nodes: a.EP[0].Nodes}
		s.runs.Add(h, a.Start)
		s.free -= h.Nodes
		return
	}
	s.look()
	r := Told(now, a)
	s.others, s.nexts = append(s.others, r), append(s.nexts, r.Next(now))
}

// isRun reports whether an allocation is of a job with one step (a rectangle) that runs.
func isRun(now core.Time, a *core.Allocation) bool {
	return len(a.EP) == 1 && a.Start <= now && a.End() < core.Forever && a.Start > -core.Forever
}

// End implements sched.State. It is nothing when the job is unknown.
func (s *easyState) End(now core.Time, id core.JobID) {
	if s.plain != nil {
		s.plain.End(now, id)
		return
	}
	h, overdue, runs := s.runs.Take(id)
	switch {
	case runs && overdue:
	case runs:
		s.free += h.Nodes
		s.place.Ended(h)
		if s.turned = true; s.view != nil {
			s.back(now, h.End, h.Nodes)
		}
	case s.view == nil || !s.endOther(now, id):
		s.leaves(id)
		s.stale = s.stale || s.reserved(id)
	}
}

// endOther takes a running job out that is no rectangle, if there is one of that number.
func (s *easyState) endOther(now core.Time, id core.JobID) bool {
	i := slices.IndexFunc(s.others, func(r Changing) bool { return r.Job == id })
	if i < 0 {
		return false
	}
	at := s.others[i].Start
	for _, step := range s.others[i].EP {
		s.back(max(now, at), at+step.Duration, step.Nodes)
		at += step.Duration
	}
	s.others, s.nexts = slices.Delete(s.others, i, i+1), slices.Delete(s.nexts, i, i+1)
	return true
}

// back gives nodes back, from now on until their promise ends.
func (s *easyState) back(now, end core.Time, nodes int) {
	if s.turned = true; s.stale {
		return
	}
	if s.stairs = s.stairs[:0]; now < end {
		s.freed = true
		s.view.Change(now, end, -nodes)
	}
}

// reserved reports whether a job has a place.
func (s *easyState) reserved(id core.JobID) bool {
	return slices.ContainsFunc(s.places, func(p core.Planned) bool { return p.Job == id })
}

// Nodes implements sched.State.
func (s *easyState) Nodes(now core.Time, m core.Machine) {
	m.Nodes = max(m.Nodes, 0)
	if s.plain != nil {
		s.plain.Nodes(now, m)
		return
	}
	s.free += m.Nodes - s.machine.Nodes
	s.resized(now, m)
	s.stale = true
	s.place.Drop()
}

// Next implements sched.State.
func (s *easyState) Next(now core.Time) core.Time {
	if s.plain != nil {
		return s.plain.Next(now)
	}
	next := min(s.runs.Next(now), s.opens)
	if s.view == nil {
		return next // the reservation begins when a job ends
	}
	for i, at := range s.nexts {
		if at <= now {
			at = s.others[i].Next(now)
		}
		next = min(next, at)
	}
	for i := range s.places {
		if at := s.places[i].Start; at > now {
			next = min(next, at)
		}
	}
	if s.later > 0 {
		for _, w := range s.all() {
			if w.Begin > now {
				next = min(next, w.Begin)
			}
		}
	}
	return next
}

// Promise implements sched.Promiser.
func (s *easyState) Promise(id core.JobID) (core.Allocation, bool) {
	if s.plain != nil {
		return s.plain.Promise(id)
	}
	if a, runs := s.promise(id); runs {
		return a, true
	}
	for i := range s.others {
		if s.others[i].Job == id {
			return s.others[i].Allocation, true
		}
	}
	return core.Allocation{}, false
}

// Crowd implements sched.Sizer.
func (s *easyState) Crowd() *SystemLoad {
	if s.plain == nil {
		return nil
	}
	return s.plain.crowd
}

// Plan implements sched.State: what starts now, and the reservations, in the order of the queue.
func (s *easyState) Plan(now core.Time) (plan core.Plan) {
	if s.plain != nil {
		return s.plain.Plan(now)
	}
	rank := ranks(s.all())
	c := s.copy()
	for _, b := range c.Starts(now, nil) {
		if b.Begins {
			a, _ := c.Promise(b.Job)
			plan.Jobs = append(plan.Jobs, core.Planned{Allocation: a, Choice: b.Choice})
		}
	}
	for i := range c.due.All {
		if w := &c.due.All[i]; s.view == nil && w.Nodes != hole && c.place.Of(w) {
			j := c.job(w)
			plan.Jobs = append(plan.Jobs, core.Planned{Allocation: core.Allocation{Job: w.ID, Start: c.place.At, EP: j.Choices[0]}})
		}
	}
	plan.Jobs = inOrder(append(plan.Jobs, c.places...), rank)
	return plan
}

// Clone implements sched.State.
func (s *easyState) Clone() State { return s.copy() }

func (s *easyState) copy() *easyState {
	c := *s
	if s.plain != nil {
		c.plain = s.plain.clone()
		return &c
	}
	c.line, c.chooser, c.changing = s.line.clone(), moldable.Chooser{}, nil
	c.others, c.nexts, c.places, c.stairs = slices.Clone(s.others), slices.Clone(s.nexts), slices.Clone(s.places), slices.Clone(s.stairs)
	if s.view != nil {
		c.view = s.view.Clone()
	}
	return &c
}
