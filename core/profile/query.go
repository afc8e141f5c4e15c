package profile

import (
	"iter"

	"accordion/core"
	"accordion/core/profile/list"
)

// At is the number of nodes used at an instant: ep(t) of the paper.
func (p *Profile) At(t core.Time) int {
	if p.tree != nil {
		return p.tree.at(t)
	}
	return p.list.Used[p.list.Index(t)]
}

// Free is the number of nodes free at an instant; 0 where more is used than there is.
func (p *Profile) Free(t core.Time) int { return max(0, p.nodes-p.At(t)) }

// Max is the largest number of nodes used in [from, to), and 0 when that is empty: max(ep, t0, t1) of the paper.
func (p *Profile) Max(from, to core.Time) int {
	switch {
	case from >= to:
		return 0
	case p.tree != nil:
		return p.tree.max(from, to)
	}
	return p.list.Max(from, to)
}

// FirstFit is the earliest instant, not before from, at which n nodes are free for d seconds; d is Forever for a need
// without end. ok is false when there is none.
func (p *Profile) FirstFit(n int, d, from core.Time) (start core.Time, ok bool) {
	switch {
	case n <= 0:
		return from, true
	case p.tree != nil:
		return p.tree.fit(p.nodes-n, d, from)
	}
	return p.list.Fit(p.nodes-n, d, from)
}

// Hole is FirstFit with the end of the hole: the first instant after start with fewer than n nodes free, Forever when
// there is none.
func (p *Profile) Hole(n int, d, from core.Time) (start, end core.Time, ok bool) {
	if start, ok = p.FirstFit(n, d, from); !ok {
		return start, start, false
	}
	end, _ = p.FirstBelow(n, start)
	return start, end, true
}

// FirstBelow is the first instant, not before from, with fewer than n nodes free; Forever and false when there is none.
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

// FreeSince is the begin of the stretch with n nodes free that reaches up to t: n are free in [FreeSince, t), and not
// right before it. It is t itself when n are not free right before t, and -Forever when they always were.
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

// Steps is the occupation from an instant to its last change, as a resource EP; nil when nothing is used from then on.
// Its last step reaches to Forever when its nodes are never given back.
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

// stretch is a time in which used nodes are used; its neighbors use others.
type stretch struct {
	begin, end core.Time
	used       int
}

// stretches are those from the one that holds an instant on; the last one ends at Forever.
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
