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
	lists := [...]*waiting.List{&s.due, &s.young}
	if s.turned {
		s.tidy()
		into = s.heads(now, into)
		for _, list := range lists {
			if list.Jobs > 0 && !s.policy.strict {
				into = s.fill(now, list, into)
			}
		}
	} else {
		for k, from := range [...]int{s.seenDue, s.seen} {
			if from < len(lists[k].All) && !s.policy.strict {
				into = s.fillLast(now, lists[k], from, into)
			}
		}
		s.watch()
	}
	s.passed()
	return into
}

// heads starts those that are due as long as they fit. The first that does not has the reservation; one that never fits has none.
func (s *state) heads(now core.Time, into []core.Start) []core.Start {
	for s.due.Jobs > 0 && int(s.due.All[s.due.First].Nodes) <= s.free {
		into = s.run(now, &s.due, s.due.First, into)
	}
	for i := s.due.First; i < len(s.due.All); i++ {
		w := &s.due.All[i]
		switch {
		case w.Nodes == waiting.Hole:
			continue
		case int(w.Nodes) <= s.free:
			into = s.run(now, &s.due, i, into)
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
				into = s.run(now, list, waiting.FirstOf(b)+i, into)
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
			into = s.run(now, list, i, into)
		}
	}
	return into
}

// run starts number i of a list, a rectangle.
func (s *state) run(now core.Time, list *waiting.List, i int, into []core.Start) []core.Start {
	w := list.Remove(i)
	h := held.Job{End: min(core.Forever, now+w.Length), ID: w.ID, Nodes: int(w.Nodes)}
	s.runs.Add(h, now)
	s.free -= h.Nodes
	s.place.Began(h)
	if s.patient {
		s.dues.Take(w.ID)
	}
	return append(into, core.Start{Job: h.ID, Nodes: h.Nodes, Begins: true})
}
