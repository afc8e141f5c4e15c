package patient

import (
	"cmp"
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
// As long as only rectangles run and wait, what is used only falls, but for the one reservation: no view of it is needed then.
//
// Unless stale, free is what is free at asOf, and where viewed, view is the occupation from then on of what runs and of places.
type quick struct {
	policy  EASY
	machine core.Machine
	asOf    core.Time
	free    int // nodes; below 0 when nodes were lost

	came  uint32   // jobs submitted so far
	due   ranks    // by due
	young ranks    // those that are not due yet, in the order of the queue
	ages  ages     // of those
	aside []waiter // those that never fit the machine
	later int      // jobs submitted so far that had to wait for an instant

	runs   held.Runs        // rectangles
	rects  held.Table[rect] // of runs
	others []held.Changing  // all others that run, in the order in which they came
	nexts  []core.Time      // when they change next

	places  []core.Planned // the reservations
	several bool           // one of them has several profiles
	begin   core.Time      // the last one must not begin before
	only    [1]core.EP     // memory
	beside  int            // where not viewed: nodes that are free beside it from its begin on

	viewed  bool
	view    *profile.Profile
	chooser mold.Chooser

	stale    bool      // free and view are to be made anew
	freed    bool      // since the last pass nodes were given back before their time
	turned   bool      // or at their time
	times    uint32    // that they were given back before it
	wakes    core.Time // no job that was passed over begins before, unless nodes are given back
	seenDue  int       // of due, and of young: what was passed over
	seen     int
	stairs   []profile.Stair // as of the last pass; none: they are to be made
	changing []held.Changing // memory
}

// rect is a rectangle that runs.
type rect struct {
	id         core.JobID
	start, end core.Time
	nodes      int
}

func (r rect) promise() core.Allocation {
	return core.Allocation{Job: r.id, Start: r.start, EP: core.EP{{Duration: r.end - r.start, Nodes: r.nodes}}}
}

func newQuick(p EASY, m core.Machine) *quick {
	return &quick{policy: p, machine: m, asOf: -core.Forever, stale: true, viewed: p.Reservations > 1, view: profile.New(m.Nodes), wakes: core.Forever}
}

// Submit is that of queue.State.
func (s *quick) Submit(now core.Time, j core.Job) {
	s.waits(now, j, s.policy.due(j), s.came)
	s.came++
}

// waits puts a job in its list.
func (s *quick) waits(now core.Time, j core.Job, due core.Time, came uint32) {
	if j.Begin > now {
		s.later++
	}
	w, fits := asked(j, s.machine.Nodes)
	if !fits {
		s.aside = append(s.aside, waiter{j, due, came})
		return
	}
	w.due, w.came = due, came
	if w.shape != nil && !s.viewed {
		s.viewed, s.stale = true, true
	}
	if due <= now {
		if !s.due.byDue(w) {
			s.turned, s.seenDue = true, 0
		}
		return
	}
	if last := len(s.young.list) - 1; last >= 0 && s.young.list[last].came > came {
		s.young.list = append(s.young.list, w)
		slices.SortFunc(s.young.list, func(a, b want) int { return cmp.Compare(a.came, b.came) })
		s.young.pack()
		s.turned = true
	} else {
		s.young.push(w)
	}
	s.ages.push(age{due, came})
}

// asked is what a job asks for at least: of several profiles, and of each from its begin on. It is false when the job never fits so many
// nodes.
func asked(j core.Job, machine int) (want, bool) {
	w := want{length: core.Forever, id: j.ID, nodes: hole - 1}
	if len(j.Choices) == 1 && len(j.Choices[0]) == 1 && j.Begin == 0 && j.Margin == 0 {
		step := j.Choices[0][0]
		if !runnable(j.Choices[0]) || step.Nodes > machine {
			return w, false
		}
		w.nodes, w.length = int32(step.Nodes), step.Duration
		return w, true
	}
	shape, fits := j, false
	w.shape = &shape
	for _, ep := range j.Choices {
		if !runnable(ep) || ep.Peak() > machine {
			continue
		}
		fits = true
		first, length := ep[0].Nodes, core.Time(0)
		for _, step := range ep {
			if step.Nodes < first {
				break
			}
			length += step.Duration
		}
		w.nodes, w.length = min(w.nodes, int32(first)), min(w.length, length)
	}
	return w, fits
}

// runnable says whether all steps take time and no negative number of nodes.
func runnable(ep core.EP) bool {
	for _, step := range ep {
		if step.Duration < 1 || step.Nodes < 0 || step.Duration > core.Forever || step.Nodes >= hole {
			return false
		}
	}
	return len(ep) > 0
}

// Running is that of queue.State.
func (s *quick) Running(now core.Time, a core.Allocation) {
	s.End(now, a.Job)
	s.stale = true
	if len(a.EP) == 1 && a.Start <= now && a.End() <= core.Forever && a.Start > -core.Forever {
		s.runs.Add(held.Job{End: a.End(), ID: a.Job, Nodes: a.EP[0].Nodes})
		s.rects.Set(a.Job, rect{a.Job, a.Start, a.End(), a.EP[0].Nodes})
		return
	}
	s.viewed = true
	r := held.Told(now, a)
	s.others, s.nexts = append(s.others, r), append(s.nexts, r.Next(now))
}

// End is that of queue.State.
func (s *quick) End(now core.Time, id core.JobID) {
	if h, overdue, known := s.runs.Take(id); known {
		s.rects.Take(id)
		if !overdue && !s.stale {
			s.free += h.Nodes
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
	if i := s.due.find(id); i >= 0 {
		if s.due.remove(i).has {
			s.places = slices.DeleteFunc(s.places, func(p core.Planned) bool { return p.Job == id })
			s.stale = true
		}
	} else if i := s.young.find(id); i >= 0 {
		s.young.remove(i)
	}
	s.aside = slices.DeleteFunc(s.aside, func(w waiter) bool { return w.ID == id })
	s.turned = true
}

// back gives nodes back, from now on until their promise ends.
func (s *quick) back(now, end core.Time, nodes int) {
	s.turned, s.stairs = true, s.stairs[:0]
	if now >= end {
		return
	}
	s.freed = true
	if s.viewed {
		s.view.Change(now, end, -nodes)
	}
}

// Nodes is that of queue.State.
func (s *quick) Nodes(now core.Time, m core.Machine) {
	s.machine, s.stale = m, true
	all := s.all()
	s.due, s.young, s.ages, s.aside = ranks{}, ranks{}, nil, nil
	for _, w := range all { // some may exceed it now
		s.waits(now, w.Job, w.due, w.came)
	}
}

// all are the jobs that wait, in the order of the queue.
func (s *quick) all() []waiter {
	all := s.aside
	for _, list := range [][]want{s.due.list, s.young.list} {
		for _, w := range list {
			switch {
			case w.nodes == hole:
			case w.shape != nil:
				all = append(all, waiter{*w.shape, w.due, w.came})
			default:
				j := core.Job{ID: w.id, Choices: []core.EP{{{Duration: w.length, Nodes: int(w.nodes)}}}}
				all = append(all, waiter{j, w.due, w.came})
			}
		}
	}
	slices.SortFunc(all, func(a, b waiter) int { return cmp.Compare(a.came, b.came) })
	return all
}

// plain is the same as one that knows guards.
func (s *quick) plain() *plain {
	p := newPlain(s.policy, s.machine)
	for _, w := range s.all() {
		p.waits(w.Job, w.due)
	}
	s.rects.Each(func(r rect) { p.running = append(p.running, held.Begun(r.promise())) })
	p.running = append(p.running, s.others...)
	p.places = s.places
	return p
}

// Promise is that of queue.Promiser.
func (s *quick) Promise(id core.JobID) (core.Allocation, bool) {
	if r, runs := s.rects.Get(id); runs {
		return r.promise(), true
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
	next := s.change(now)
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
	var plan core.Plan
	c := s.copy()
	for _, b := range c.Starts(now, nil) {
		if b.Begins {
			a, _ := c.Promise(b.Job)
			plan.Jobs = append(plan.Jobs, core.Planned{Allocation: a, Choice: b.Choice})
		}
	}
	plan.Jobs = append(plan.Jobs, c.places...)
	return plan
}

// Clone is that of queue.State; state makes the clones.
func (s *quick) Clone() queue.State { return s.copy() }

func (s *quick) copy() *quick {
	c := *s
	c.due, c.young, c.ages, c.aside = s.due.clone(), s.young.clone(), slices.Clone(s.ages), slices.Clone(s.aside)
	c.runs, c.rects = s.runs.Clone(), s.rects.Clone()
	c.others, c.nexts, c.places = slices.Clone(s.others), slices.Clone(s.nexts), slices.Clone(s.places)
	c.view, c.chooser = s.view.Clone(), mold.Chooser{}
	c.stairs, c.changing = slices.Clone(s.stairs), nil
	return &c
}
