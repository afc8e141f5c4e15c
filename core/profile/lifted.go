package profile

import (
	"accordion/core"
	"accordion/core/profile/list"
)

// Lifted is a profile as the owner of one place in it sees it: without that place, which is free to him. Nothing is taken
// out for that, so that to look for a better place and find none, as most do who look, changes nothing. It is good until
// the profile is changed.
type Lifted struct {
	profile *Profile
	start   core.Time // of the place; list.EndOfTime when there is none
	ep      core.EP   // what is used there
	front   *Front    // what is remembered of it; nil: nothing
}

// Without is the profile without what Add(start, ep) occupied: as it is where ep has no steps.
func (p *Profile) Without(start core.Time, ep core.EP) Lifted {
	if len(ep) == 0 {
		start = list.EndOfTime
	}
	return Lifted{profile: p, start: start, ep: ep}
}

// Nodes is the machine's size.
func (v *Lifted) Nodes() int { return v.profile.nodes }

// FirstFit is the earliest instant in [from, until) from which n nodes are free for d seconds; d is Forever for a need
// without end. ok is false when there is none.
func (v *Lifted) FirstFit(n int, d, from, until core.Time) (start core.Time, ok bool) {
	p := v.profile
	switch {
	case v.front != nil:
		return v.front.search(p, n, d, from, until)
	case from >= until || n <= 0 || len(v.ep) == 0:
		return p.Earlier(n, d, from, until)
	case p.tree == nil:
		return v.sweep(p.nodes-n, max(d, 1), from, until)
	}
	return v.search(p.nodes-n, max(d, 1), from, until)
}

// FirstBelow is the first instant, not before from, with fewer than n nodes free; Forever and false when there is none.
func (v *Lifted) FirstBelow(n int, from core.Time) (t core.Time, ok bool) {
	if n <= 0 || len(v.ep) == 0 {
		return v.profile.FirstBelow(n, from)
	}
	for s := v.section(from); ; v.next(&s) {
		if t, ok = v.profile.firstAbove(v.profile.nodes-n+s.own, max(s.from, from), s.to); ok || s.to == list.EndOfTime {
			return t, ok
		}
	}
}

// FreeSince is the begin of the stretch with n nodes free that reaches up to t, and no earlier than from: t itself when n
// are not free right before t.
func (v *Lifted) FreeSince(n int, from, t core.Time) core.Time {
	if n <= 0 || len(v.ep) == 0 {
		return max(from, v.profile.FreeSince(n, t))
	}
	since := from
	for s := v.section(from); s.from < t; v.next(&s) {
		to := min(t, s.to)
		if end, ok := v.profile.lastAbove(v.profile.nodes-n+s.own, max(s.from, from), to); ok {
			since = min(end, to)
		}
		if s.to == list.EndOfTime {
			break
		}
	}
	return since
}

// section is a stretch of time in which the place's own use is the same.
type section struct {
	from, to core.Time
	own      int // nodes
	behind   int // steps before its end
}

// section is the one that an instant is in.
func (v *Lifted) section(t core.Time) section {
	s := section{from: -core.Forever, to: v.start}
	for s.to <= t && s.to < list.EndOfTime {
		v.next(&s)
	}
	return s
}

// next goes on to the section behind one that is not the last.
func (v *Lifted) next(s *section) {
	ep := v.ep[s.behind:]
	for len(ep) > 0 && ep[0].Duration <= 0 {
		ep = ep[1:]
	}
	s.from = s.to
	if len(ep) == 0 {
		s.to, s.own = list.EndOfTime, 0
		return
	}
	s.to, s.own, s.behind = list.Later(s.to, ep[0].Duration), ep[0].Nodes, len(v.ep)-len(ep)+1
	if s.to >= core.Forever {
		s.to = list.EndOfTime
	}
}

// sweep is FirstFit on a list, where at most so many nodes may be used: section by section and point by point.
func (v *Lifted) sweep(most int, d, from, until core.Time) (start core.Time, ok bool) {
	l := &v.profile.list
	i := l.Index(from)
	start = from
	for s := v.section(from); ; v.next(&s) {
		start, i = l.Run(i, most+s.own, start, d, until, s.to)
		end := min(l.EndOf(i), s.to)
		if l.Used[i] > most+s.own {
			start = end
		}
		if start >= until || end-start >= d {
			return start, start < until
		}
		if l.EndOf(i) == end {
			i++
		}
	}
}

// search is FirstFit on a tree.
func (v *Lifted) search(most int, d, from, until core.Time) (start core.Time, ok bool) {
	t := v.profile.tree
	start = from
	for s := v.section(from); start < until; v.next(&s) {
		allowed := most + s.own
		at, obstacle := t.firstAbove(allowed, max(from, s.from), s.to)
		switch {
		case obstacle && at-start < d:
			// Either there is room behind it within this section, or what reaches up to its end may go on there.
			if at, ok = t.fit(allowed, d, at); ok && at+d <= s.to {
				return at, at < until
			}
			end, _ := t.lastAbove(allowed, max(from, s.from), s.to)
			start = min(end, s.to)
		case obstacle || s.to-start >= d:
			return start, true
		}
		if s.to == list.EndOfTime {
			break
		}
	}
	return core.Forever, false
}
