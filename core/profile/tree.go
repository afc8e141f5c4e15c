package profile

import (
	"slices"

	"accordion/core"
	"accordion/core/profile/list"
)

// Sizes of the tree. On a packed machine of 10,000 nodes it uses about 50 bytes for each rectangle. Most rectangles
// begin where another ends.
const (
	leafSize = 64 // change points of a leaf
	width    = 16 // children of a branch
)

// tree is an occupation as a balanced tree over leaves of change points. Each branch knows for how long nodes stay free below
// it. All leaves are at the same depth, and together they cover all time. A leaf begins with a change point, at which the number
// of used nodes may stay the same. At all other change points it changes.
type tree struct {
	root  *branch // nil only while the memory is unused
	nodes int     // number of nodes of the machine
	top   int     // number of levels: one for each size of the ladder up to the machine's size

	leaves   []*leaf // unused memory
	branches []*branch
	scratch  scratch

	visited int64 // children that changes went through, and change points of the leaves among them
}

// leaf is a short sorted list of change points. From at[i] to at[i+1] (after the last: to the leaf's end, which
// the branches know) used[i] nodes are used. Neighbors differ, and n is at least 1. Behind the last change
// point, `at` is list.EndOfTime, so that no search needs n.
type leaf struct {
	n    int
	at   [leafSize + 1]core.Time
	used [leafSize]int
}

// branch has either leaves or branches as children. For each child it knows the beginning, the largest number
// of used nodes, and the runs of each level. Behind the last child, `at` is list.EndOfTime.
type branch struct {
	n        int
	at       [width + 1]core.Time
	most     [width]int
	leaves   [width]*leaf   // either all nil…
	branches [width]*branch // …or all nil
	runs     [][width]runs  // one row for each level
}

// runs has lower bounds of the times for which the level's nodes stay free within a child. `first` is the
// length of the free time at the child's beginning, and `last` is the length of the free time at its end. They
// are 0 if the nodes are not free there. `longest` is the length of the longest free time.
type runs struct{ first, last, longest span }

// lowest reports whether the children are leaves.
func (b *branch) lowest() bool { return b.leaves[0] != nil }

// The binary searches in child and index are unrolled for these sizes.
var (
	_ [16]struct{} = [width]struct{}{}
	_ [64]struct{} = [leafSize]struct{}{}
)

// child returns the last child that begins at or before t, or the first child if there is none. It has no branches
// that the processor could mispredict.
func (b *branch) child(t core.Time) int {
	i := 0
	if b.at[8] <= t {
		i = 8
	}
	if b.at[i+4] <= t {
		i += 4
	}
	if b.at[i+2] <= t {
		i += 2
	}
	if b.at[i+1] <= t {
		i++
	}
	return i
}

// endOf returns the end of child i. `end` is the end of the branch.
func (b *branch) endOf(i int, end core.Time) core.Time { return min(end, b.at[i+1]) }

// index returns the last change point at or before t, or the first one if there is none.
func (l *leaf) index(t core.Time) int {
	i := 0
	if l.at[32] <= t {
		i = 32
	}
	if l.at[i+16] <= t {
		i += 16
	}
	if l.at[i+8] <= t {
		i += 8
	}
	if l.at[i+4] <= t {
		i += 4
	}
	if l.at[i+2] <= t {
		i += 2
	}
	if l.at[i+1] <= t {
		i++
	}
	return i
}

// endOf returns the end of the stretch of change point i. `end` is the end of the leaf.
func (l *leaf) endOf(i int, end core.Time) core.Time { return min(end, l.at[i+1]) }

// split makes t a change point and returns its index. t is not before the leaf's beginning, and the leaf has room.
func (l *leaf) split(t core.Time) int {
	i := l.index(t)
	if l.at[i] == t {
		return i
	}
	i++
	copy(l.at[i+1:l.n+1], l.at[i:l.n])
	copy(l.used[i+1:l.n+1], l.used[i:l.n])
	l.at[i], l.used[i] = t, l.used[i-1]
	l.n++
	return i
}

// join removes change point i if nothing changes there, but never the first, which is the leaf's beginning. It
// returns how many it removed.
func (l *leaf) join(i int) int {
	if i == 0 || l.used[i-1] != l.used[i] {
		return 0
	}
	copy(l.used[i:l.n-1], l.used[i+1:l.n])
	copy(l.at[i:l.n], l.at[i+1:l.n+1])
	l.n--
	return 1
}

// cut keeps the first n change points.
func (l *leaf) cut(n int) {
	for k := n; k < l.n; k++ {
		l.at[k] = list.EndOfTime
	}
	l.n = n
}

// cut keeps the first n children.
func (b *branch) cut(n int) {
	for k := n; k < b.n; k++ {
		b.at[k], b.leaves[k], b.branches[k] = list.EndOfTime, nil, nil
	}
	b.n = n
}

// newLeaf returns an empty leaf.
func (t *tree) newLeaf() *leaf {
	if last := len(t.leaves) - 1; last >= 0 {
		l := t.leaves[last]
		t.leaves = t.leaves[:last]
		l.cut(0)
		return l
	}
	l := &leaf{}
	for i := range l.at {
		l.at[i] = list.EndOfTime
	}
	return l
}

// newBranch returns an empty branch.
func (t *tree) newBranch() *branch {
	if last := len(t.branches) - 1; last >= 0 {
		b := t.branches[last]
		t.branches = t.branches[:last]
		if cap(b.runs) >= t.top {
			b.runs = b.runs[:t.top]
		} else {
			b.runs = make([][width]runs, t.top)
		}
		return b
	}
	b := &branch{runs: make([][width]runs, t.top)}
	for i := range b.at {
		b.at[i] = list.EndOfTime
	}
	return b
}

// drop releases the memory of a branch and of everything below it, for reuse.
func (t *tree) drop(b *branch) {
	for i := range b.n {
		if b.lowest() {
			t.leaves = append(t.leaves, b.leaves[i])
		} else {
			t.drop(b.branches[i])
		}
	}
	t.dropBranch(b)
}

// dropBranch releases the memory of a branch, but not of its children.
func (t *tree) dropBranch(b *branch) {
	b.cut(0)
	t.branches = append(t.branches, b)
}

// build builds the tree from a list.
func (t *tree) build(l *list.List, nodes int) {
	const full, wide = leafSize * 3 / 4, width * 3 / 4
	t.nodes, t.top = nodes, max(1, levelOf(nodes, maxLevels))
	var row []*branch // the lowest branches, then those above
	for begin := 0; begin < len(l.At); begin += full {
		if begin%(full*wide) == 0 {
			row = append(row, t.newBranch())
		}
		b, part := row[len(row)-1], t.newLeaf()
		part.n = copy(part.at[:full], l.At[begin:])
		copy(part.used[:full], l.Used[begin:])
		b.leaves[b.n], b.at[b.n] = part, part.at[0]
		b.n++
	}
	t.measureRow(row)
	for len(row) > 1 {
		var above []*branch
		for part := range slices.Chunk(row, wide) {
			b := t.newBranch()
			for _, child := range part {
				b.branches[b.n], b.at[b.n] = child, child.at[0]
				b.n++
			}
			above = append(above, b)
		}
		t.measureRow(above)
		row = above
	}
	t.root = row[0]
}

// measureRow measures all children of neighboring branches that cover all time.
func (t *tree) measureRow(row []*branch) {
	for i, b := range row {
		end := list.EndOfTime
		if i+1 < len(row) {
			end = row[i+1].at[0]
		}
		for k := range b.n {
			t.measure(b, k, b.endOf(k, end))
		}
	}
}

// copyFrom makes an empty tree a copy of another.
func (t *tree) copyFrom(of *tree) {
	t.nodes, t.top = of.nodes, of.top
	t.root = t.copyOf(of.root)
}

// isLeaf reports whether the tree has one leaf only.
func (t *tree) isLeaf() bool { return t.root.n == 1 && t.root.lowest() }

// clear empties the tree and keeps its memory.
func (t *tree) clear() {
	t.drop(t.root)
	t.root = nil
}

// copyOf copies a branch of another tree with everything below it.
func (t *tree) copyOf(b *branch) *branch {
	c := t.newBranch()
	c.n, c.at, c.most = b.n, b.at, b.most
	copy(c.runs, b.runs)
	for i := range b.n {
		if b.lowest() {
			l := t.newLeaf()
			*l = *b.leaves[i]
			c.leaves[i] = l
		} else {
			c.branches[i] = t.copyOf(b.branches[i])
		}
	}
	return c
}
