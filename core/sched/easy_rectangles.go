package sched

import (
	"math/bits"

	"accordion/core"
)

// startHeads starts due jobs in order as long as they fit. The first job that does not fit gets the reservation.
func (s *easyState) startHeads(now core.Time, into []core.Start) []core.Start {
	for s.due.Jobs > 0 {
		w := &s.due.All[s.due.First]
		if int(w.Nodes) > s.free {
			if !s.place.IsFor(w) {
				s.place = reserveFor(w, s.free, s.runs.List)
			}
			return into
		}
		into = s.startRectangle(now, &s.due, s.due.First, into)
	}
	if s.patient { // otherwise the next job to be submitted is the head
		s.place = noReservation()
	}
	return into
}

// backfill starts the rectangles of a list that do not delay the reservation. After the last job of the list has started, the
// list has only holes, which never fit.
func (s *easyState) backfill(now core.Time, list *waitingList, into []core.Start) []core.Start {
	room, all := s.place.Room(now, s.free), list.Least
	for b := room.Next(all, blockOf(list.First)); b < len(all); b = room.Next(all, b+1) {
		block := list.Block(b)
		for fit := room.Fitting(block); fit != 0; fit &= fit - 1 {
			if i := bits.TrailingZeros(fit); room.Has(&block[i]) {
				into = s.startRectangle(now, list, firstOf(b)+i, into)
				room = s.place.Room(now, s.free)
			}
		}
	}
	return into
}

// backfillFrom does what backfill does, for the entries of the list from an index on.
func (s *easyState) backfillFrom(now core.Time, list *waitingList, from int, into []core.Start) []core.Start {
	for i := from; i < len(list.All); i++ {
		if room := s.place.Room(now, s.free); room.Has(&list.All[i]) {
			into = s.startRectangle(now, list, i, into)
		}
	}
	return into
}

// startRectangle starts entry i of a list, a rectangle.
func (s *easyState) startRectangle(now core.Time, list *waitingList, i int, into []core.Start) []core.Start {
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
