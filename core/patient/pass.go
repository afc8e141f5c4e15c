package patient

import (
	"cmp"
	"slices"

	"accordion/core"
	"accordion/core/held"
	"accordion/core/profile"
)

// Starts implements queue.State. Shrinks come first, then growths, then what begins: those due first. When it was not called at the
// instant of a change, the change is reported late, at the size of this instant.
func (s *state) Starts(now core.Time, into []core.Start) []core.Start {
	into = held.Resize(s.running, now, into)
	for _, p := range s.pass(now, nil) {
		into = append(into, core.Start{Job: p.Job, Choice: p.Choice, Nodes: p.EP.At(0), Begins: true})
	}
	return into
}

// pass starts what fits now, and makes the reservations anew.
func (s *state) pass(now core.Time, into []core.Planned) []core.Planned {
	s.renew(now)
	s.places = s.places[:0]
	candidates := make([]*waiter, len(s.waiting))
	for i := range s.waiting {
		candidates[i] = &s.waiting[i]
	}
	slices.SortStableFunc(candidates, func(a, b *waiter) int {
		if a.due > now && b.due > now {
			return 0
		}
		return cmp.Compare(a.due, b.due)
	})
	begun := len(into)
	for _, w := range candidates {
		if p, ok := s.now(now, w.Job); ok {
			s.occupy(&p, now)
			s.running = append(s.running, held.Begun(p.Allocation))
			into = append(into, p)
			continue
		}
		if w.due > now || len(s.places) >= s.policy.Reservations {
			continue
		}
		if p, ok := s.fit(now, w.Job); ok {
			s.occupy(&p, max(now, w.Begin))
			s.places = append(s.places, p)
		}
	}
	s.waiting = slices.DeleteFunc(s.waiting, func(w waiter) bool {
		return slices.ContainsFunc(into[begun:], func(p core.Planned) bool { return p.Job == w.ID })
	})
	return into
}

// renew makes the view of what runs.
func (s *state) renew(now core.Time) {
	s.view.CopyFrom(profile.New(s.machine.Nodes))
	for i := range s.running {
		if a := &s.running[i].Allocation; a.End() > now {
			s.view.Add(a.Start, a.EP)
		}
	}
	if s.guarded {
		s.outlook.Renew(now, s.view, held.Allocations(s.running))
	}
}

// now is the place of a job that begins now: of its choices that do, the one that completes first.
func (s *state) now(now core.Time, j core.Job) (best core.Planned, found bool) {
	if j.Begin > now {
		return best, false
	}
	for i := range j.Choices {
		one := j
		one.Choices = j.Choices[i : i+1]
		p, ok := s.chooser.Earliest(s.room(j).Without(0, nil), now, one, now+one.Choices[0].Total()+1)
		if ok && s.guarded {
			begin, clear := s.outlook.Clear(p, j.Margin)
			ok = clear && begin == now
		}
		if p.Choice = i; ok && (!found || p.End() < best.End() || p.End() == best.End() && p.EP.Peak() < best.EP.Peak()) {
			best, found = p, true
		}
	}
	return best, found
}

// room is the view into which a job is fitted.
func (s *state) room(j core.Job) *profile.Profile {
	if s.guarded && j.Guard <= 0 {
		return s.outlook.Taken()
	}
	return s.view
}

// fit is a job's earliest completion: where its margin, too, is in the way of no job with a guard before it.
func (s *state) fit(now core.Time, j core.Job) (core.Planned, bool) {
	p, ok := s.chooser.Best(s.room(j), now, j)
	for ok && s.guarded {
		begin, clear := s.outlook.Clear(p, j.Margin)
		if !clear || begin == p.Start {
			return p, clear
		}
		j.Begin = begin
		p, ok = s.chooser.Best(s.room(j), now, j)
	}
	return p, ok
}

// occupy enters a place, and says when it begins at the earliest.
func (s *state) occupy(p *core.Planned, notBefore core.Time) {
	s.view.Add(p.Start, p.EP)
	if s.guarded {
		s.outlook.Occupy(p, notBefore)
	}
}
