package sched

import (
	"accordion/core"
)

// Starts implements State. It reports shrinks first, then growths, then starts; jobs that are due come first. If it was not
// called at the time of a change, it reports the change late, with the present size.
//
// Without a view it follows the published EASY, with two queues: the jobs that are due and the others.
func (s *easyState) Starts(now core.Time, into []core.Start) []core.Start {
	if s.reference != nil {
		return s.reference.Starts(now, into)
	}
	if last := len(s.runs.List) - 1; now < s.asOf || last >= 0 && s.runs.List[last].End <= now {
		s.advance(now)
	}
	s.asOf = now
	if s.view != nil {
		return s.startByView(now, into)
	}
	if s.patient || s.firstBegin <= now {
		s.promoteDue(now)
	}
	switch {
	case s.recheck:
		s.recheck = false
		if s.due.Tidy(); s.patient {
			s.trackDue()
			s.notDue.Tidy()
		}
		into = s.startHeads(now, into)
		if s.due.Jobs > 0 && !s.policy.strict {
			into = s.backfill(now, &s.due, into)
		}
		if s.notDue.Jobs > 0 {
			into = s.backfill(now, &s.notDue, into)
		}
	case !s.policy.strict:
		if s.seenDue < len(s.due.All) {
			into = s.backfillFrom(now, &s.due, s.seenDue, into)
		}
		if s.seen < len(s.notDue.All) {
			into = s.backfillFrom(now, &s.notDue, s.seen, into)
			s.trackDue()
		}
	}
	s.markSeen()
	return into
}

// startByView starts jobs that fit the view.
func (s *easyState) startByView(now core.Time, into []core.Start) []core.Start {
	into = s.resize(now, into)
	s.promoteDue(now)
	begins := s.checkPlaces(now)
	if s.stale || s.reordered {
		s.renew(now)
	}
	if s.recheck || s.freed || begins || now >= s.retryAt {
		return s.pass(now, into)
	}
	into = s.scan(now, s.seenDue, s.seen, into)
	s.trackDue()
	s.markSeen()
	return into
}

// advance releases the nodes of the jobs whose requested time has ended. If the clock was set back, it takes these nodes again.
func (s *easyState) advance(now core.Time) {
	if now < s.asOf {
		s.free -= s.runs.Back()
		s.stale = true
		s.place.Invalidate()
	}
	s.free += s.runs.Pass(now)
	s.recheck, s.stairs = true, s.stairs[:0]
}

// resize reports the jobs whose size has changed.
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
	s.recheck, s.stairs = true, s.stairs[:0]
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

// renew builds the view again from the running jobs and drops all reservations.
func (s *easyState) renew(now core.Time) {
	s.stale, s.reordered, s.freed, s.recheck = false, false, true, true
	s.places, s.several, s.stairs = s.places[:0], false, s.stairs[:0]
	s.runs.Occupy(s.view, s.machine.Nodes, now, s.others)
}

// dropReservations removes all reservations.
func (s *easyState) dropReservations() {
	for i := range s.places {
		s.view.Remove(s.places[i].Start, s.places[i].EP)
	}
	s.places, s.several, s.stairs = s.places[:0], false, s.stairs[:0]
}

// pass checks all waiting jobs.
func (s *easyState) pass(now core.Time, into []core.Start) []core.Start {
	s.view.Forget(now)
	if s.freed {
		s.releases++
		if len(s.places) > 0 && !s.reservationStands(now) {
			s.dropReservations()
		}
	}
	s.tidy()
	s.freed, s.retryAt = false, core.Forever
	for i := 0; i < len(s.places); {
		if p := s.places[i]; p.Start <= now {
			into = s.startReserved(now, i, into)
		} else {
			i++
		}
	}
	into = s.scan(now, s.due.First, s.notDue.First, into)
	s.markSeen()
	return into
}

// checkPlaces reports whether a job that has a reservation may start now. A job whose reservation was missed loses
// it. A job with several profiles is checked again every time, because a profile other than the reserved one may
// start earlier.
func (s *easyState) checkPlaces(now core.Time) bool {
	begins := false
	for i := range s.places {
		at := s.places[i].Start
		begins = begins || at <= now
		s.stale = s.stale || at < now
	}
	s.freed = s.freed || s.several
	return begins
}

// reservationStands reports whether the only reservation's job has no better place and does not start now.
func (s *easyState) reservationStands(now core.Time) bool {
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

// startReserved starts the job of reservation i, in its place.
func (s *easyState) startReserved(now core.Time, i int, into []core.Start) []core.Start {
	p := s.places[i]
	s.places = append(s.places[:i], s.places[i+1:]...)
	s.view.Remove(p.Start, p.EP) // start adds the job to the view again
	return s.start(now, &s.due, s.due.Find(p.Job), p.Choice, into)
}
