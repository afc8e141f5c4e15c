package queue

import (
	"math/bits"

	"accordion/core"
	"accordion/core/held"
	"accordion/core/profile"
	"accordion/core/waiting"
)

// FCFS starts the jobs of the queue in its order, and none before the one ahead of it (first come, first served).
type FCFS struct{ Order Order }

// EASY is aggressive back-filling: the jobs of the queue start in its order; where the head does not fit it has a
// reservation, at the earliest second at which, by the requested times of what runs, enough nodes are free; and a job
// behind it starts now when it fits, and ends by that second or needs no more than what is left beside the head then.
//
// The rules are those of the published schedules (KTH-SP2, start by start): nodes of a job whose requested time is over
// count as free. Only the head has a reservation.
type EASY struct{ Order Order }

var _, _ Policy = FCFS{}, EASY{}

// New is the state of a machine without jobs. A job is its peak for its total duration there, in its first choice.
func (p FCFS) New(m core.Machine) State { return &fcfs{newLine(m, p.Order)} }

// New is the state of a machine without jobs. A job is its peak for its total duration there, in its first choice.
func (p EASY) New(m core.Machine) State { return &easy{line: newLine(m, p.Order)} }

// fcfs is the state of FCFS.
type fcfs struct{ line }

// Starts implements State.
func (s *fcfs) Starts(now core.Time, into []core.Start) []core.Start {
	s.advance(now)
	if len(s.others) > 0 {
		into = held.Resize(s.others, now, into)
		return s.beside(now, into, false)
	}
	return s.heads(now, into)
}

// Plan implements State: it is what starts now, and the head.
func (s *fcfs) Plan(now core.Time) core.Plan {
	c := s.line.clone()
	return c.plan(now, (&fcfs{c}).Starts(now, nil))
}

// Clone implements State.
func (s *fcfs) Clone() State { return &fcfs{s.line.clone()} }

// easy is the state of EASY. Unless stale, the first seen jobs of the queue cannot start: the head because it does not fit,
// the others because they need more than is free, or end behind the head's start and need more than is left beside it. As
// time goes on and nothing ends they still cannot.
type easy struct {
	line
	seen int
}

// Starts implements State.
func (s *easy) Starts(now core.Time, into []core.Start) []core.Start {
	s.advance(now)
	if len(s.others) > 0 {
		into = held.Resize(s.others, now, into)
		return s.beside(now, into, true)
	}
	if s.stale {
		s.waiting.Tidy()
		into = s.heads(now, into)
		if s.waiting.Jobs == 0 {
			return into // whatever comes next will be a head
		}
		s.stale = false
		if head := &s.waiting.All[s.waiting.First]; !s.head.Of(head) {
			s.head = waiting.Reserve(head, s.free, s.runs.List)
		}
		into = s.backfill(now, into)
	} else {
		into = s.backfillLast(now, into)
	}
	s.seen = len(s.waiting.All)
	return into
}

// backfillLast starts what does not delay the head, of the jobs not seen yet.
func (s *easy) backfillLast(now core.Time, into []core.Start) []core.Start {
	for i := s.seen; i < len(s.waiting.All); i++ {
		if s.room(now).Has(&s.waiting.All[i]) {
			into = s.start(now, i, into)
		}
	}
	return into
}

// backfill starts what does not delay the head. It goes by blocks, and by those in which no job can be one of them at once.
func (s *easy) backfill(now core.Time, into []core.Start) []core.Start {
	room, all := s.room(now), s.waiting.Least
	for b := room.Next(all, waiting.BlockOf(s.waiting.First)); b < len(all); b = room.Next(all, b+1) {
		block := s.waiting.Block(b)
		for fit := room.Fitting(block); fit != 0; fit &= fit - 1 {
			if i := bits.TrailingZeros(fit); room.Has(&block[i]) {
				into = s.start(now, waiting.FirstOf(b)+i, into)
				room = s.room(now)
			}
		}
	}
	return into
}

// room is where a job can start and does not delay the head.
func (s *easy) room(now core.Time) waiting.Room { return s.head.Room(now, s.free) }

// Plan implements State: it is what starts now, and the head.
func (s *easy) Plan(now core.Time) core.Plan {
	c := s.copy()
	return c.plan(now, c.Starts(now, nil))
}

// Clone implements State.
func (s *easy) Clone() State { return s.copy() }

func (s *easy) copy() *easy {
	c := *s
	c.line = s.line.clone()
	return &c
}

// beside is Starts where others run whose profile changes, or are to come: the same on a profile of all that runs.
func (s *line) beside(now core.Time, into []core.Start, backfill bool) []core.Start {
	view := s.view(now)
	fits := func(w waiting.Job) bool {
		at, ok := view.FirstFit(int(w.Nodes), w.Length, now)
		return ok && at == now
	}
	head := true // all before have started
	for i := s.waiting.First; i < len(s.waiting.All); i++ {
		w := s.waiting.All[i]
		switch {
		case w.Nodes == waiting.Hole:
		case fits(w):
			view.Add(now, core.EP{{Duration: w.Length, Nodes: int(w.Nodes)}})
			into = s.start(now, i, into)
		case !backfill:
			return into
		case head:
			head = false
			if at, ok := view.FirstFit(int(w.Nodes), w.Length, now); ok {
				view.Add(at, core.EP{{Duration: w.Length, Nodes: int(w.Nodes)}})
			}
		}
	}
	return into
}

// view is the occupation of what runs, without what has outstayed its request.
func (s *line) view(now core.Time) *profile.Profile {
	view := new(profile.Profile)
	s.runs.Occupy(view, s.machine.Nodes, now, s.others)
	return view
}

// plan is what starts now and where the head comes to lie then.
func (s *line) plan(now core.Time, starts []core.Start) core.Plan {
	var plan core.Plan
	for _, start := range starts {
		if !start.Begins {
			continue
		}
		end, _ := s.runs.End(start.Job)
		plan.Jobs = append(plan.Jobs, rectangle(start.Job, now, end-now, start.Nodes))
	}
	if s.waiting.Jobs > 0 {
		w := s.waiting.All[s.waiting.First]
		if at, ok := s.view(now).FirstFit(int(w.Nodes), w.Length, now); ok && at < core.Forever {
			plan.Jobs = append(plan.Jobs, rectangle(w.ID, at, w.Length, int(w.Nodes)))
		}
	}
	return plan
}

// rectangle is the place of a rigid job.
func rectangle(id core.JobID, at, length core.Time, nodes int) core.Planned {
	return core.Planned{Allocation: core.Allocation{Job: id, Start: at, EP: core.EP{{Duration: length, Nodes: nodes}}}}
}
