package easy

import (
	"slices"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// state is the state of all policies here.
type state struct {
	order     Order
	remembers bool
	rounding  sizing.Rounding
	fixing    fixing
	top       Top

	machine core.Machine
	crowd   *sched.SystemLoad
	world   *sizing.World // as crowd is

	runs   sched.RunningByEnd // those whose end has come count as free
	free   int                // nodes; below 0 when nodes were lost
	asOf   core.Time          // when free was counted
	others []sched.Active

	came  uint32    // jobs submitted so far
	queue []*waiter // in order
	aside []*waiter // neither first nor back-filled, whatever is free
	ages  core.Time // nobody in the queue ages before

	tell func(sched.SizeBasis) // of each job that starts; nil: nobody asks

	listed    sizing.Sizes // memory
	rehearsal rehearsal    // memory
}

// fixing says when a job's size is chosen.
type fixing uint8

const (
	atStart     fixing = iota
	atReference        // never: it is its reference
	rehearsed          // when it is submitted
)

// waiter is a job that waits. Once it is in a queue it is replaced when it ages, never changed: clones share it.
type waiter struct {
	id     core.JobID
	begin  core.Time     // not before
	submit core.Time     // by which it ranks
	sizes  *sizing.Sizes // nil: it can never start
	rank   rank
	age    age
	least  int // size below which it gets none any more (EASY.Remembers)
}

// since is from when on a job has waited.
func (w *waiter) since() core.Time { return max(w.submit, w.begin) }

func newState(m core.Machine, rule sizing.Sizing, f sizing.Floor, o Order) *state {
	m.Nodes = max(m.Nodes, 0)
	return &state{order: o, machine: m, crowd: sched.NewSystemLoad(m, rule, f), free: m.Nodes, ages: core.Forever}
}

// Load implements sched.Sizer.
func (s *state) Load() *sched.SystemLoad { return s.crowd }

// Submit implements sched.State. A job that exceeds the machine waits and holds nobody up.
func (s *state) Submit(now core.Time, j core.Job) {
	w := &waiter{id: j.ID, begin: j.Begin, submit: j.Submit, rank: rank{came: s.came}}
	s.came++
	if s.fixing == atStart {
		w.sizes = s.crowd.Submit(now, j)
	} else if s.listed.Read(j, sizing.AsListed) {
		w.sizes = s.fix(now, *w)
		s.crowd.Enter(now, j, w.sizes)
	}
	if !s.enters(now, w) {
		s.aside = append(s.aside, w)
		return
	}
	s.enqueue(now, w)
}

// fix is the size that a job has from its submission on, of those just read.
func (s *state) fix(now core.Time, w waiter) *sizing.Sizes {
	if s.fixing == atReference {
		_, hi, _ := s.listed.Range(1, s.machine.Nodes)
		return s.listed.At(hi)
	}
	s.advance(now)
	w.sizes = &s.listed
	return s.listed.At(s.rehearse(now, w))
}

// enters says whether there is no reason for a job to stand aside.
func (s *state) enters(now core.Time, w *waiter) bool {
	return w.sizes != nil && w.begin <= now && w.sizes.Steps[0].Nodes <= s.machine.Nodes
}

// enqueue puts a job in its place of the queue.
func (s *state) enqueue(now core.Time, w *waiter) {
	w.age.due = s.order.due(w.sizes, w.since(), w.age)
	w.rank = s.order.rank(w.sizes, w.submit, w.since(), w.age, w.rank.came)
	s.ages = min(s.ages, w.age.due)
	i := len(s.queue)
	if i > 0 && w.rank.compare(&s.queue[i-1].rank) < 0 {
		i, _ = slices.BinarySearchFunc(s.queue, w, func(a, b *waiter) int { return a.rank.compare(&b.rank) })
	}
	s.queue = slices.Insert(s.queue, i, w)
}

// Running implements sched.State.
func (s *state) Running(now core.Time, a core.Allocation) {
	s.crowd.Running(now, a)
	s.forget(a.Job)
	if len(a.EP) == 1 && a.Start <= now && a.End() <= core.Forever {
		s.hold(sched.RunningJob{End: max(a.End(), -core.Forever), ID: a.Job, Nodes: a.EP[0].Nodes}, a.Start)
		return
	}
	s.others = append(s.others, sched.NewActive(now, a))
}

// hold enters a job that runs since an instant.
func (s *state) hold(h sched.RunningJob, began core.Time) {
	s.runs.Add(h, began)
	s.free -= h.Nodes
}

// End implements sched.State. It is nothing when the job is unknown.
func (s *state) End(now core.Time, id core.JobID) {
	s.crowd.End(now, id)
	s.forget(id)
}

// forget takes a job out of all but the crowd.
func (s *state) forget(id core.JobID) {
	if h, overdue, runs := s.runs.Take(id); runs {
		if !overdue {
			s.free += h.Nodes
		}
		return
	}
	is := func(w *waiter) bool { return w.id == id }
	s.queue, s.aside = slices.DeleteFunc(s.queue, is), slices.DeleteFunc(s.aside, is)
	s.others = slices.DeleteFunc(s.others, func(r sched.Active) bool { return r.Job == id })
}

// Nodes implements sched.State.
func (s *state) Nodes(_ core.Time, m core.Machine) {
	m.Nodes = max(m.Nodes, 0)
	s.free += m.Nodes - s.machine.Nodes
	s.machine = m
	s.crowd.Nodes(m)
	s.aside = append(s.aside, s.queue...) // some may exceed it now
	s.queue = nil
}

// advance counts what is free at an instant, and lets those into the queue who need not stand aside any more.
func (s *state) advance(now core.Time) {
	if now < s.asOf {
		s.free -= s.runs.Back()
	}
	s.asOf = now
	s.free += s.runs.Pass(now)
	if len(s.aside) == 0 {
		return
	}
	kept := s.aside[:0]
	for _, w := range s.aside {
		if s.enters(now, w) {
			s.enqueue(now, w)
		} else {
			kept = append(kept, w)
		}
	}
	clear(s.aside[len(kept):])
	s.aside = kept
}

// age ranks those anew who have aged.
func (s *state) age(now core.Time) {
	if now < s.ages {
		return
	}
	s.ages = core.Forever
	for i, w := range s.queue {
		if w.age.due <= now {
			older := *w
			older.age = s.order.next(w.sizes, w.since(), now, w.age)
			older.rank = s.order.rank(w.sizes, w.submit, w.since(), older.age, w.rank.came)
			w, s.queue[i] = &older, &older
		}
		s.ages = min(s.ages, w.age.due)
	}
	slices.SortFunc(s.queue, func(a, b *waiter) int { return a.rank.compare(&b.rank) })
}

// Next implements sched.State: the next requested end of a running job, or what stands aside. That somebody ages brings
// nothing about by itself.
func (s *state) Next(now core.Time) core.Time {
	next := s.runs.Next(now)
	for _, w := range s.aside {
		if w.begin > now && w.sizes != nil && w.sizes.Steps[0].Nodes <= s.machine.Nodes {
			next = min(next, w.begin)
		}
	}
	for i := range s.others {
		next = min(next, s.others[i].Next(now))
	}
	return next
}

// Clone implements sched.State.
func (s *state) Clone() sched.State { return s.clone() }

func (s *state) clone() *state {
	c := *s
	c.crowd, c.world = s.crowd.Clone(), nil
	c.runs, c.others = s.runs.Clone(), slices.Clone(s.others)
	c.queue, c.aside = slices.Clone(s.queue), slices.Clone(s.aside)
	for i, w := range c.aside { // one that enters the queue is ranked where it is
		twin := *w
		c.aside[i] = &twin
	}
	c.listed, c.rehearsal = sizing.Sizes{}, rehearsal{}
	return &c
}
