package patient

import (
	"math/bits"

	"accordion/core"
	"accordion/core/held"
	"accordion/core/waiting"
)

// rectangles starts jobs as long as there is no view: EASY by its paper, with two queues, those that are due and the young.
func (s *state) rectangles(now core.Time, into []core.Start) []core.Start {
	s.grow(now)
	if s.turned {
		s.tidy()
		into = s.heads(now, into)
		if !s.policy.strict && s.due.Jobs+s.young.Jobs > 0 {
			into = s.fill(now, &s.due, into)
			into = s.fill(now, &s.young, into)
		}
		s.passed()
		return into
	}
	if !s.policy.strict {
		into = s.fillLast(now, &s.due, s.seenDue, into)
		into = s.fillLast(now, &s.young, s.seen, into)
	}
	s.watch()
	s.passed()
	return into
}

// heads starts those that are due as long as they fit. The first that does not has the reservation; one that never fits has none.
func (s *state) heads(now core.Time, into []core.Start) []core.Start {
	for i := s.due.First; i < len(s.due.All); i++ {
		w := &s.due.All[i]
		switch {
		case w.Nodes == waiting.Hole:
			continue
		case int(w.Nodes) <= s.free:
			into = s.begins(now, &s.due, i, into)
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

// fill starts those of a list that are not in the way of the reservation. Where the last one starts, all else are holes, for which there
// is no room.
func (s *state) fill(now core.Time, list *waiting.List, into []core.Start) []core.Start {
	room, all := s.place.Room(now, s.free), list.Least
	for b := room.Next(all, waiting.BlockOf(list.First)); b < len(all); b = room.Next(all, b+1) {
		block := list.Block(b)
		for fit := room.Fitting(block); fit != 0; fit &= fit - 1 {
			if i := bits.TrailingZeros(fit); room.Has(&block[i]) {
				into = s.begins(now, list, waiting.FirstOf(b)+i, into)
				room = s.place.Room(now, s.free)
			}
		}
	}
	return into
}

// fillLast does so from so manieth on.
func (s *state) fillLast(now core.Time, list *waiting.List, from int, into []core.Start) []core.Start {
	for i := from; i < len(list.All); i++ {
		if room := s.place.Room(now, s.free); room.Has(&list.All[i]) {
			into = s.begins(now, list, i, into)
		}
	}
	return into
}

// begins starts number i of a list.
func (s *state) begins(now core.Time, list *waiting.List, i int, into []core.Start) []core.Start {
	h := s.run(now, list, i)
	s.place.Began(h)
	return append(into, core.Start{Job: h.ID, Nodes: h.Nodes, Begins: true})
}

// run moves number i of a list to what runs: a rectangle.
func (s *state) run(now core.Time, list *waiting.List, i int) held.Job {
	w := list.Remove(i)
	h := held.Job{End: min(core.Forever, now+w.Length), ID: w.ID, Nodes: int(w.Nodes)}
	s.runs.Add(h, now)
	s.free -= h.Nodes
	if s.patient {
		s.dues.Take(w.ID)
	}
	return h
}
