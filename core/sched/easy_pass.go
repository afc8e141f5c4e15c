package sched

import (
	"accordion/core"
)

// Starts implements sched.State. Shrinks come first, then growths, then what begins: those due first. When it was not called at the
// instant of a change, the change is reported late, at the size of this instant.
//
// As long as there is no view it is EASY by its paper, with two queues: those that are due and the young.
func (s *easyState) Starts(now core.Time, into []core.Start) []core.Start {
	if s.plain != nil {
		return s.plain.Starts(now, into)
	}
	if last := len(s.runs.List) - 1; now < s.asOf || last >= 0 && s.runs.List[last].End <= now {
		s.advance(now)
	}
	s.asOf = now
	if s.view != nil {
		return s.shapes(now, into)
	}
	if s.patient || s.opens <= now {
		s.grow(now)
	}
	switch {
	case s.turned:
		s.turned = false
		if s.due.Tidy(); s.patient {
			s.watch()
			s.young.Tidy()
		}
		into = s.heads(now, into)
		if s.due.Jobs > 0 && !s.policy.strict {
			into = s.fill(now, &s.due, into)
		}
		if s.young.Jobs > 0 {
			into = s.fill(now, &s.young, into)
		}
	case !s.policy.strict:
		if s.seenDue < len(s.due.All) {
			into = s.fillLast(now, &s.due, s.seenDue, into)
		}
		if s.seen < len(s.young.All) {
			into = s.fillLast(now, &s.young, s.seen, into)
			s.watch()
		}
	}
	s.passed()
	return into
}

// shapes starts jobs by the view.
func (s *easyState) shapes(now core.Time, into []core.Start) []core.Start {
	into = s.resize(now, into)
	s.grow(now)
	begins := s.placed(now)
	if s.stale || s.early {
		s.renew(now)
	}
	if s.turned || s.freed || begins || now >= s.wakes {
		return s.pass(now, into)
	}
	into = s.scan(now, s.seenDue, s.seen, into)
	s.watch()
	s.passed()
	return into
}

// advance counts the nodes of those that have ended by an instant. When the clock was set back they have not.
func (s *easyState) advance(now core.Time) {
	if now < s.asOf {
		s.free -= s.runs.Back()
		s.stale = true
		s.place.Drop()
	}
	s.free += s.runs.Pass(now)
	s.turned, s.stairs = true, s.stairs[:0]
}

// resize reports those whose size has changed.
func (s *easyState) resize(now core.Time, into []core.Start) []core.Start {
	s.changing = s.changing[:0]
	for i, at := range s.nexts {
		if at <= now || s.stale {
			s.changing = append(s.changing, s.others[i])
		}
	}
	if len(s.changing) == 0 {
		return into
	}
	s.turned, s.stairs = true, s.stairs[:0]
	into = Resize(s.changing, now, into)
	k := 0
	for i, at := range s.nexts {
		if at <= now || s.stale {
			s.others[i], s.nexts[i] = s.changing[k], s.changing[k].Next(now)
			k++
		}
	}
	return into
}

// renew makes everything anew but who waits and what runs. Nobody has a reservation.
func (s *easyState) renew(now core.Time) {
	s.stale, s.early, s.freed, s.turned = false, false, true, true
	s.places, s.several, s.stairs = s.places[:0], false, s.stairs[:0]
	s.runs.Occupy(s.view, s.machine.Nodes, now, s.others)
}

// drop takes all reservations back.
func (s *easyState) drop() {
	for i := range s.places {
		s.view.Remove(s.places[i].Start, s.places[i].EP)
	}
	s.places, s.several, s.stairs = s.places[:0], false, s.stairs[:0]
}

// pass looks at all that wait.
func (s *easyState) pass(now core.Time, into []core.Start) []core.Start {
	s.view.Forget(now)
	if s.freed {
		s.backs++
		if len(s.places) > 0 && !s.stays(now) {
			s.drop()
		}
	}
	s.tidy()
	s.freed, s.wakes = false, core.Forever
	for i := 0; i < len(s.places); {
		if p := s.places[i]; p.Start <= now {
			into = s.enter(now, i, into)
		} else {
			i++
		}
	}
	into = s.scan(now, s.due.First, s.young.First, into)
	s.passed()
	return into
}

// placed says whether somebody who has a place may begin now. One whose place was missed has none any more; and one with several
// profiles is looked at anew each time, for another profile may begin before the one that he has the place for.
func (s *easyState) placed(now core.Time) bool {
	begins := false
	for i := range s.places {
		at := s.places[i].Start
		begins = begins || at <= now
		s.stale = s.stale || at < now
	}
	s.freed = s.freed || s.several
	return begins
}

// stays says whether the only reservation's job has no better place, and does not begin now.
func (s *easyState) stays(now core.Time) bool {
	if len(s.places) != 1 || s.several {
		return false
	}
	p := &s.places[0]
	lifted := s.view.Without(p.Start, p.EP)
	if len(p.EP) == 1 {
		_, better := lifted.FirstFit(p.EP[0].Nodes, p.EP[0].Duration, max(now, s.begin), p.Start)
		return !better
	}
	j := core.Job{ID: p.Job, Begin: s.begin, Choices: s.only[:]}
	s.only[0] = p.EP
	_, better := s.chooser.Earliest(lifted, now, j, p.End())
	return !better
}

// enter starts number i of those with a reservation, in its place.
func (s *easyState) enter(now core.Time, i int, into []core.Start) []core.Start {
	p := s.places[i]
	s.places = append(s.places[:i], s.places[i+1:]...)
	s.view.Remove(p.Start, p.EP) // it is entered again
	return s.start(now, &s.due, s.due.Find(p.Job), p.Choice, into)
}
