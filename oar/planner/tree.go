package planner

import (
	"iter"
	"math/bits"
	"slices"
)

// How many of a level a request wants, other than a number.
const (
	AllOfThem = -1 // every one that there is, whether it can be used at present or not: the request waits for the last
	Best      = -2 // as many as there are at the job's start, at least one
	BestHalf  = -3 // at least half of those that there are (rounded up), and all that are free at the job's start
)

// Property is what the resources have in one column of OAR's table: resources with the same number are in the same host,
// switch, cpu. A negative number: the resource has none.
type Property []int32

// Tree is the hierarchy of the resources that a request may have: switches, their hosts, their cores, as the request
// names the levels. It is made once and never changed.
type Tree struct {
	stretch  // what is below it
	children []*Tree
	size     int  // resources below it
	smallest int  // resources below the smallest child; 1 where there is none
	singles  bool // each child is one resource, and they stand in the resources' order
}

// stretch is a set of resources that lie near to each other, as those of a host do: of a large cluster's sets only these words are looked
// at.
type stretch struct {
	first int // number of the first word
	words Set
}

// of is the same words of a set.
func (p *stretch) of(s Set) Set { return s[p.first : p.first+len(p.words)] }

// all goes through the resources, in their order.
func (p *stretch) all() iter.Seq[int] {
	return func(yield func(int) bool) {
		for r := range p.words.All() {
			if !yield(64*p.first + r) {
				return
			}
		}
	}
}

// add puts a resource behind all others.
func (p *stretch) add(r int) {
	if len(p.words) == 0 {
		p.first = r / 64
	}
	for len(p.words) <= r/64-p.first {
		p.words = append(p.words, 0)
	}
	p.words.Add(r - 64*p.first)
}

// NewTree arranges the eligible resources in levels, the outermost first. Resources that lack one of the properties are
// not in it. Parts stand in the order of their first resources.
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

// Group is one part of a request: so many of each level of a tree, and all resources of those in the last level.
type Group struct {
	Tree   *Tree
	Counts []int // a number from 1, or AllOfThem, Best, BestHalf, for each level
}

// pick adds to taken, which is empty, the resources for the group, of those that are free: the first that fit, in their
// order. It says whether there are enough; when not, taken is empty again.
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

// pickSingles is pick where each child is a resource, on the tree's own words.
func (t *Tree) pickSingles(need, most int, free, taken Set) bool {
	found := 0
	for i, w := range t.words {
		w &= free[i]
		for n := bits.OnesCount64(w); found+n > most; n-- {
			w &^= 1 << (63 - bits.LeadingZeros64(w)) // the last one
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

// wanted is how many of so many parts a count needs, and how many it takes at most.
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

// least is a number of resources without which the group cannot be satisfied.
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
