package profile

import (
	"accordion/core"
	"accordion/core/profile/list"
)

// search is the state of a search for the first place. It goes through the tree from left to right and keeps the present run:
// the beginning of a time, up to the present position, in which there may be room. It skips children by the runs that the index
// stores for the next smaller size of the ladder. So the run may seem to begin too early if it begins in a skipped child. That
// child is examined only when the run turns out to be long enough. Everything else is examined point by point.
type search struct {
	most  int       // the most nodes that may be used
	need  core.Time // seconds
	level int       // level of the largest size of the ladder that does not exceed the needed nodes
	short core.Time // need, limited like a span
	run   core.Time
	seen  core.Time // the run was examined from this time on; an earlier part of it is in a skipped child
	among *branch   // the branch of that skipped child
	steps int       // children and change points that were examined
}

// fit returns the first time, at or after `from`, from which at most `most` nodes are used for d seconds.
func (t *tree) fit(most int, d, from core.Time) (core.Time, bool) {
	start, ok, _ := t.find(most, d, from)
	return start, ok
}

// find does what fit does, and returns how many steps it took.
func (t *tree) find(most int, d, from core.Time) (start core.Time, ok bool, steps int) {
	if from >= core.Forever { // behind the last change point
		if t.at(from) <= most {
			return from, true, 1
		}
		return core.Forever, false, 1
	}
	if most >= t.nodes { // the index has no level for this; only a Lifted makes such a search, for a place that exceeds the machine
		return t.fitPointwise(most, d, from)
	}
	const enough = 2 * core.Forever // no two change points are further apart
	d = max(d, 1)
	s := search{
		most: most,
		need: min(d, enough), short: min(d, core.Time(forever)),
		level: max(0, levelOf(t.nodes-most, t.top)-1),
		run:   from, seen: from,
	}
	if s.enter(t.root, list.EndOfTime, from) {
		return s.run, true, s.steps
	}
	return core.Forever, false, s.steps
}

// fitPointwise does what find does without the index.
func (t *tree) fitPointwise(most int, d, from core.Time) (start core.Time, ok bool, steps int) {
	start, blocked := from, false
	t.each(from, func(begin core.Time, used int) bool {
		steps++
		switch {
		case blocked:
			start = begin
		case begin-start >= d:
			return false
		}
		blocked = used > most
		return true
	})
	return start, !blocked, steps
}

// enter searches the children of a branch from second `from` on, which is not before the branch's beginning.
func (s *search) enter(b *branch, end, from core.Time) bool {
	i := b.child(from)
	childEnd := b.endOf(i, end)
	if b.lowest() {
		l := b.leaves[i]
		return s.leaf(l, l.index(from), childEnd) || s.sweep(b, i+1, end)
	}
	return s.enter(b.branches[i], childEnd, from) || s.sweep(b, i+1, end)
}

// sweep searches the children of a branch from child i on.
func (s *search) sweep(b *branch, i int, end core.Time) bool {
	row := &b.runs[s.level]
	for ; i < b.n && i < width; i++ {
		r, childEnd := &row[i], b.endOf(i, end)
		s.steps++
		switch {
		case b.at[i]-s.run+core.Time(r.first) >= s.short || core.Time(r.longest) >= s.short:
			if s.below(b, i, childEnd) {
				return true
			}
		case b.most[i] > s.most: // otherwise the run continues
			s.run, s.seen, s.among = childEnd-core.Time(r.last), childEnd, b
		}
	}
	return false
}

// below searches child i from its beginning on.
func (s *search) below(b *branch, i int, end core.Time) bool {
	if b.lowest() {
		return s.leaf(b.leaves[i], 0, end)
	}
	return s.sweep(b.branches[i], 0, end)
}

// leaf searches a leaf from change point i on. A run ends where too many nodes are used.
func (s *search) leaf(l *leaf, i int, end core.Time) bool {
	run, need, most := s.run, s.need, s.most
	s.steps -= i
	for ; i < l.n && i < leafSize; i++ {
		if l.at[i]-run >= need {
			if run = s.see(run); l.at[i]-run >= need {
				s.run = run
				s.steps += i + 1
				return true
			}
		}
		if next := l.at[i+1]; l.used[i] > most {
			run = next
		}
	}
	s.steps += i
	if run = min(run, end); end-run >= need {
		run = s.see(run)
	}
	s.run = run
	return end-run >= need
}

// see examines the whole run, and returns its real beginning.
func (s *search) see(run core.Time) core.Time {
	if run < s.seen {
		if end, obstacle := lastAbove(s.among, s.seen, s.most, run, s.seen); obstacle {
			run = end
		}
		s.seen = run
	}
	return run
}

// firstAbove returns the first time in [from, to), which is not empty, at which more than `most` nodes are
// used.
func (t *tree) firstAbove(most int, from, to core.Time) (core.Time, bool) {
	at, ok := firstAbove(t.root, most, min(from, list.LastTime), to)
	return max(at, from), ok
}

func firstAbove(b *branch, most int, from, to core.Time) (core.Time, bool) {
	for i := b.child(from); i < b.n && b.at[i] < to; i++ {
		if b.most[i] <= most {
			continue
		}
		if !b.lowest() {
			if at, ok := firstAbove(b.branches[i], most, from, to); ok {
				return at, true
			}
			continue
		}
		l := b.leaves[i]
		for k := l.index(from); k < l.n && l.at[k] < to; k++ {
			if l.used[k] > most {
				return l.at[k], true
			}
		}
	}
	return core.Forever, false
}

// lastAbove returns the end of the last stretch that overlaps [from, to) and in which more than `most` nodes
// are used. The end may be later than `to`.
func (t *tree) lastAbove(most int, from, to core.Time) (end core.Time, ok bool) {
	return lastAbove(t.root, list.EndOfTime, most, from, max(-core.Forever, min(to, list.EndOfTime)))
}

func lastAbove(b *branch, end core.Time, most int, from, to core.Time) (core.Time, bool) {
	for i := b.child(to - 1); i >= 0; i-- {
		childEnd := b.endOf(i, end)
		if childEnd <= from {
			break
		}
		if b.most[i] <= most {
			continue
		}
		if !b.lowest() {
			if at, ok := lastAbove(b.branches[i], childEnd, most, from, to); ok {
				return at, true
			}
			continue
		}
		l := b.leaves[i]
		for k, first := l.index(to-1), l.index(from); k >= first; k-- {
			if l.used[k] > most {
				return l.endOf(k, childEnd), true
			}
		}
	}
	return 0, false
}

// at returns the number of nodes used at a time.
func (t *tree) at(at core.Time) int {
	b, at := t.root, min(at, list.LastTime)
	for !b.lowest() {
		b = b.branches[b.child(at)]
	}
	l := b.leaves[b.child(at)]
	return l.used[l.index(at)]
}

// max returns the largest number of nodes used in [from, to), which is not empty.
func (t *tree) max(from, to core.Time) int {
	return maxBelow(t.root, list.EndOfTime, min(from, list.LastTime), min(to, list.EndOfTime))
}

func maxBelow(b *branch, end, from, to core.Time) int {
	first, last := b.child(from), b.child(to-1)
	peak := -1 << 63
	for i := first; i <= last; i++ {
		childEnd := b.endOf(i, end)
		switch {
		case b.most[i] <= peak:
		case from <= b.at[i] && childEnd <= to:
			peak = b.most[i]
		case b.lowest():
			l := b.leaves[i]
			for k, last := l.index(from), l.index(to-1); k <= last; k++ {
				peak = max(peak, l.used[k])
			}
		default:
			peak = max(peak, maxBelow(b.branches[i], childEnd, from, to))
		}
	}
	return peak
}

// each calls `visit` for the stretches in order, beginning with the one that contains `from`, until `visit`
// returns false. Neighboring stretches may have the same number of used nodes. each reports whether `visit`
// never returned false.
func (t *tree) each(from core.Time, visit func(begin core.Time, used int) bool) bool {
	return eachBelow(t.root, min(from, list.LastTime), visit)
}

func eachBelow(b *branch, from core.Time, visit func(begin core.Time, used int) bool) bool {
	for i := b.child(from); i < b.n; i++ {
		if !b.lowest() {
			if !eachBelow(b.branches[i], from, visit) {
				return false
			}
			continue
		}
		l := b.leaves[i]
		for k := l.index(from); k < l.n; k++ {
			if !visit(l.at[k], l.used[k]) {
				return false
			}
		}
	}
	return true
}
