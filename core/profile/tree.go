package profile

import (
	"slices"

	"accordion/core"
	"accordion/core/profile/list"
)

// Sizes of the tree. On a packed machine of 10,000 nodes it takes some 50 bytes for each rectangle, most of whose ends
// are the begins of others.
const (
	leafSize = 64 // change points of a leaf
	width    = 16 // children of a branch
)

// tree is an occupation as a balanced tree over leaves of change points, each branch of which knows how long nodes stay
// free below it. All leaves are at the same depth. Time is cut into the stretches of the leaves: a leaf begins with a
// change point, at which, unlike elsewhere, nothing needs to change.
type tree struct {
	root  *branch // nil only between two uses of the tree's memory
	nodes int     // of the machine
	top   int     // levels: of the largest size of the ladder that the machine has

	leaves   []*leaf // cleared away, to be used again
	branches []*branch
	scratch  scratch

	visited int64 // children that changes went through, and change points of the leaves among them
}

// leaf is a short sorted list of change points. From at[i] to at[i+1] (after the last: to the leaf's end, which the
// branches know) used[i] nodes are used. Neighbors differ; n is at least 1. Behind the last change point at is list.EndOfTime,
// so that no search needs to know how many there are.
type leaf struct {
	n    int
	at   [leafSize + 1]core.Time
	used [leafSize]int
}

// branch has leaves as children, or branches. For each child it knows the begin, the largest number of used nodes, and
// the runs of each level. Behind the last child at is list.EndOfTime.
type branch struct {
	n        int
	at       [width + 1]core.Time
	most     [width]int
	leaves   [width]*leaf   // all nil, or
	branches [width]*branch // all nil
	runs     [][width]runs  // a row for each level
}

// runs says how long at least as many nodes as the level's stay free within a child: at its begin, at its end (0 when
// they are not free there), and at most.
type runs struct{ first, last, longest span }

// lowest says whether the children are leaves.
func (b *branch) lowest() bool { return b.leaves[0] != nil }

// The binary searches of child and index are written out for these sizes.
var (
	_ [16]struct{} = [width]struct{}{}
	_ [64]struct{} = [leafSize]struct{}{}
)

// child is the last child that begins at or before t; the first one when there is none. What is looked at is no surprise
// for the processor, whatever t is: nothing branches.
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

// endOf is where child i gives way to the next; end is the branch's own.
func (b *branch) endOf(i int, end core.Time) core.Time { return min(end, b.at[i+1]) }

// index is the last change point at or before t; the first one when there is none.
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

// endOf is where change point i gives way to the next; end is the leaf's own.
func (l *leaf) endOf(i int, end core.Time) core.Time { return min(end, l.at[i+1]) }

// split makes t, which is not before the leaf's begin, a change point, and says which one. There must be room.
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

// join drops the change point i if nothing changes there; never the first, which is the leaf's begin. It says how many are
// gone.
func (l *leaf) join(i int) int {
	if i == 0 || l.used[i-1] != l.used[i] {
		return 0
	}
	copy(l.used[i:l.n-1], l.used[i+1:l.n])
	copy(l.at[i:l.n], l.at[i+1:l.n+1])
	l.n--
	return 1
}

// cut leaves the first n change points.
func (l *leaf) cut(n int) {
	for k := n; k < l.n; k++ {
		l.at[k] = list.EndOfTime
	}
	l.n = n
}

// cut leaves the first n children.
func (b *branch) cut(n int) {
	for k := n; k < b.n; k++ {
		b.at[k], b.leaves[k], b.branches[k] = list.EndOfTime, nil, nil
	}
	b.n = n
}

// newLeaf is an empty leaf.
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

// newBranch is an empty branch.
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

// drop clears a branch away with everything below it.
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

// dropBranch clears a branch away, but not its children.
func (t *tree) dropBranch(b *branch) {
	b.cut(0)
	t.branches = append(t.branches, b)
}

// build makes the tree of a list.
func (t *tree) build(l *list.List, nodes int) {
	const full, wide = leafSize * 3 / 4, width * 3 / 4
	t.nodes, t.top = nodes, max(1, levelOf(nodes, maxLevels))
	var row []*branch // of the lowest branches, then of those above
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

// measureRow measures all children of branches that lie side by side and fill all time.
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

// copyFrom makes a cleared tree a copy of another.
func (t *tree) copyFrom(of *tree) {
	t.nodes, t.top = of.nodes, of.top
	t.root = t.copyOf(of.root)
}

// isLeaf says whether the tree is down to one leaf.
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
