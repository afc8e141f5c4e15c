package easy

import (
	"slices"

	"accordion/core"
	"accordion/core/sched"
	"accordion/core/sizing"
)

// state is the state of all policies of this package.
type state struct {
	order     Order
	remembers bool
	rounding  sizing.Rounding
	fixing    fixing
	top       Top

	machine core.Machine
	load    *sched.SystemLoad
	world   *sizing.World // the load in the form that sizing rules use

	runs   sched.RunningByEnd // jobs whose requested end has passed count as free
	free   int                // number of free nodes; negative when nodes were lost
	asOf   core.Time          // when free was computed
	others []sched.Active

	submitted  uint32    // number of jobs submitted so far
	queue      []*waiter // waiting jobs that can start or be back-filled, in queue order
	ineligible []*waiter // jobs that can neither start nor be back-filled, whatever is free
	ages       core.Time // no job in the queue ages before this time

	explain func(sched.SizeBasis) // called for each job that starts; may be nil

	listed     sizing.Sizes // reused memory
	simulation simulation   // reused memory
}

// fixing is when a job's size is chosen.
type fixing uint8

const (
	atStart      fixing = iota
	atReference         // at submission: the job gets its reference
	bySimulation        // at submission, by a simulation
)

// waiter is a waiting job. A waiter in a queue is never changed, because clones of the state share it: when the job ages, a new
// waiter replaces it.
type waiter struct {
	id     core.JobID
	begin  core.Time     // earliest start
	submit core.Time     // submission time by which it ranks
	sizes  *sizing.Sizes // nil if the job can never start
	rank   rank
	age    age
	least  int // index of the smallest size that it may still get (EASY.Remembers)
}

// since returns the time since which a job has waited.
func (w *waiter) since() core.Time { return max(w.submit, w.begin) }

func newState(m core.Machine, rule sizing.Sizing, f sizing.Floor, o Order) *state {
	m.Nodes = max(m.Nodes, 0)
	return &state{order: o, machine: m, load: sched.NewSystemLoad(m, rule, f), free: m.Nodes, ages: core.Forever}
}

// Load implements sched.Sizer.
func (s *state) Load() *sched.SystemLoad { return s.load }

// Submit implements sched.State. A job that exceeds the machine waits and delays no other job.
func (s *state) Submit(now core.Time, j core.Job) {
	w := &waiter{id: j.ID, begin: j.Begin, submit: j.Submit, rank: rank{seq: s.submitted}}
	s.submitted++
	if s.fixing == atStart {
		w.sizes = s.load.Submit(now, j)
	} else if s.listed.Read(j, sizing.AsListed) {
		w.sizes = s.fix(now, *w)
		s.load.Enter(now, j, w.sizes)
	}
	if !s.eligible(now, w) {
		s.ineligible = append(s.ineligible, w)
		return
	}
	s.enqueue(now, w)
}

// fix returns the size that a job gets at its submission, from the sizes just read.
func (s *state) fix(now core.Time, w waiter) *sizing.Sizes {
	if s.fixing == atReference {
		_, hi, _ := s.listed.Range(1, s.machine.Nodes)
		return s.listed.At(hi)
	}
	s.advance(now)
	w.sizes = &s.listed
	return s.listed.At(s.simulate(now, w))
}

// eligible reports whether a job can be in the queue now.
func (s *state) eligible(now core.Time, w *waiter) bool {
	return w.sizes != nil && w.begin <= now && w.sizes.Steps[0].Nodes <= s.machine.Nodes
}

// enqueue adds a job to the queue.
func (s *state) enqueue(now core.Time, w *waiter) {
	w.age.due = s.order.due(w.sizes, w.since(), w.age)
	w.rank = s.order.rank(w.sizes, w.submit, w.since(), w.age, w.rank.seq)
	s.ages = min(s.ages, w.age.due)
	i := len(s.queue)
	if i > 0 && w.rank.compare(&s.queue[i-1].rank) < 0 {
		i, _ = slices.BinarySearchFunc(s.queue, w, func(a, b *waiter) int { return a.rank.compare(&b.rank) })
	}
	s.queue = slices.Insert(s.queue, i, w)
}

// Running implements sched.State.
func (s *state) Running(now core.Time, a core.Allocation) {
	s.load.Running(now, a)
	s.forget(a.Job)
	if len(a.EP) == 1 && a.Start <= now && a.End() <= core.Forever {
		s.hold(sched.RunningJob{End: max(a.End(), -core.Forever), ID: a.Job, Nodes: a.EP[0].Nodes}, a.Start)
		return
	}
	s.others = append(s.others, sched.NewActive(now, a))
}

// hold adds a job that has run since `began`.
func (s *state) hold(h sched.RunningJob, began core.Time) {
	s.runs.Add(h, began)
	s.free -= h.Nodes
}

// End implements sched.State. It ignores an unknown job.
func (s *state) End(now core.Time, id core.JobID) {
	s.load.End(now, id)
	s.forget(id)
}

// forget removes a job everywhere but in the load.
func (s *state) forget(id core.JobID) {
	if h, overdue, runs := s.runs.Take(id); runs {
		if !overdue {
			s.free += h.Nodes
		}
		return
	}
	is := func(w *waiter) bool { return w.id == id }
	s.queue, s.ineligible = slices.DeleteFunc(s.queue, is), slices.DeleteFunc(s.ineligible, is)
	s.others = slices.DeleteFunc(s.others, func(r sched.Active) bool { return r.Job == id })
}

// Nodes implements sched.State.
func (s *state) Nodes(_ core.Time, m core.Machine) {
	m.Nodes = max(m.Nodes, 0)
	s.free += m.Nodes - s.machine.Nodes
	s.machine = m
	s.load.Nodes(m)
	s.ineligible = append(s.ineligible, s.queue...) // some jobs may exceed the machine now
	s.queue = nil
}

// advance computes what is free now, and moves ineligible jobs that have become eligible to the queue.
func (s *state) advance(now core.Time) {
	if now < s.asOf {
		s.free -= s.runs.Back()
	}
	s.asOf = now
	s.free += s.runs.Pass(now)
	if len(s.ineligible) == 0 {
		return
	}
	kept := s.ineligible[:0]
	for _, w := range s.ineligible {
		if s.eligible(now, w) {
			s.enqueue(now, w)
		} else {
			kept = append(kept, w)
		}
	}
	clear(s.ineligible[len(kept):])
	s.ineligible = kept
}

// age computes new ranks for the jobs that have aged.
func (s *state) age(now core.Time) {
	if now < s.ages {
		return
	}
	s.ages = core.Forever
	for i, w := range s.queue {
		if w.age.due <= now {
			older := *w
			older.age = s.order.next(w.sizes, w.since(), now, w.age)
			older.rank = s.order.rank(w.sizes, w.submit, w.since(), older.age, w.rank.seq)
			w, s.queue[i] = &older, &older
		}
		s.ages = min(s.ages, w.age.due)
	}
	slices.SortFunc(s.queue, func(a, b *waiter) int { return a.rank.compare(&b.rank) })
}

// Next implements sched.State. It returns the next requested end of a running job or the next begin of an ineligible job. Aging
// does not count, because it makes no job start.
func (s *state) Next(now core.Time) core.Time {
	next := s.runs.Next(now)
	for _, w := range s.ineligible {
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
	c.load, c.world = s.load.Clone(), nil
	c.runs, c.others = s.runs.Clone(), slices.Clone(s.others)
	c.queue, c.ineligible = slices.Clone(s.queue), slices.Clone(s.ineligible)
	for i, w := range c.ineligible { // a job that enters the queue is ranked in place
		twin := *w
		c.ineligible[i] = &twin
	}
	c.listed, c.simulation = sizing.Sizes{}, simulation{}
	return &c
}
