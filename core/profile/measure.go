package profile

import (
	"math/bits"

	"accordion/core"
)

// scratch is the memory of measureLeaf, by level.
type scratch struct {
	begin, first, last, longest [maxLevels]core.Time
}

// levels is a set of levels: bit i is level i.
type levels uint64

// measure computes the runs and the maximum of child i of a branch. `end` is the end of the branch.
func (t *tree) measure(b *branch, i int, end core.Time) {
	if b.lowest() {
		t.measureLeaf(b, i, end, 0, t.top)
	} else {
		t.measureBranch(b, i, ^levels(0)>>(maxLevels-t.top))
	}
}

// measureLeaf computes the runs of child i, a leaf, for the levels in [low, high), and its maximum. It returns the
// levels whose runs changed.
//
// It is one pass for all levels: at a change point only those runs end or begin whose level is between the two
// numbers of free nodes.
func (t *tree) measureLeaf(b *branch, i int, end core.Time, low, high int) (changed levels) {
	l, s := b.leaves[i], &t.scratch
	most := l.used[0]
	for k := 1; k < l.n && k < leafSize; k++ {
		most = max(most, l.used[k])
	}
	b.most[i] = most
	if low >= high {
		return 0
	}
	begin := l.at[0]
	for j := low; j < high; j++ {
		s.begin[j], s.first[j], s.last[j], s.longest[j] = begin, 0, 0, 0
	}
	open := low // the runs of all levels below this one have begun
	for k := 0; k < l.n && k < leafSize; k++ {
		level := max(low, levelOf(t.nodes-l.used[k], high))
		at := l.at[k]
		for j := open; j < level; j++ {
			s.begin[j] = at
		}
		for j := level; j < open; j++ {
			s.end(j, at, begin)
		}
		open = level
	}
	for j := low; j < open; j++ {
		s.last[j] = end - s.begin[j]
		s.end(j, end, begin)
	}
	for j := low; j < high; j++ {
		now := runs{spanOf(s.first[j]), spanOf(s.last[j]), spanOf(s.longest[j])}
		if r := &b.runs[j][i]; *r != now {
			*r = now
			changed |= 1 << j
		}
	}
	return changed
}

// end ends the run of a level. `begin` is the beginning of the leaf.
func (s *scratch) end(level int, at, begin core.Time) {
	run := at - s.begin[level]
	if s.begin[level] == begin {
		s.first[level] = run
	}
	s.longest[level] = max(s.longest[level], run)
}

// measureBranch computes the runs of child i, a branch, for the levels that changed below it, and its maximum. It
// returns the levels whose runs changed here.
func (t *tree) measureBranch(b *branch, i int, levels levels) (changed levels) {
	c := b.branches[i]
	most := c.most[0]
	for k := 1; k < c.n; k++ {
		most = max(most, c.most[k])
	}
	b.most[i] = most
	for ; levels != 0; levels &= levels - 1 {
		j := levels.lowest()
		now := c.join(j, t.nodes-sizeOf(j))
		if r := &b.runs[j][i]; *r != now {
			*r = now
			changed |= 1 << j
		}
	}
	return changed
}

// join returns the runs of a level of the whole branch, computed from the runs of its children. A run continues
// through a child in which at most `most` nodes are used.
func (b *branch) join(level, most int) runs {
	var first, run, peak uint64
	row, whole := &b.runs[level], true // the run so far is the whole branch
	for k := 0; k < b.n && k < width; k++ {
		r := &row[k]
		run += uint64(r.first)
		if b.most[k] <= most {
			continue
		}
		if whole {
			first, whole = run, false
		}
		peak = max(peak, run, uint64(r.longest))
		run = uint64(r.last)
	}
	if whole {
		first = run
	}
	return runs{spanOf(first), spanOf(run), spanOf(max(peak, run))}
}

// lowest returns the lowest level of a set that is not empty.
func (s levels) lowest() int { return bits.TrailingZeros64(uint64(s)) }
