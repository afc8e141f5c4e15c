package planner

import (
	"iter"
	"math/bits"
	"slices"
)

// Special values in place of a number, in the counts of a level.
const (
	AllOfThem = -1 // all of them, whether usable now or not: the request waits until all are free
	Best      = -2 // as many as are free when the job starts, but at least one
	BestHalf  = -3 // as many as are free when the job starts, but at least half of all (rounded up)
)

// Property holds one column of OAR's table of resources: resources with the same number belong to the same host, switch
// or cpu. A negative number means none.
type Property []int32

// Tree is the hierarchy of the resources that a request may have, such as switches, their hosts, and the hosts' cores.
// The request names the levels. A Tree does not change after it is made.
type Tree struct {
	stretch  // the resources below it
	children []*Tree
	size     int  // number of resources below it
	smallest int  // number of resources below the smallest child; 1 if there is no child
	singles  bool // each child is one resource, and the children are ordered by resource number
}

// stretch is a set of resources with close numbers, such as the resources of a host. It stores only the words of the bit set that contain
// resources, so that operations on it touch few words of a large cluster's sets.
type stretch struct {
	first int // number of the first word
	words Set
}

// of returns the part of another set that this stretch covers.
func (p *stretch) of(s Set) Set { return s[p.first : p.first+len(p.words)] }

// all iterates over the resources, in order.
func (p *stretch) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for r := range p.words.All() {
			if !yield(64*p.first + r) {
				return
			}
		}
	}
}

// add adds a resource with a larger number than all others.
func (p *stretch) add(r int) {
	if len(p.words) == 0 {
		p.first = r / 64
	}
	for len(p.words) <= r/64-p.first {
		p.words = append(p.words, 0)
	}
	p.words.Add(r - 64*p.first)
}

// NewTree arranges the eligible resources in levels, the outermost level first. It leaves out resources that lack one of the properties.
// The parts of a level are ordered by their first resources.
func NewTree(eligible Set, levels ...Property) *Tree {
	t := new(Tree)
	for r := range eligible.All() {
		if !slices.ContainsFunc(levels, func(of Property) bool { return of[r] < 0 }) {
			t.add(r)
		}
	}
	t.divide(levels)
	return t
}

func (t *Tree) divide(levels []Property) {
	t.size, t.smallest = t.words.Len(), 1
	if len(levels) == 0 {
		return
	}
	parts := map[int32]*Tree{}
	for r := range t.all() {
		of := levels[0][r]
		part, known := parts[of]
		if !known {
			part = new(Tree)
			parts[of] = part
			t.children = append(t.children, part)
		}
		part.add(r)
	}
	for i, part := range t.children {
		part.divide(levels[1:])
		if i == 0 || part.size < t.smallest {
			t.smallest = part.size
		}
	}
	t.singles = len(levels) == 1 && len(t.children) == t.size
}

// Group is one part of a request. It has a count for each level of a tree, and gets all resources of the parts that are chosen in the last
// level.
type Group struct {
	Tree   *Tree
	Counts []int // a number from 1, or AllOfThem, Best, BestHalf, for each level
}

// pick adds to `taken`, which is empty, the first of the free resources that fit the group. It reports whether there are enough; if not,
// `taken` stays empty.
func (g Group) pick(free, taken Set) bool { return pick(g.Tree, g.Counts, free, taken) }

func pick(t *Tree, counts []int, free, taken Set) bool {
	if len(counts) == 0 {
		if t.size == 0 || !t.of(free).Holds(t.words) {
			return false
		}
		t.of(taken).Join(t.words)
		return true
	}
	need, most := wanted(counts[0], len(t.children))
	if need > len(t.children) {
		return false
	}
	if t.singles {
		return t.pickSingles(need, most, t.of(free), t.of(taken))
	}
	found := 0
	for i, child := range t.children {
		if found == most || found+len(t.children)-i < need {
			break
		}
		if pick(child, counts[1:], free, taken) {
			found++
		}
	}
	if found >= need {
		return true
	}
	t.of(taken).Drop(t.words)
	return false
}

// pickSingles does what pick does, for a tree whose children are single resources. `free` and `taken` contain only the words that the
// tree's stretch covers.
func (t *Tree) pickSingles(need, most int, free, taken Set) bool {
	found := 0
	for i, w := range t.words {
		w &= free[i]
		for n := bits.OnesCount64(w); found+n > most; n-- {
			w &^= 1 << (63 - bits.LeadingZeros64(w)) // remove the last one
		}
		taken[i] |= w
		found += bits.OnesCount64(w)
	}
	if found >= need {
		return true
	}
	taken.Drop(t.words)
	return false
}

// wanted returns how many of `parts` parts a count needs at least, and how many it takes at most.
func wanted(count, parts int) (need, most int) {
	switch count {
	case AllOfThem:
		return max(parts, 1), parts
	case Best:
		return 1, parts
	case BestHalf:
		return max((parts+1)/2, 1), parts
	}
	return count, count
}

// least returns a lower bound for the number of resources that the group needs.
func (g Group) least() int { return least(g.Tree, g.Counts) }

func least(t *Tree, counts []int) int {
	if len(counts) == 0 {
		return t.size
	}
	need, _ := wanted(counts[0], len(t.children))
	if len(counts) == 1 {
		return need * t.smallest
	}
	smallest := 1
	for i, child := range t.children {
		if n := least(child, counts[1:]); i == 0 || n < smallest {
			smallest = n
		}
	}
	return need * smallest
}
