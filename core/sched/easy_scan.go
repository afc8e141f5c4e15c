package sched

import (
	"accordion/core"
)

// scan tries the jobs of due and notDue from the given indexes on. A due job that does not fit gets a reservation, if
// one is left.
func (s *easyState) scan(now core.Time, due, notDue int, into []core.Start) []core.Start {
	for ; due < len(s.due.All) && len(s.places) < s.policy.Reservations; due++ {
		w := &s.due.All[due]
		if w.Nodes == hole || s.reserved(w.ID) {
			continue
		}
		if choice, ok := s.fits(now, w); ok {
			into = s.start(now, &s.due, due, choice, into)
		} else {
			s.reserve(now, w)
		}
	}
	if s.policy.strict {
		return into
	}
	into = s.backfillView(now, &s.due, due, into)
	return s.backfillView(now, &s.notDue, notDue, into)
}

// backfillView starts the jobs that fit now, among the entries of a list from an index on.
func (s *easyState) backfillView(now core.Time, list *waitingList, from int, into []core.Start) []core.Start {
	for b := blockOf(from); b < len(list.Least); b++ {
		if l := &list.Least[b]; !s.room(now, l.Nodes, l.Length) {
			continue
		}
		for i := max(from, firstOf(b)); i < min(len(list.All), firstOf(b+1)); i++ {
			if choice, ok := s.fits(now, &list.All[i]); ok {
				into = s.start(now, list, i, choice, into)
			}
		}
	}
	return into
}

// room reports whether the nodes are free from now on for `length` seconds.
func (s *easyState) room(now core.Time, nodes int32, length core.Time) bool {
	if len(s.stairs) == 0 {
		s.stairs = s.view.Stairs(now, 0, s.stairs[:0])
	}
	for i := range s.stairs {
		if t := &s.stairs[i]; t.Free < int(nodes) {
			return t.From-now >= length
		}
	}
	return true
}

// fits reports whether a job can start now, and in which choice.
func (s *easyState) fits(now core.Time, w *waitingJob) (choice int, ok bool) {
	if !s.room(now, w.Nodes, w.Length) {
		return 0, false
	}
	o, is := s.shaped.Get(w.ID)
	if !is {
		return 0, true
	}
	if o.asOf != s.releases || now >= o.retryAt {
		if choice, ok = s.fitsShaped(now, o); ok {
			return choice, true
		}
		o.asOf = s.releases
	}
	s.retryAt = min(s.retryAt, o.retryAt)
	return 0, false
}

// fitsShaped reports whether a job that is not a rectangle can start now, and in which choice. If it cannot, it sets
// the job's retryAt.
func (s *easyState) fitsShaped(now core.Time, j *shaped) (choice int, ok bool) {
	if j.retryAt = j.Begin; now < j.Begin {
		return 0, false
	}
	j.retryAt = core.Forever
	var end core.Time
	for i, ep := range j.Choices {
		if !runnable(ep) || ep.Peak() > min(s.machine.Nodes, hole-1) {
			continue
		}
		at := s.earliest(now, ep)
		j.retryAt = min(j.retryAt, at)
		total, peak := ep.Total(), ep.Peak()
		if at == now && (!ok || total < end || total == end && peak < j.Choices[choice].Peak()) {
			choice, end, ok = i, total, true
		}
	}
	return choice, ok
}

// earliest returns a time before which a profile cannot start. It returns now if the profile can start now.
func (s *easyState) earliest(now core.Time, ep core.EP) core.Time {
	at := now
	for _, step := range ep {
		if free, ok := s.view.FirstFit(step.Nodes, step.Duration, at); !ok {
			return core.Forever
		} else if free > at {
			return now + free - at
		}
		at += step.Duration
	}
	return now
}

// reserve gives a job a reservation, if it ever fits.
func (s *easyState) reserve(now core.Time, w *waitingJob) {
	j := s.job(w)
	p, ok := s.chooser.Best(s.view, now, j)
	if !ok {
		return
	}
	s.view.Add(p.Start, p.EP)
	s.begin, s.several = j.Begin, s.several || len(j.Choices) > 1
	s.places = append(s.places, p)
	s.stairs = s.stairs[:0]
}

// start starts entry i of a list.
func (s *easyState) start(now core.Time, list *waitingList, i, choice int, into []core.Start) []core.Start {
	s.stairs = s.stairs[:0]
	id := list.All[i].ID
	o, is := s.shaped.Take(id)
	if !is {
		w := &list.All[i]
		s.view.Change(now, min(core.Forever, now+w.Length), int(w.Nodes))
		return s.startRectangle(now, list, i, into)
	}
	list.Remove(i)
	s.dues.Take(id)
	ep := o.Choices[choice]
	r := activeFrom(core.Allocation{Job: id, Start: now, EP: ep})
	s.others, s.nexts = append(s.others, r), append(s.nexts, r.Next(now))
	s.view.Add(now, ep)
	return append(into, core.Start{Job: id, Choice: choice, Nodes: r.Size(), Begins: true})
}
