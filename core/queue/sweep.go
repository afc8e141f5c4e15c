package queue

import (
	"accordion/core"
)

// sweep goes through the waiting jobs once: each may move to an earlier place.
//
// A rectangle need not be lifted out for that. Its own nodes are free to it where it lies, so that it can begin at t, before
// its start s, if and only if its nodes are free from t to s or for its length, whichever is over first, while it stays
// where it is. In the first case it slides, in the second it leaps to a place apart.
func (s *conservative) sweep(now core.Time) {
	s.memo.begin(s.waiting)
	for i := range s.waiting {
		r := &s.waiting[i]
		if r.shape != nil {
			s.sweepShape(now, r)
			continue
		}
		slides, leaps := s.memo.slides(r), s.memo.leaps(r)
		if !slides && !leaps {
			continue
		}
		if !(leaps && s.leap(now, r, slides)) && slides {
			s.slide(now, r)
		}
		s.memo.placed(r)
		s.due = min(s.due, r.start)
	}
}

// leap moves a rectangle to a place apart, if there is one and sliding leads to none that is earlier.
func (s *conservative) leap(now core.Time, r *reserved, slides bool) bool {
	at, ok := s.memo.apart(s.view, now, r)
	if !ok || slides && max(now, s.view.FreeSince(r.nodes, r.start)) <= at {
		return false
	}
	s.view.Change(at, at+r.length, r.nodes)
	if old := r.start; old < core.Forever { // else it had none
		s.view.Change(old, old+r.length, -r.nodes)
		s.memo.freed(s.view, old, old+r.length, r.nodes)
	}
	r.start = at
	return true
}

// slide moves a rectangle as far forward as it can without leaving its nodes.
func (s *conservative) slide(now core.Time, r *reserved) {
	old := r.start
	if r.start = s.view.Slide(r.nodes, r.length, old, now); r.start < old {
		s.memo.freed(s.view, max(old, r.start+r.length), old+r.length, r.nodes)
	}
}

// sweepShape is a sweep's part for a job that is no rectangle. It is lifted out when there is a better place only: most
// of the time there is none.
func (s *conservative) sweepShape(now core.Time, r *reserved) {
	old, end := r.shape.place, core.Forever
	if r.start < core.Forever {
		end = old.End()
	} else {
		old = core.Planned{}
	}
	p, ok := s.placer.earliest(s.view.Without(old.Start, old.EP), now, r.shape.job, end)
	if !ok {
		return
	}
	s.view.Remove(old.Start, old.EP)
	s.placer.improve(s.view, r.shape.job, &p)
	r.shape.place, r.start = p, p.Start
	s.view.Add(p.Start, p.EP)
	s.due = min(s.due, p.Start)
	if end < core.Forever {
		s.memo.freed(s.view, old.Start, end, s.machine.Nodes)
	}
}
