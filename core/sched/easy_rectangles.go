package sched

import (
	"math/bits"

	"accordion/core"
)

// heads starts those that are due as long as they fit. The first that does not has the reservation.
func (s *easyState) heads(now core.Time, into []core.Start) []core.Start {
	for s.due.Jobs > 0 {
		w := &s.due.All[s.due.First]
		if int(w.Nodes) > s.free {
			if !s.place.Of(w) {
				s.place = reserveFor(w, s.free, s.runs.List)
			}
			return into
		}
		into = s.run(now, &s.due, s.due.First, into)
	}
	if s.patient { // else the next job to come is the head
		s.place = noReservation()
	}
	return into
}

// fill starts jobs of a list that do not delay the reservation. Where the last one starts, all else are holes, for which there
// is no room.
func (s *easyState) fill(now core.Time, list *waitingList, into []core.Start) []core.Start {
	room, all := s.place.Room(now, s.free), list.Least
	for b := room.Next(all, blockOf(list.First)); b < len(all); b = room.Next(all, b+1) {
		block := list.Block(b)
		for fit := room.Fitting(block); fit != 0; fit &= fit - 1 {
			if i := bits.TrailingZeros(fit); room.Has(&block[i]) {
				into = s.run(now, list, firstOf(b)+i, into)
				room = s.place.Room(now, s.free)
			}
		}
	}
	return into
}

// fillLast starts jobs of a list as fill does, from number from on.
func (s *easyState) fillLast(now core.Time, list *waitingList, from int, into []core.Start) []core.Start {
	for i := from; i < len(list.All); i++ {
		if room := s.place.Room(now, s.free); room.Has(&list.All[i]) {
			into = s.run(now, list, i, into)
		}
	}
	return into
}

// run starts number i of a list, a rectangle.
func (s *easyState) run(now core.Time, list *waitingList, i int, into []core.Start) []core.Start {
	w := list.Remove(i)
	h := RunningJob{End: min(core.Forever, now+w.Length), ID: w.ID, Nodes: int(w.Nodes)}
	s.runs.Add(h, now)
	s.free -= h.Nodes
	s.place.Began(h)
	if s.patient {
		s.dues.Take(w.ID)
	}
	return append(into, core.Start{Job: h.ID, Nodes: h.Nodes, Begins: true})
}
