package queue

import (
	"slices"

	"accordion/core"
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
		into = resize(s.others, now, into)
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
// the others because they need more than is free, or end behind shadow and need more than extra. As time goes on and
// nothing ends they still cannot.
type easy struct {
	line
	seen   int
	shadow core.Time // when the head fits
	extra  int       // nodes that are free beside it then
}

// Starts implements State.
func (s *easy) Starts(now core.Time, into []core.Start) []core.Start {
	s.advance(now)
	if len(s.others) > 0 {
		into = resize(s.others, now, into)
		return s.beside(now, into, true)
	}
	if s.stale {
		s.waiting.tidy()
		into = s.heads(now, into)
		if s.waiting.jobs == 0 {
			return into // whatever comes next will be a head
		}
		s.stale, s.seen = false, s.waiting.first+1
		s.reserve(int(s.waiting.list[s.waiting.first].nodes))
	}
	return s.backfill(now, into)
}

// reserve finds out when the head fits. A machine that lost nodes may never have as many.
func (s *easy) reserve(nodes int) {
	free, i := s.free, s.expired
	for i < len(s.held) && free < nodes {
		free += s.held[i].nodes
		i++
	}
	if free < nodes {
		s.shadow, s.extra = core.Forever, 0
		return
	}
	s.shadow = s.held[i-1].end
	for i < len(s.held) && s.held[i].end == s.shadow {
		free += s.held[i].nodes
		i++
	}
	s.extra = free - nodes
}

// backfill starts what does not delay the head, of the jobs not seen yet. It goes by blocks, and by those that need more
// nodes than are free at once.
func (s *easy) backfill(now core.Time, into []core.Start) []core.Start {
	r, room, first := &s.waiting, s.shadow-now, s.seen
	s.seen = len(r.list)
	for b := first >> blockBits; b < len(r.least); b++ {
		if l := &r.least[b]; !s.fits(l.nodes, l.length, room) {
			continue
		}
		left, begin := nothing, b<<blockBits
		for i := max(begin, first); i < min(begin+block, len(r.list)); i++ {
			w := &r.list[i]
			if !s.fits(w.nodes, w.length, room) {
				left.add(w)
				continue
			}
			if w.length > room {
				s.extra -= int(w.nodes)
			}
			into = s.start(now, i, into)
		}
		if first <= begin {
			r.least[b] = left
		}
	}
	return into
}

// fits says whether so many nodes are free, and either for so long or beside the head. It asks for the signs of all
// differences at once: each for itself is guessed wrongly too often.
func (s *easy) fits(nodes int32, length, room core.Time) bool {
	n := core.Time(nodes)
	return core.Time(s.free)-n|(room-length)&(core.Time(s.extra)-n) >= 0
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
	view := profile.New(s.machine.Nodes)
	for _, h := range s.held[s.expired:] {
		view.Add(now, core.EP{{Duration: h.end - now, Nodes: h.nodes}})
	}
	for i := range s.others {
		if a := &s.others[i].Allocation; a.End() > now {
			view.Add(a.Start, a.EP)
		}
	}
	return view
}

// plan is what starts now and where the head comes to lie then.
func (s *line) plan(now core.Time, starts []core.Start) core.Plan {
	var plan core.Plan
	for _, start := range starts {
		if !start.Begins {
			continue
		}
		i := slices.IndexFunc(s.held, func(h held) bool { return h.id == start.Job })
		plan.Jobs = append(plan.Jobs, rectangle(start.Job, now, s.held[i].end-now, start.Nodes))
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
