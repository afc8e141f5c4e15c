package profile

import (
	"accordion/core"
	"accordion/core/profile/list"
)

// Lifted is a view of a profile in which one place counts as free. The profile does not change. So a planner
// can search for a better place for a job without removing the job first. This saves work, because there is
// usually no better place. A Lifted is valid until the profile changes.
type Lifted struct {
	profile *Profile
	start   core.Time // start of the place; list.EndOfTime if there is no place
	ep      core.EP   // the occupation of the place
	front   *Front    // results of earlier searches; nil if searches do not remember results
}

// Without returns the profile without what Add(start, ep) occupied, or unchanged if ep has no steps.
func (p *Profile) Without(start core.Time, ep core.EP) Lifted {
	if len(ep) == 0 {
		start = list.EndOfTime
	}
	return Lifted{profile: p, start: start, ep: ep}
}

// Nodes returns the machine's size.
func (v *Lifted) Nodes() int { return v.profile.nodes }

// FirstFit returns the earliest time in [from, until) from which n nodes are free for d seconds. A d of Forever
// means that they must stay free forever. ok is false if there is no such time.
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

// FirstBelow returns the first time, at or after `from`, with fewer than n nodes free. It returns Forever and false if there
// is none.
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

// FreeSince returns the time since which n nodes have been free without a break up to t, but not a time before `from`. It
// returns t if n nodes are not free right before t.
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

// section is a time in which the place's own occupation is constant.
type section struct {
	from, to core.Time
	own      int // nodes
	behind   int // number of steps of the place that begin before the end of the section
}

// section returns the section that contains t.
func (v *Lifted) section(t core.Time) section {
	s := section{from: -core.Forever, to: v.start}
	for s.to <= t && s.to < list.EndOfTime {
		v.next(&s)
	}
	return s
}

// next advances s to the next section. s is not the last.
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

// sweep does what FirstFit does on a list, with at most `most` nodes used. It goes section by section and point by point.
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

// search does what FirstFit does on a tree.
func (v *Lifted) search(most int, d, from, until core.Time) (start core.Time, ok bool) {
	t := v.profile.tree
	start = from
	for s := v.section(from); start < until; v.next(&s) {
		allowed := most + s.own
		at, obstacle := t.firstAbove(allowed, max(from, s.from), s.to)
		switch {
		case obstacle && at-start < d:
			// Either there is room behind the obstacle within this section, or the free time that reaches up to
			// the section's end may continue in the next.
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
