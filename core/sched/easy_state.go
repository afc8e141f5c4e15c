package sched

import (
	"slices"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/core/profile"
)

// easyState is the state of EASY and Patient. It starts the same jobs as the definition (reference), and checks as
// few jobs as it can.
//
// As long as all jobs are rectangles and there is one reservation, the state needs no view. The occupation by
// running rectangles never rises later, so the fields `free` and `place` are enough to know which jobs start.
// When the first job of another kind is added, the state builds a view. Two facts then save work.
//
// A rectangle that found no room finds none until a promise ends or shrinks or a job ends early, because the occupation only
// grows until then. For any other job, shaped.retryAt is a time before which one of its steps lacks room. So if only submissions
// happened since the last pass, only the new jobs are tried.
//
// The staircase of the smallest number of nodes free from now until t rules out most jobs, in blocks of eight jobs.
//
// Unless `stale` is set, `view` is the occupation from time `asOf` on by the running jobs and the reservations
// in `places`.
type easyState struct {
	easyQueue
	free  int         // nodes that no rectangle holds at asOf; negative when nodes were lost
	place reservation // used while there is no view

	view      *profile.Profile // nil as long as there are only rectangles
	chooser   moldable.Chooser
	reference *reference // set once a job needs it (useReference)

	others  []Active    // running jobs that are not rectangles, in the order in which they were added
	nexts   []core.Time // when each of others changes next
	delayed int         // number of submitted jobs that had a later Begin

	places  []core.Planned // the reservations, in the order of due
	several bool           // at least one job with a reservation has several profiles
	begin   core.Time      // the earliest start of the last reservation's job
	only    [1]core.EP     // reused memory

	stale    bool            // `view` must be built again, and there is no reservation
	freed    bool            // nodes were released early since the last pass
	releases uint32          // number of passes that found nodes released early
	retryAt  core.Time       // no job that was checked starts before this, unless nodes are released
	stairs   []profile.Stair // as of the last pass; empty if not yet built
	changing []Active        // reused memory
}

func newState(p rules, m core.Machine) *easyState {
	p.Reservations = max(p.Reservations, 1)
	m.Nodes = max(m.Nodes, 0)
	s := &easyState{easyQueue: newEasyQueue(p, m), free: m.Nodes, place: noReservation(), stale: true, retryAt: core.Forever}
	if p.Reservations > 1 {
		s.useView()
	}
	if p.Sizing != nil {
		s.useReference()
	}
	return s
}

// useView makes the state use a view, because not all jobs are rectangles.
func (s *easyState) useView() {
	if s.view == nil {
		s.view = profile.New(s.machine.Nodes)
	}
}

// useReference makes the state use the reference, because a job needs a feature that only the reference supports.
func (s *easyState) useReference() {
	if s.reference == nil {
		s.reference = s.easyQueue.asReference()
		s.reference.running = append(s.reference.running, s.others...)
		s.reference.places = s.places
	}
}

// Submit implements State. A job without choices, or of which no choice fits the machine, waits and delays no other
// job.
func (s *easyState) Submit(now core.Time, j core.Job) {
	if !s.isRectangle(&j) {
		s.useView()
		if j.Guard > 0 || j.Foreign {
			s.useReference()
		}
		if j.Begin > now {
			s.delayed++
		}
	}
	if s.reference != nil {
		s.reference.Submit(now, j)
		return
	}
	s.submit(now, &j)
}

// Running implements State. It replaces what is known of the job, running or waiting.
func (s *easyState) Running(now core.Time, a core.Allocation) {
	if a.Guard > 0 && !s.policy.rigid {
		s.useReference()
	}
	if s.reference != nil {
		s.reference.Running(now, a)
		return
	}
	s.End(now, a.Job)
	s.recheck, s.stale = true, true
	s.place.Invalidate()
	if isRun(now, &a) {
		h := RunningJob{End: a.End(), ID: a.Job, Nodes: a.EP[0].Nodes}
		s.runs.Add(h, a.Start)
		s.free -= h.Nodes
		return
	}
	s.useView()
	r := NewActive(now, a)
	s.others, s.nexts = append(s.others, r), append(s.nexts, r.Next(now))
}

// isRun reports whether an allocation belongs to a running job with one step (a rectangle).
func isRun(now core.Time, a *core.Allocation) bool {
	return len(a.EP) == 1 && a.Start <= now && a.End() < core.Forever && a.Start > -core.Forever
}

// End implements State. It ignores an unknown job.
func (s *easyState) End(now core.Time, id core.JobID) {
	if s.reference != nil {
		s.reference.End(now, id)
		return
	}
	h, overdue, runs := s.runs.Take(id)
	switch {
	case runs && overdue:
	case runs:
		s.free += h.Nodes
		s.place.Ended(h)
		if s.recheck = true; s.view != nil {
			s.release(now, h.End, h.Nodes)
		}
	case s.view == nil || !s.endOther(now, id):
		s.remove(id)
		s.stale = s.stale || s.reserved(id)
	}
}

// endOther removes a running job that is not a rectangle. It returns false if there is none with the ID.
func (s *easyState) endOther(now core.Time, id core.JobID) bool {
	i := slices.IndexFunc(s.others, func(r Active) bool { return r.Job == id })
	if i < 0 {
		return false
	}
	at := s.others[i].Start
	for _, step := range s.others[i].EP {
		s.release(max(now, at), at+step.Duration, step.Nodes)
		at += step.Duration
	}
	s.others, s.nexts = slices.Delete(s.others, i, i+1), slices.Delete(s.nexts, i, i+1)
	return true
}

// release releases nodes from now on until their promise ends.
func (s *easyState) release(now, end core.Time, nodes int) {
	if s.recheck = true; s.stale {
		return
	}
	if s.stairs = s.stairs[:0]; now < end {
		s.freed = true
		s.view.Change(now, end, -nodes)
	}
}

// reserved reports whether a job has a reservation.
func (s *easyState) reserved(id core.JobID) bool {
	return slices.ContainsFunc(s.places, func(p core.Planned) bool { return p.Job == id })
}

// Nodes implements State.
func (s *easyState) Nodes(now core.Time, m core.Machine) {
	m.Nodes = max(m.Nodes, 0)
	if s.reference != nil {
		s.reference.Nodes(now, m)
		return
	}
	s.free += m.Nodes - s.machine.Nodes
	s.setMachine(now, m)
	s.stale = true
	s.place.Invalidate()
}

// Next implements State.
func (s *easyState) Next(now core.Time) core.Time {
	if s.reference != nil {
		return s.reference.Next(now)
	}
	next := min(s.runs.Next(now), s.firstBegin)
	if s.view == nil {
		return next // a reservation without a view begins only when a job ends
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
	if s.delayed > 0 {
		for _, w := range s.all() {
			if w.Begin > now {
				next = min(next, w.Begin)
			}
		}
	}
	return next
}

// Promise implements Promiser.
func (s *easyState) Promise(id core.JobID) (core.Allocation, bool) {
	if s.reference != nil {
		return s.reference.Promise(id)
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

// Load implements Sizer.
func (s *easyState) Load() *SystemLoad {
	if s.reference == nil {
		return nil
	}
	return s.reference.load
}

// Plan implements State. The plan has what starts now and the reservations, in queue order.
func (s *easyState) Plan(now core.Time) (plan core.Plan) {
	if s.reference != nil {
		return s.reference.Plan(now)
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
		if w := &c.due.All[i]; s.view == nil && w.Nodes != hole && c.place.IsFor(w) {
			j := c.job(w)
			plan.Jobs = append(plan.Jobs, core.Planned{Allocation: core.Allocation{Job: w.ID, Start: c.place.At, EP: j.Choices[0]}})
		}
	}
	plan.Jobs = inOrder(append(plan.Jobs, c.places...), rank)
	return plan
}

// Clone implements State.
func (s *easyState) Clone() State { return s.copy() }

func (s *easyState) copy() *easyState {
	c := *s
	if s.reference != nil {
		c.reference = s.reference.clone()
		return &c
	}
	c.easyQueue, c.chooser, c.changing = s.easyQueue.clone(), moldable.Chooser{}, nil
	c.others, c.nexts, c.places, c.stairs = slices.Clone(s.others), slices.Clone(s.nexts), slices.Clone(s.places), slices.Clone(s.stairs)
	if s.view != nil {
		c.view = s.view.Clone()
	}
	return &c
}
