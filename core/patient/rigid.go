package patient

import (
	"math/bits"

	"accordion/core"
	"accordion/core/queue"
	"accordion/core/waiting"
)

// rigid starts what plain starts, as long as only rectangles run and wait and one at a time has a reservation: EASY of core/queue with two
// queues, those that are due and the young. What is used only falls as time goes on then, so that no view of it is needed.
type rigid struct {
	line
	free  int // nodes at asOf; below 0 when nodes were lost
	place waiting.Reservation
}

func newRigid(p rules, m core.Machine) *rigid {
	return &rigid{newLine(p, m), m.Nodes, waiting.None()}
}

// Submit is that of queue.State, for a rectangle.
func (s *rigid) Submit(now core.Time, j core.Job) { s.submit(now, &j) }

// Running is that of queue.State, for a rectangle.
func (s *rigid) Running(now core.Time, a core.Allocation) {
	s.End(now, a.Job)
	s.told(&a)
	s.free -= a.EP[0].Nodes
	s.turned = true
	s.place.Drop()
}

// End is that of queue.State.
func (s *rigid) End(_ core.Time, id core.JobID) {
	h, overdue, runs := s.runs.Take(id)
	switch {
	case !runs:
		s.leaves(id)
		return
	case !overdue:
		s.free += h.Nodes
		s.place.Ended(h)
		s.turned = true
	}
	s.times.Take(id)
}

// Nodes is that of queue.State.
func (s *rigid) Nodes(now core.Time, m core.Machine) {
	s.free += m.Nodes - s.machine.Nodes
	s.resized(now, m)
	s.place.Drop()
}

// Starts is that of queue.State.
func (s *rigid) Starts(now core.Time, into []core.Start) []core.Start {
	s.advance(now)
	s.grow(now)
	if s.turned {
		s.tidy()
		into = s.heads(now, into)
		if !s.policy.strict {
			into = s.backfill(now, &s.due, into)
			into = s.backfill(now, &s.young, into)
		}
		s.passed()
		return into
	}
	if !s.policy.strict {
		into = s.backfillLast(now, &s.due, s.seenDue, into)
		into = s.backfillLast(now, &s.young, s.seen, into)
	}
	s.watch()
	s.passed()
	return into
}

// advance goes on to an instant: what has ended by then is free.
func (s *rigid) advance(now core.Time) {
	if now < s.asOf {
		s.free -= s.runs.Back()
		s.turned = true
		s.place.Drop()
	}
	s.asOf = now
	if freed := s.runs.Pass(now); freed != 0 {
		s.free += freed
		s.turned = true
	}
}

// heads starts those that are due as long as they fit. The first that does not has the reservation; one that never fits has none.
func (s *rigid) heads(now core.Time, into []core.Start) []core.Start {
	for i := s.due.First; i < len(s.due.All); i++ {
		w := &s.due.All[i]
		switch {
		case w.Nodes == waiting.Hole:
			continue
		case int(w.Nodes) <= s.free:
			into = s.start(now, &s.due, i, into)
			continue
		case !s.place.Of(w):
			s.place = waiting.Reserve(w, s.free, s.runs.List)
		}
		if s.place.At < core.Forever || s.policy.strict {
			return into
		}
	}
	s.place = waiting.None()
	return into
}

// backfill starts those of a list that are not in the way of the reservation. Where the last one starts, all else are holes, for which there
// is no room.
func (s *rigid) backfill(now core.Time, list *waiting.List, into []core.Start) []core.Start {
	room, all := s.place.Room(now, s.free), list.Least
	for b := room.Next(all, waiting.BlockOf(list.First)); b < len(all); b = room.Next(all, b+1) {
		block := list.Block(b)
		for fit := room.Fitting(block); fit != 0; fit &= fit - 1 {
			if i := bits.TrailingZeros(fit); room.Has(&block[i]) {
				into = s.start(now, list, waiting.FirstOf(b)+i, into)
				room = s.place.Room(now, s.free)
			}
		}
	}
	return into
}

// backfillLast does so from so manieth on.
func (s *rigid) backfillLast(now core.Time, list *waiting.List, from int, into []core.Start) []core.Start {
	for i := from; i < len(list.All); i++ {
		if room := s.place.Room(now, s.free); room.Has(&list.All[i]) {
			into = s.start(now, list, i, into)
		}
	}
	return into
}

// start starts number i of a list.
func (s *rigid) start(now core.Time, list *waiting.List, i int, into []core.Start) []core.Start {
	h := s.run(now, list, i)
	s.free -= h.Nodes
	s.place.Began(h)
	return append(into, core.Start{Job: h.ID, Nodes: h.Nodes, Begins: true})
}

// Promise is that of queue.Promiser.
func (s *rigid) Promise(id core.JobID) (core.Allocation, bool) { return s.promise(id) }

// Next is that of queue.State. The reservation begins when somebody ends.
func (s *rigid) Next(now core.Time) core.Time { return min(s.runs.Next(now), s.opens) }

// Plan is that of queue.State.
func (s *rigid) Plan(now core.Time) core.Plan {
	rank := ranks(s.all())
	c := s.copy()
	plan := begun(c.Starts(now, nil), c.promise)
	for i := range c.due.All {
		if w := &c.due.All[i]; w.Nodes != waiting.Hole && c.place.Of(w) {
			j := c.job(w)
			plan.Jobs = append(plan.Jobs, core.Planned{Allocation: core.Allocation{Job: w.ID, Start: c.place.At, EP: j.Choices[0]}})
		}
	}
	plan.Jobs = inOrder(plan.Jobs, rank)
	return plan
}

// begun is the plan of what starts now.
func begun(starts []core.Start, promise func(core.JobID) (core.Allocation, bool)) (plan core.Plan) {
	for _, b := range starts {
		if b.Begins {
			a, _ := promise(b.Job)
			plan.Jobs = append(plan.Jobs, core.Planned{Allocation: a, Choice: b.Choice})
		}
	}
	return plan
}

// quick is the same as one that knows jobs of all kinds.
func (s *rigid) quick() *quick { return asQuick(s.line) }

func (s *rigid) copy() *rigid { return &rigid{s.line.clone(), s.free, s.place} }

// Clone is that of queue.State; state makes the clones.
func (s *rigid) Clone() queue.State { return s.copy() }
