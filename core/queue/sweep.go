package queue

import (
	"accordion/core"
)

// sweep goes through the waiting jobs once: each may move to an earlier place.
//
// A rectangle need not be lifted out for that. Its own nodes are free to it where it lies, so that it can begin at t, before
// its start s, if and only if its nodes are free from t to s or for its length, whichever is over first, while it stays
// where it is (profile.Earlier).
func (s *conservative) sweep(now core.Time) {
	s.memo.begin(now)
	for i := range s.waiting {
		r := &s.waiting[i]
		if r.shape != nil {
			s.sweepShape(now, r)
			continue
		}
		if at, ok := s.memo.find(s.view, r); ok {
			s.move(r, at)
		}
	}
}

// move puts a rectangle to an earlier place, or to its first one.
func (s *conservative) move(r *reserved, at core.Time) {
	end := at + r.length
	if r.start >= core.Forever {
		s.view.Change(at, end, r.nodes)
	} else {
		s.view.Change(at, min(end, r.start), r.nodes)
		from, to := max(end, r.start), r.start+r.length
		s.view.Change(from, to, -r.nodes)
		s.memo.freed(s.view, from, to)
	}
	r.start = at
	s.due = min(s.due, at)
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
		s.memo.freed(s.view, old.Start, end)
	}
}
