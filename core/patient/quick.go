package patient

import (
	"slices"

	"accordion/core"
	"accordion/core/held"
	"accordion/core/mold"
	"accordion/core/profile"
	"accordion/core/queue"
)

// quick starts what plain starts, and looks at as few jobs as it can. It knows three things.
//
// A rectangle that found no room finds none as time goes on, until a promise ends or shrinks, or somebody ends before his time: what is
// used only grows until then. Of any other job it is known how long a step of it lacks room at least. So when only submissions
// happened since the last pass, the new jobs alone are tried.
//
// Who finds no room is mostly told by the staircase of the fewest nodes free from now until t, for eight jobs at once.
//
// Unless stale, view is the occupation from asOf on of what runs and of places.
type quick struct {
	line
	later int // jobs submitted so far that had to wait for an instant

	others []held.Changing // that run and are no rectangles, in the order in which they came
	nexts  []core.Time     // when they change next

	places  []core.Planned // the reservations, in the order of due
	several bool           // one of them has several profiles
	begin   core.Time      // the last one must not begin before
	only    [1]core.EP     // memory

	view    *profile.Profile
	chooser mold.Chooser

	stale    bool            // view is to be made anew, and there is no reservation
	freed    bool            // since the last pass nodes were given back before their time
	backs    uint32          // that they were given back before it
	wakes    core.Time       // no job that was passed over begins before, unless nodes are given back
	stairs   []profile.Stair // as of the last pass; none: they are to be made
	changing []held.Changing // memory
}

func newQuick(p rules, m core.Machine) *quick { return asQuick(newLine(p, m)) }

// asQuick is one with what waits and runs already.
func asQuick(l line) *quick {
	return &quick{line: l, stale: true, view: profile.New(l.machine.Nodes), wakes: core.Forever}
}

// Submit is that of queue.State.
func (s *quick) Submit(now core.Time, j core.Job) {
	if j.Begin > now && !s.policy.rigid {
		s.later++
	}
	s.submit(now, &j)
}

// Running is that of queue.State.
func (s *quick) Running(now core.Time, a core.Allocation) {
	s.End(now, a.Job)
	s.stale = true
	if isRun(now, &a) {
		s.told(&a)
		return
	}
	r := held.Told(now, a)
	s.others, s.nexts = append(s.others, r), append(s.nexts, r.Next(now))
}

// End is that of queue.State.
func (s *quick) End(now core.Time, id core.JobID) {
	if h, overdue, known := s.runs.Take(id); known {
		s.times.Take(id)
		if !overdue && !s.stale {
			s.back(now, h.End, h.Nodes)
		}
		return
	}
	if i := slices.IndexFunc(s.others, func(r held.Changing) bool { return r.Job == id }); i >= 0 {
		if !s.stale {
			at := s.others[i].Start
			for _, step := range s.others[i].EP {
				s.back(max(now, at), at+step.Duration, step.Nodes)
				at += step.Duration
			}
		}
		s.others, s.nexts = slices.Delete(s.others, i, i+1), slices.Delete(s.nexts, i, i+1)
		return
	}
	s.leaves(id)
	s.stale = s.stale || s.reserved(id)
}

// reserved says whether a job has a reservation.
func (s *quick) reserved(id core.JobID) bool {
	return slices.ContainsFunc(s.places, func(p core.Planned) bool { return p.Job == id })
}

// back gives nodes back, from now on until their promise ends.
func (s *quick) back(now, end core.Time, nodes int) {
	s.turned, s.stairs = true, s.stairs[:0]
	if now >= end {
		return
	}
	s.freed = true
	s.view.Change(now, end, -nodes)
}

// Nodes is that of queue.State.
func (s *quick) Nodes(now core.Time, m core.Machine) {
	s.resized(now, m)
	s.stale = true
}

// plain is the same as one that knows guards.
func (s *quick) plain() *plain {
	p := s.line.plain()
	p.running = append(p.running, s.others...)
	p.places = s.places
	return p
}

// Promise is that of queue.Promiser.
func (s *quick) Promise(id core.JobID) (core.Allocation, bool) {
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

// Next is that of queue.State.
func (s *quick) Next(now core.Time) core.Time {
	next := min(s.change(now), s.opens)
	for i := range s.places {
		if at := s.places[i].Start; at > now {
			next = min(next, at)
		}
	}
	if s.later > 0 {
		next = min(next, s.begins(now))
	}
	return next
}

// change is when a promise ends, or its size changes.
func (s *quick) change(now core.Time) core.Time {
	next := s.runs.Next(now)
	for i, at := range s.nexts {
		if at <= now {
			at = s.others[i].Next(now)
		}
		next = min(next, at)
	}
	return next
}

// begins is the first instant that a waiting job waits for.
func (s *quick) begins(now core.Time) core.Time {
	next := core.Forever
	for _, w := range s.all() {
		if w.Begin > now {
			next = min(next, w.Begin)
		}
	}
	return next
}

// Plan is that of queue.State.
func (s *quick) Plan(now core.Time) core.Plan {
	rank := ranks(s.all())
	c := s.copy()
	plan := begun(c.Starts(now, nil), c.Promise)
	plan.Jobs = inOrder(append(plan.Jobs, c.places...), rank)
	return plan
}

// Clone is that of queue.State; state makes the clones.
func (s *quick) Clone() queue.State { return s.copy() }

func (s *quick) copy() *quick {
	c := *s
	c.line = s.line.clone()
	c.others, c.nexts, c.places = slices.Clone(s.others), slices.Clone(s.nexts), slices.Clone(s.places)
	c.view, c.chooser = s.view.Clone(), mold.Chooser{}
	c.stairs, c.changing = slices.Clone(s.stairs), nil
	return &c
}
