package profile

import (
	"accordion/core"
	"accordion/core/profile/list"
)

// change adds the nodes of some steps. It first makes their ends change points, at which nothing changes yet, then
// measures each leaf that they touch once.
func (t *tree) change(c list.Change) {
	l, end := t.split(c.From)
	for steps := c; ; {
		switch at := steps.End; {
		case at < end && l.n < leafSize:
			l.split(at)
		case at < list.EndOfTime:
			l, end = t.split(at)
		}
		if !steps.Next() {
			break
		}
	}
	t.changeBelow(t.root, list.EndOfTime, &c)
	for t.root.n == 1 && !t.root.lowest() {
		child := t.root.branches[0]
		t.dropBranch(t.root)
		t.root = child
	}
}

// split makes a time a change point at which nothing changes. It divides full children on the way down. It returns
// the leaf of the change point and the end of that leaf.
func (t *tree) split(at core.Time) (l *leaf, end core.Time) {
	if t.root.n == width {
		above := t.newBranch()
		above.n, above.at[0], above.branches[0] = 1, t.root.at[0], t.root
		t.root = above
	}
	b, end := t.root, list.EndOfTime
	for {
		i := b.child(at)
		if t.size(b, i) == t.room(b) {
			t.divide(b, i, b.endOf(i, end))
			i = b.child(at)
		}
		end = b.endOf(i, end)
		if b.lowest() {
			l = b.leaves[i]
			l.split(at)
			return l, end
		}
		b = b.branches[i]
	}
}

// changeBelow makes a change in everything below a branch. `end` is the end of the branch. It returns the
// levels for which the runs of a child changed.
func (t *tree) changeBelow(b *branch, end core.Time, c *list.Change) (changed levels) {
	first := b.child(c.From)
	i := first
	for ; i < b.n && b.at[i] < c.To; i++ {
		childEnd := b.endOf(i, end)
		if b.lowest() {
			changed |= t.changeLeaf(b, i, childEnd, c)
			continue
		}
		changed |= t.measureBranch(b, i, t.changeBelow(b.branches[i], childEnd, c))
	}
	t.visited += int64(i - first)
	for i--; i >= first; i-- {
		t.tidy(b, i, end)
	}
	return changed
}

// changeLeaf makes a change in child i, which is a leaf. The ends of the change's steps are change points already.
func (t *tree) changeLeaf(b *branch, i int, end core.Time, c *list.Change) (changed levels) {
	l := b.leaves[i]
	t.visited += int64(l.n)
	k := l.index(c.From)
	low, high, more := l.used[k], l.used[k], true
	for more && k < l.n {
		last := l.n
		if c.End < end {
			last = l.index(c.End)
		}
		low, high = raise(l.used[k:last], c.Nodes(), low, high) // no change if the step ends where the leaf begins
		// Neighbors can have become equal only where a step begins or ends.
		k = last - l.join(k)
		more = c.End < end && c.Next()
	}
	if k < l.n {
		l.join(k)
	}
	// All numbers that changed are between low and high, before and after the change. So the runs of other levels stay the same.
	return t.measureLeaf(b, i, end, levelOf(t.nodes-high, t.top), levelOf(t.nodes-low, t.top))
}

// divide moves the second half of child i to a new child behind it. `end` is the end of child i.
func (t *tree) divide(b *branch, i int, end core.Time) {
	b.insert(i + 1)
	if b.lowest() {
		l, behind := b.leaves[i], t.newLeaf()
		half := l.n / 2
		behind.n = copy(behind.at[:], l.at[half:l.n])
		copy(behind.used[:], l.used[half:l.n])
		l.cut(half)
		b.leaves[i+1], b.at[i+1] = behind, behind.at[0]
	} else {
		c, behind := b.branches[i], t.newBranch()
		half := c.n / 2
		c.moveTo(behind, half)
		b.branches[i+1], b.at[i+1] = behind, behind.at[0]
	}
	t.measure(b, i, b.at[i+1])
	t.measure(b, i+1, end)
}

// tidy joins child i of a branch with a neighbor, if the child is nearly empty and the neighbor has room. `end`
// is the end of the branch.
func (t *tree) tidy(b *branch, i int, end core.Time) {
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
		l, behind := b.leaves[i], b.leaves[i+1]
		begin := 0
		if l.used[l.n-1] == behind.used[0] {
			begin = 1
		}
		copy(l.used[l.n:], behind.used[begin:behind.n])
		l.n += copy(l.at[l.n:], behind.at[begin:behind.n])
		t.leaves = append(t.leaves, behind)
	} else {
		c, behind := b.branches[i], b.branches[i+1]
		behind.moveTo(c, 0)
		t.dropBranch(behind)
	}
	b.remove(i + 1)
	t.measure(b, i, b.endOf(i, end))
}

// size returns the number of change points or children of child i.
func (t *tree) size(b *branch, i int) int {
	if b.lowest() {
		return b.leaves[i].n
	}
	return b.branches[i].n
}

// room returns the largest possible result of method size for a child of b.
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

// remove removes child i.
func (b *branch) remove(i int) {
	copy(b.at[i:], b.at[i+1:b.n])
	copy(b.most[i:], b.most[i+1:b.n])
	copy(b.leaves[i:], b.leaves[i+1:b.n])
	copy(b.branches[i:], b.branches[i+1:b.n])
	for k := range b.runs {
		row := &b.runs[k]
		copy(row[i:], row[i+1:b.n])
	}
	b.cut(b.n - 1)
}

// moveTo moves the children from index `begin` on to the end of another branch.
func (b *branch) moveTo(c *branch, begin int) {
	copy(c.at[c.n:], b.at[begin:b.n])
	copy(c.most[c.n:], b.most[begin:b.n])
	copy(c.leaves[c.n:], b.leaves[begin:b.n])
	copy(c.branches[c.n:], b.branches[begin:b.n])
	for k := range b.runs {
		copy(c.runs[k][c.n:], b.runs[k][begin:b.n])
	}
	c.n += b.n - begin
	b.cut(begin)
}

// raise adds n to each number in used. It returns the smallest and the largest number among `low`, `high`, and
// the numbers before and after the addition.
func raise(used []int, n, low, high int) (int, int) {
	if len(used) == 0 {
		return low, high
	}
	least, most := used[0], used[0]
	for k, u := range used {
		least, most = min(least, u), max(most, u)
		used[k] = u + n
	}
	return min(low, least, least+n), max(high, most, most+n)
}
