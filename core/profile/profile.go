// Package profile implements the occupation of a machine: a number of used nodes as a function of time (the
// resource EP of Klein & Pérez, CoreGRID 2011, section 3.1, with its functions `max`, `loc`, `delay` and
// `sum`).
//
//	p := profile.New(100)
//	p.Add(0, core.EP{{Duration: 1200, Nodes: 10}, {Duration: 3600, Nodes: 95}})
//	start, ok := p.FirstFit(10, 600, 0)  // 0: ten nodes are free for ten minutes immediately
//	start, ok = p.FirstFit(10, 1300, 0)  // 4800: after the step of 95 nodes
//
// A profile counts nodes and does not know which they are. A small profile is a sorted list of change points. A
// larger one is a balanced tree that knows for every part of time how many nodes stay free in it for how long. So a
// search skips holes that are too short or have too few nodes. Intervals of time include their beginning and exclude
// their end.
package profile

import (
	"slices"

	"accordion/core"
	"accordion/core/profile/list"
)

// indexed is the number of change points from which on a profile is a tree. It becomes a list again when the
// tree has only one leaf. With one search from the beginning for each write, a tree of 2,000 points is as fast
// as a list. With more searches for each write, smaller trees are as fast as a list. With more writes, only
// larger trees are as fast as a list. With two writes to nearby times for each search, these are trees of 4,500
// points.
const indexed = 2048

// Profile is the number of used nodes of a machine at every time. Several goroutines may concurrently call methods that change
// nothing.
type Profile struct {
	nodes int
	list  list.List // used when tree is nil
	tree  *tree     // used when the profile is large
	spare *tree     // the empty memory of an earlier tree
}

// New returns the profile of an idle machine. A negative node count counts as 0.
func New(nodes int) *Profile {
	return &Profile{nodes: max(nodes, 0), list: list.List{At: []core.Time{-core.Forever}, Used: []int{0}}}
}

// Nodes returns the machine's size.
func (p *Profile) Nodes() int { return p.nodes }

// Clone returns an independent copy.
func (p *Profile) Clone() *Profile {
	q := &Profile{}
	q.CopyFrom(p)
	return q
}

// CopyFrom makes p an independent copy of q in p's own memory. In a loop it allocates nothing.
func (p *Profile) CopyFrom(q *Profile) {
	if p == q {
		return
	}
	p.nodes = q.nodes
	p.dropTree()
	if q.tree == nil {
		p.list.At, p.list.Used = append(p.list.At[:0], q.list.At...), append(p.list.Used[:0], q.list.Used...)
		return
	}
	p.startTree()
	p.tree.copyFrom(q.tree)
}

// Add occupies the profile's nodes from start on. A step of 0 nodes occupies nothing. A step that lasts Forever has
// no end.
func (p *Profile) Add(start core.Time, ep core.EP) { p.addSteps(start, ep, 1) }

// Remove releases what Add(start, ep) occupied.
func (p *Profile) Remove(start core.Time, ep core.EP) { p.addSteps(start, ep, -1) }

// MirrorOf makes p the mirror of q between two times, in p's own memory. p and q must differ.
func (p *Profile) MirrorOf(q *Profile, from, to core.Time) {
	p.nodes = q.nodes
	p.dropTree()
	l := &p.list
	l.At, l.Used = append(l.At[:0], -from), append(l.Used[:0], 0) // built from the last point to the first, then reversed
	before := func(t core.Time, used int) {
		if last := len(l.At) - 1; l.Used[last] == used {
			l.At[last] = t
		} else {
			l.At, l.Used = append(l.At, t), append(l.Used, used)
		}
	}
	for s := range q.stretches(from) {
		if s.begin >= to || from >= to {
			break
		}
		before(-min(to, s.end), s.used)
	}
	if l.At[len(l.At)-1] > -core.Forever {
		before(-core.Forever, 0)
	}
	slices.Reverse(l.At)
	slices.Reverse(l.Used)
	p.index()
}

// addSteps adds the nodes of a profile's steps, or removes them if `sign` is -1.
func (p *Profile) addSteps(start core.Time, ep core.EP, sign int) {
	for len(ep) > 0 {
		var c list.Change
		if c, start, ep = list.NextChange(start, ep, sign); c.From < c.To {
			p.change(c)
		}
	}
}

// shift adds n to the nodes used in [from, to).
func (p *Profile) shift(from, to core.Time, n int) {
	if from = max(from, -core.Forever); n == 0 || from >= to {
		return
	}
	if to >= core.Forever {
		to = list.EndOfTime
	}
	p.change(list.Rectangle(from, to, n))
}

func (p *Profile) change(c list.Change) {
	if p.tree == nil {
		p.list.Change(c)
		p.index()
		return
	}
	p.tree.change(c)
	if p.tree.isLeaf() {
		p.flatten()
	}
}

// index converts a list that has become long to a tree.
func (p *Profile) index() {
	if len(p.list.At) >= indexed {
		p.buildTree()
	}
}

// buildTree makes a tree of the list.
func (p *Profile) buildTree() {
	p.startTree()
	p.tree.build(&p.list, p.nodes)
}

// startTree sets p.tree to an empty tree.
func (p *Profile) startTree() {
	if p.tree, p.spare = p.spare, nil; p.tree == nil {
		p.tree = &tree{}
	}
}

// flatten converts the tree to a list.
func (p *Profile) flatten() {
	p.list.At, p.list.Used = p.list.At[:0], p.list.Used[:0]
	p.tree.each(-core.Forever, func(begin core.Time, used int) bool {
		p.list.Append(begin, used)
		return true
	})
	p.dropTree()
}

// dropTree clears the tree, if there is one, and keeps its memory.
func (p *Profile) dropTree() {
	if p.tree != nil {
		p.tree.clear()
		p.tree, p.spare = nil, p.tree
	}
}
