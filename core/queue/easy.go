package queue

import (
	"math/bits"

	"accordion/core"
	"accordion/core/held"
	"accordion/core/profile"
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
		s.waiting.tidy()
		into = s.heads(now, into)
		if s.waiting.jobs == 0 {
			return into // whatever comes next will be a head
		}
		s.stale = false
		if head := &s.waiting.list[s.waiting.first]; !s.head.of(head) {
			s.head = reserve(head, s.free, s.runs.List)
		}
		into = s.backfill(now, into)
	} else {
		into = s.backfillLast(now, into)
	}
	s.seen = len(s.waiting.list)
	return into
}

// backfillLast starts what does not delay the head, of the jobs not seen yet.
func (s *easy) backfillLast(now core.Time, into []core.Start) []core.Start {
	for i := s.seen; i < len(s.waiting.list); i++ {
		if w := &s.waiting.list[i]; s.room(now).lacks(w.nodes, w.length) == 0 {
			into = s.start(now, i, into)
		}
	}
	return into
}

// backfill starts what does not delay the head. It goes by blocks, and by those in which no job can be one of them at once.
func (s *easy) backfill(now core.Time, into []core.Start) []core.Start {
	room, all := s.room(now), s.waiting.least
	for b := room.next(all, s.waiting.first>>blockBits); b < len(all); b = room.next(all, b+1) {
		block := s.waiting.block(b)
		for fit := room.fitting(block); fit != 0; fit &= fit - 1 {
			i := bits.TrailingZeros(fit)
			if w := &block[i]; room.lacks(w.nodes, w.length) == 0 {
				into = s.start(now, b<<blockBits+i, into)
				room = s.room(now)
			}
		}
	}
	return into
}

// room is where a job can start and does not delay the head.
type room struct {
	free   core.Time // nodes
	beside core.Time // the nodes of them that the head does not need
	length core.Time // seconds for which the others are free
}

func (s *easy) room(now core.Time) room {
	return room{core.Time(s.free), core.Time(s.head.extra), s.head.at - now}
}

// lacks is 0 when so many nodes are free, and either for so long or beside the head, and 1 when not. It asks for the signs of all
// differences at once: each for itself is guessed wrongly too often.
func (r room) lacks(nodes int32, length core.Time) uint {
	n := core.Time(nodes)
	return uint(r.free-n|(r.length-length)&(r.beside-n)) >> 63
}

// next is the number of the first block, from a number on, in which some job might find room. It stays a function of its own, as
// fitting does: then all that its loop needs is in registers.
//
//go:noinline
func (r room) next(all []least, b int) int {
	for b < len(all) && r.lacks(all[b].nodes, all[b].length) != 0 {
		b++
	}
	return b
}

// fitting has a bit for each job of a block, the first job's the lowest: it is set when the job finds room.
//
//go:noinline
func (r room) fitting(block []want) uint {
	lack := uint(0)
	for i := len(block) - 1; i >= 0; i-- {
		w := &block[i]
		lack = lack<<1 | r.lacks(w.nodes, w.length)
	}
	return ^lack & (1<<len(block) - 1)
}

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
	fits := func(w want) bool {
		at, ok := view.FirstFit(int(w.nodes), w.length, now)
		return ok && at == now
	}
	head := true // all before have started
	for i := s.waiting.first; i < len(s.waiting.list); i++ {
		w := s.waiting.list[i]
		switch {
		case w.nodes == hole:
		case fits(w):
			view.Add(now, core.EP{{Duration: w.length, Nodes: int(w.nodes)}})
			into = s.start(now, i, into)
		case !backfill:
			return into
		case head:
			head = false
			if at, ok := view.FirstFit(int(w.nodes), w.length, now); ok {
				view.Add(at, core.EP{{Duration: w.length, Nodes: int(w.nodes)}})
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
	if s.waiting.jobs > 0 {
		w := s.waiting.list[s.waiting.first]
		if at, ok := s.view(now).FirstFit(int(w.nodes), w.length, now); ok && at < core.Forever {
			plan.Jobs = append(plan.Jobs, rectangle(w.id, at, w.length, int(w.nodes)))
		}
	}
	return plan
}

// rectangle is the place of a rigid job.
func rectangle(id core.JobID, at, length core.Time, nodes int) core.Planned {
	return core.Planned{Allocation: core.Allocation{Job: id, Start: at, EP: core.EP{{Duration: length, Nodes: nodes}}}}
}

// reservation is when the head of the queue starts, by the requested times of what runs: as soon as enough nodes are free.
type reservation struct {
	made  bool
	rank  uint32    // the head's
	at    core.Time // Forever on a machine that lost nodes and will never have as many
	extra int       // nodes that are free beside the head then
	short int       // nodes that are missing right before
}

// reserve finds out when the head starts, who does not fit now. What runs is given by its ends, the soonest last.
func reserve(head *want, free int, running []held.Job) reservation {
	nodes := int(head.nodes)
	i := len(running)
	for i > 0 && free < nodes {
		i--
		free += running[i].Nodes
	}
	if free < nodes {
		return reservation{made: true, rank: head.came, at: core.Forever, short: nodes - free}
	}
	at := running[i].End
	short := nodes - free + running[i].Nodes
	for i > 0 && running[i-1].End == at {
		i--
		free += running[i].Nodes
	}
	return reservation{true, head.came, at, free - nodes, short}
}

// of says whether it is a job's.
func (r *reservation) of(head *want) bool { return r.made && r.rank == head.came }

// ended is told of a running job that ends before the end of its request. Whoever was to end before the head starts is counted at
// that time already. The nodes of the others are free beside the head, and can make it start sooner: when they were all
// that was missing.
func (r *reservation) ended(h held.Job) {
	if h.End < r.at {
		return
	}
	if h.End > r.at {
		r.extra += h.Nodes
	}
	r.short -= h.Nodes
	r.made = r.made && r.short > 0
}

// began is told of a job that starts. It is in the head's way if it ranked before it and started at once.
func (r *reservation) began(h held.Job) {
	if h.End < r.at {
		return
	}
	if h.End > r.at {
		r.extra -= h.Nodes
	}
	r.short += h.Nodes
	r.made = r.made && r.extra >= 0
}
