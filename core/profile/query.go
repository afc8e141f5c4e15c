package profile

import (
	"iter"

	"accordion/core"
	"accordion/core/profile/list"
)

// At returns the number of nodes used at a time: ep(t) in the paper.
func (p *Profile) At(t core.Time) int {
	if p.tree != nil {
		return p.tree.at(t)
	}
	return p.list.Used[p.list.Index(t)]
}

// Free returns the number of nodes free at a time, or 0 if more nodes are used than the machine has.
func (p *Profile) Free(t core.Time) int { return max(0, p.nodes-p.At(t)) }

// Max returns the largest number of nodes used in [from, to), or 0 if that is empty: max(ep, t0, t1) in the paper.
func (p *Profile) Max(from, to core.Time) int {
	switch {
	case from >= to:
		return 0
	case p.tree != nil:
		return p.tree.max(from, to)
	}
	return p.list.Max(from, to)
}

// FirstFit returns the earliest time, at or after `from`, from which n nodes are free for d seconds. d is Forever for a need
// without end. ok is false if there is no such time.
func (p *Profile) FirstFit(n int, d, from core.Time) (start core.Time, ok bool) {
	switch {
	case n <= 0:
		return from, true
	case p.tree != nil:
		return p.tree.fit(p.nodes-n, d, from)
	}
	return p.list.Fit(p.nodes-n, d, from)
}

// Hole does what FirstFit does, and also returns the end of the hole: the first time after `start` with fewer
// than n nodes free, or Forever if the hole has no end.
func (p *Profile) Hole(n int, d, from core.Time) (start, end core.Time, ok bool) {
	if start, ok = p.FirstFit(n, d, from); !ok {
		return start, start, false
	}
	end, _ = p.FirstBelow(n, start)
	return start, end, true
}

// FirstBelow returns the first time, at or after `from`, with fewer than n nodes free, or Forever and false if
// there is none.
func (p *Profile) FirstBelow(n int, from core.Time) (t core.Time, ok bool) {
	if n <= 0 {
		return core.Forever, false
	}
	return p.firstAbove(p.nodes-n, from, list.EndOfTime)
}

func (p *Profile) firstAbove(most int, from, to core.Time) (core.Time, bool) {
	if p.tree != nil {
		return p.tree.firstAbove(most, from, to)
	}
	return p.list.FirstAbove(most, from, to)
}

// FreeSince returns the time since which n nodes have been free without a break up to t. It returns t if n nodes are not free
// directly before t, and -Forever if they were always free.
func (p *Profile) FreeSince(n int, t core.Time) core.Time {
	if n <= 0 {
		return -core.Forever
	}
	if end, ok := p.lastAbove(p.nodes-n, -core.Forever, t); ok {
		return min(t, end)
	}
	return -core.Forever
}

func (p *Profile) lastAbove(most int, from, to core.Time) (end core.Time, ok bool) {
	if p.tree != nil {
		return p.tree.lastAbove(most, from, to)
	}
	return p.list.LastAbove(most, from, to)
}

// Steps returns the occupation from a time to its last change, as a resource EP, or nil if nothing is used from then
// on. If nodes are never released, the last step lasts to Forever.
func (p *Profile) Steps(from core.Time) core.EP {
	var ep core.EP
	for s := range p.stretches(from) {
		if s.end == core.Forever && s.used == 0 {
			break
		}
		if begin := max(from, s.begin); begin < s.end {
			ep = append(ep, core.Step{Duration: s.end - begin, Nodes: s.used})
		}
	}
	return ep
}

// stretch is a time in which the number of used nodes is constant. Its neighbors differ.
type stretch struct {
	begin, end core.Time
	used       int
}

// stretches returns the stretches in order, beginning with the one that contains `from`. The last one ends at Forever.
func (p *Profile) stretches(from core.Time) iter.Seq[stretch] {
	return func(yield func(stretch) bool) {
		if p.tree == nil {
			stretchesOf(&p.list, from, yield)
			return
		}
		var s stretch
		begun := false
		visit := func(begin core.Time, used int) bool {
			if begun && used == s.used {
				return true
			}
			s.end = begin
			if begun && !yield(s) {
				return false
			}
			s, begun = stretch{begin: begin, used: used}, true
			return true
		}
		if p.tree.each(from, visit) {
			s.end = core.Forever
			yield(s)
		}
	}
}

func stretchesOf(l *list.List, from core.Time, yield func(stretch) bool) {
	for i := l.Index(from); i < len(l.At); i++ {
		if !yield(stretch{l.At[i], min(core.Forever, l.EndOf(i)), l.Used[i]}) {
			return
		}
	}
}
