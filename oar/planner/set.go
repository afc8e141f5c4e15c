package planner

import (
	"iter"
	"math/bits"
)

// Set is a set of resources. Sets that are combined must be made for the same number of resources.
type Set []uint64

// NewSet returns an empty set for n resources.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Add adds a resource to the set.
func (s Set) Add(r int) { s[r/64] |= 1 << (r % 64) }

// Has reports whether a resource is in the set.
func (s Set) Has(r int) bool { return s[r/64]>>(r%64)&1 == 1 }

// Len returns the number of resources in the set.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// All iterates over the resources in the set, in order.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(64*i + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// span returns the range of words that contain resources. The range includes `first` and excludes `last`.
func (s Set) span() (first, last int) {
	last = len(s)
	for last > 0 && s[last-1] == 0 {
		last--
	}
	for first < last && s[first] == 0 {
		first++
	}
	return first, last
}

// Keep removes from s what is not in t.
func (s Set) Keep(t Set) {
	for i, w := range t {
		s[i] &= w
	}
}

// Drop removes from s what is in t.
func (s Set) Drop(t Set) {
	for i, w := range t {
		s[i] &^= w
	}
}

// Join adds to s what is in t.
func (s Set) Join(t Set) {
	for i, w := range t {
		s[i] |= w
	}
}

// Meets reports whether the two sets have a resource in common.
func (s Set) Meets(t Set) bool {
	for i, w := range t {
		if s[i]&w != 0 {
			return true
		}
	}
	return false
}

// Holds reports whether s contains all of t.
func (s Set) Holds(t Set) bool {
	for i, w := range t {
		if w&^s[i] != 0 {
			return false
		}
	}
	return true
}

// common returns the number of resources in both sets.
func (s Set) common(t Set) int {
	n := 0
	for i, w := range t {
		n += bits.OnesCount64(s[i] & w)
	}
	return n
}
