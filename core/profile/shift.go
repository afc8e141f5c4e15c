package profile

import "accordion/core"

// shift adds n to the nodes used in [from, to); to is endOfTime when there is no end.
func (t *tree) shift(from, to core.Time, n int) {
	t.root = t.own(t.root)
	if t.root.n > width-2 {
		above := t.newBranch()
		above.n, above.at[0], above.branches[0] = 1, t.root.at[0], t.root
		t.root = above
		t.divide(above, 0, endOfTime)
	}
	t.shiftBelow(t.root, endOfTime, from, to, n)
	for t.root.n == 1 && !t.root.lowest() {
		child := t.root.branches[0]
		t.dropBranch(t.root)
		t.root = t.own(child)
	}
}

// shiftBelow shifts what lies below a branch of this tree, which ends at end and has room for two more children. It says
// for which levels some child's runs have changed.
func (t *tree) shiftBelow(b *branch, end, from, to core.Time, n int) (changed levels) {
	t.makeRoom(b, end, from, to)
	for i := b.child(from); i < b.n && b.at[i] < to; i++ {
		childEnd := b.endOf(i, end)
		if b.lowest() {
			changed |= t.shiftLeaf(b, i, childEnd, from, to, n)
			continue
		}
		c := t.own(b.branches[i])
		b.branches[i] = c
		changed |= t.measureBranch(b, i, t.shiftBelow(c, childEnd, from, to, n))
	}
	t.tidy(b, end, to-1)
	t.tidy(b, end, from)
	return changed
}

// shiftLeaf shifts child i, a leaf with room for two more change points.
func (t *tree) shiftLeaf(b *branch, i int, end, from, to core.Time, n int) (changed levels) {
	l := t.ownLeaf(b, i)
	first := 0
	if from > l.at[0] {
		first = l.split(from)
	}
	last := l.n
	if to < end {
		last = l.split(to)
	}
	low, high := l.used[first], l.used[first]
	for k := first; k < last; k++ {
		used := l.used[k]
		low, high = min(low, used), max(high, used)
		l.used[k] = used + n
	}
	if last < l.n {
		l.join(last)
	}
	l.join(first)
	// All that has changed lies between these two, before and after: the runs of other levels are as they were.
	low, high = min(low, low+n), max(high, high+n)
	return t.measureLeaf(b, i, end, levelOf(t.nodes-high, t.top), levelOf(t.nodes-low, t.top))
}

// makeRoom divides the children of a branch in which change points may be added, if they are too full for two more.
func (t *tree) makeRoom(b *branch, end, from, to core.Time) {
	if i := b.child(from); t.isFull(b, i) && (b.at[i] < from || to < b.endOf(i, end)) {
		t.divide(b, i, b.endOf(i, end))
	}
	if i := b.child(to - 1); t.isFull(b, i) && to < b.endOf(i, end) {
		t.divide(b, i, b.endOf(i, end))
	}
}

// isFull says whether child i lacks room for two.
func (t *tree) isFull(b *branch, i int) bool {
	if b.lowest() {
		return b.leaves[i].n > leafSize-2
	}
	return b.branches[i].n > width-2
}

// divide puts the second half of child i, which ends at end, into a new child behind it.
func (t *tree) divide(b *branch, i int, end core.Time) {
	b.insert(i + 1)
	if b.lowest() {
		l, behind := t.ownLeaf(b, i), t.newLeaf()
		half := l.n / 2
		behind.n = copy(behind.at[:], l.at[half:l.n])
		copy(behind.used[:], l.used[half:l.n])
		l.n = half
		b.leaves[i+1], b.at[i+1] = behind, behind.at[0]
	} else {
		c, behind := t.own(b.branches[i]), t.newBranch()
		b.branches[i] = c
		half := c.n / 2
		c.moveTo(behind, half)
		b.branches[i+1], b.at[i+1] = behind, behind.at[0]
	}
	t.measure(b, i, b.at[i+1])
	t.measure(b, i+1, end)
}

// tidy joins the child in which t lies with a neighbour, when it is nearly empty and there is room.
func (t *tree) tidy(b *branch, end, at core.Time) {
	i := b.child(at)
	if b.n < 2 || t.size(b, i) >= t.room(b)/4 {
		return
	}
	if i+1 == b.n || i > 0 && t.size(b, i-1) < t.size(b, i+1) {
		i--
	}
	if t.size(b, i)+t.size(b, i+1) > t.room(b)*3/4 {
		return
	}
	if b.lowest() {
		l, behind := t.ownLeaf(b, i), b.leaves[i+1]
		begin := 0
		if l.used[l.n-1] == behind.used[0] {
			begin = 1
		}
		copy(l.used[l.n:], behind.used[begin:behind.n])
		l.n += copy(l.at[l.n:], behind.at[begin:behind.n])
		t.dropLeaf(behind)
	} else {
		c, behind := t.own(b.branches[i]), t.own(b.branches[i+1])
		b.branches[i] = c
		behind.moveTo(c, 0)
		t.dropBranch(behind)
	}
	b.remove(i + 1)
	t.measure(b, i, b.endOf(i, end))
}

// size is the number of change points or children of child i.
func (t *tree) size(b *branch, i int) int {
	if b.lowest() {
		return b.leaves[i].n
	}
	return b.branches[i].n
}

// room is the most that a child can have of them.
func (t *tree) room(b *branch) int {
	if b.lowest() {
		return leafSize
	}
	return width
}

// insert makes room for a child before child i.
func (b *branch) insert(i int) {
	copy(b.at[i+1:], b.at[i:b.n])
	copy(b.most[i+1:], b.most[i:b.n])
	copy(b.leaves[i+1:], b.leaves[i:b.n])
	copy(b.branches[i+1:], b.branches[i:b.n])
	for k := range b.runs {
		row := &b.runs[k]
		copy(row[i+1:], row[i:b.n])
	}
	b.n++
}

// remove takes child i out.
func (b *branch) remove(i int) {
	copy(b.at[i:], b.at[i+1:b.n])
	copy(b.most[i:], b.most[i+1:b.n])
	copy(b.leaves[i:], b.leaves[i+1:b.n])
	copy(b.branches[i:], b.branches[i+1:b.n])
	for k := range b.runs {
		row := &b.runs[k]
		copy(row[i:], row[i+1:b.n])
	}
	b.n--
	b.leaves[b.n], b.branches[b.n] = nil, nil
}

// moveTo moves the children from number begin on behind those of another branch.
func (b *branch) moveTo(c *branch, begin int) {
	copy(c.at[c.n:], b.at[begin:b.n])
	copy(c.most[c.n:], b.most[begin:b.n])
	copy(c.leaves[c.n:], b.leaves[begin:b.n])
	copy(c.branches[c.n:], b.branches[begin:b.n])
	for k := range b.runs {
		copy(c.runs[k][c.n:], b.runs[k][begin:b.n])
	}
	clear(b.leaves[begin:])
	clear(b.branches[begin:])
	c.n += b.n - begin
	b.n = begin
}
