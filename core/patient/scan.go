package patient

import (
	"accordion/core"
	"accordion/core/held"
	"accordion/core/profile"
)

// scan tries the jobs from so manieth on of those due, and of the young. Who is due and does not fit has a reservation, if there is one
// left.
func (s *quick) scan(now core.Time, due, young int, into []core.Start) []core.Start {
	for ; due < len(s.due.list) && len(s.places) < s.policy.Reservations; due++ {
		w := &s.due.list[due]
		if w.nodes == hole || w.has {
			continue
		}
		if choice, ok := s.fits(now, w); ok {
			jobs := s.due.jobs
			if into = s.start(now, &s.due, due, choice, into); jobs == 1 {
				break
			}
		} else {
			s.reserve(now, w)
		}
	}
	into = s.backfill(now, &s.due, due, into)
	into = s.backfill(now, &s.young, young, into)
	s.seenDue, s.seen = len(s.due.list), len(s.young.list)
	return into
}

// backfill starts those of a list, from so manieth on, that fit now.
func (s *quick) backfill(now core.Time, list *ranks, from int, into []core.Start) []core.Start {
	for b := from >> blockBits; b < len(list.least); b++ {
		if l := list.least[b]; !s.room(now, l.nodes, l.length) {
			continue
		}
		for i := max(from, b<<blockBits); i < len(list.list) && i>>blockBits == b; i++ {
			if choice, ok := s.fits(now, &list.list[i]); ok {
				into = s.start(now, list, i, choice, into)
			}
		}
	}
	return into
}

// room says whether so many nodes are free for so long.
func (s *quick) room(now core.Time, nodes int32, length core.Time) bool {
	if len(s.stairs) == 0 {
		s.climb(now)
	}
	for i := range s.stairs {
		if t := &s.stairs[i]; t.Free < int(nodes) {
			return t.From-now >= length
		}
	}
	return true
}

// climb makes the stairs.
func (s *quick) climb(now core.Time) {
	if s.viewed {
		s.stairs = s.view.Stairs(now, 0, s.stairs[:0])
		return
	}
	s.stairs = append(s.stairs[:0], profile.Stair{From: now, Free: s.free})
	if len(s.places) > 0 && s.beside < s.free {
		s.stairs = append(s.stairs, profile.Stair{From: s.places[0].Start, Free: s.beside})
	}
}

// fits says whether a job begins now, and in which choice.
func (s *quick) fits(now core.Time, w *want) (choice int, ok bool) {
	if !s.room(now, w.nodes, w.length) {
		return 0, false
	}
	if w.shape == nil {
		return 0, true
	}
	if w.as != s.times || now >= w.wakes {
		if choice, ok = s.shape(now, w); ok {
			return choice, true
		}
		w.as = s.times
	}
	s.wakes = min(s.wakes, w.wakes)
	return 0, false
}

// shape is fits for a job that is no rectangle. If it does not fit it says when it wakes.
func (s *quick) shape(now core.Time, w *want) (choice int, ok bool) {
	j := w.shape
	if w.wakes = j.Begin; now < j.Begin {
		return 0, false
	}
	w.wakes = core.Forever
	var end core.Time
	for i, ep := range j.Choices {
		if !runnable(ep) || ep.Peak() > s.machine.Nodes {
			continue
		}
		at := s.earliest(now, ep)
		w.wakes = min(w.wakes, at)
		total, peak := ep.Total(), ep.Peak()
		if at == now && (!ok || total < end || total == end && peak < j.Choices[choice].Peak()) {
			choice, end, ok = i, total, true
		}
	}
	return choice, ok
}

// earliest is an instant before which a profile does not begin: now, if it begins now.
func (s *quick) earliest(now core.Time, ep core.EP) core.Time {
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

// reserve gives a job a reservation, if it fits ever.
func (s *quick) reserve(now core.Time, w *want) {
	var p core.Planned
	if s.viewed {
		var ok bool
		if p, ok = s.chooser.Best(s.view, now, s.job(w)); !ok {
			return
		}
		s.view.Add(p.Start, p.EP)
		if s.begin = 0; w.shape != nil {
			s.begin, s.several = w.shape.Begin, s.several || len(w.shape.Choices) > 1
		}
	} else {
		p.Job, p.EP = w.id, core.EP{{Duration: w.length, Nodes: int(w.nodes)}}
		if p.Start, s.beside = s.enough(int(w.nodes)); p.Start >= core.Forever {
			return
		}
	}
	w.has = true
	s.places = append(s.places, p)
	s.stairs = s.stairs[:0]
}

// job is a waiting job.
func (s *quick) job(w *want) core.Job {
	if w.shape != nil {
		return *w.shape
	}
	return core.Job{ID: w.id, Choices: []core.EP{{{Duration: w.length, Nodes: int(w.nodes)}}}}
}

// enough is when so many nodes are free, as rectangles that run end, and how many are free beside them then.
func (s *quick) enough(nodes int) (at core.Time, beside int) {
	list, free := s.runs.List, s.free
	i := len(list)
	for i > 0 && free < nodes {
		i--
		free += list[i].Nodes
	}
	if free < nodes {
		return core.Forever, 0
	}
	for at = list[i].End; i > 0 && list[i-1].End == at; i-- {
		free += list[i-1].Nodes
	}
	return at, free - nodes
}

// start starts number i of a list.
func (s *quick) start(now core.Time, list *ranks, i, choice int, into []core.Start) []core.Start {
	w := list.remove(i)
	s.stairs = s.stairs[:0]
	if w.shape == nil {
		end, nodes := min(core.Forever, now+w.length), int(w.nodes)
		s.runs.Add(held.Job{End: end, ID: w.id, Nodes: nodes})
		s.rects.Set(w.id, rect{w.id, now, end, nodes})
		s.free -= nodes
		if s.viewed {
			s.view.Change(now, end, nodes)
		} else if len(s.places) > 0 && end > s.places[0].Start {
			s.beside -= nodes
		}
		return append(into, core.Start{Job: w.id, Nodes: nodes, Begins: true})
	}
	ep := w.shape.Choices[choice]
	r := held.Begun(core.Allocation{Job: w.id, Start: now, EP: ep})
	s.others, s.nexts = append(s.others, r), append(s.nexts, r.Next(now))
	s.view.Add(now, ep)
	return append(into, core.Start{Job: w.id, Choice: choice, Nodes: r.Size(), Begins: true})
}
