package queue

import (
	"slices"

	"accordion/core"
)

// ranks is a list of waiting jobs in the order of the queue, for searches that pass over most of them. A job that is taken
// out leaves a hole, until the list is tidied up; and of each block of jobs the least size is known.
type ranks struct {
	list  []want
	least []least // by block
	first int     // no job is before
	jobs  int
}

// blockBits: a block is 1 << blockBits jobs.
const blockBits = 3

// hole is the size of a job that was taken out.
const hole = 1<<31 - 1

// least says of a block that no job of it needs fewer nodes, or less time.
type least struct {
	length core.Time
	nodes  int32
}

// leastOf is the least of a block; without jobs it is more than there ever is.
func leastOf(block []want) least {
	l := least{core.Forever, hole}
	for i := range block {
		w := &block[i]
		l.length, l.nodes = min(l.length, w.length), min(l.nodes, w.nodes)
	}
	return l
}

// block is block number b.
func (r *ranks) block(b int) []want {
	return r.list[b<<blockBits : min((b+1)<<blockBits, len(r.list))]
}

// push puts a job behind all others.
func (r *ranks) push(w want) {
	if b := len(r.list) >> blockBits; b == len(r.least) {
		r.least = append(r.least, least{w.length, w.nodes})
	} else {
		l := &r.least[b]
		l.length, l.nodes = min(l.length, w.length), min(l.nodes, w.nodes)
	}
	r.list = append(r.list, w)
	r.jobs++
}

// insert puts a job in its place, behind all that it is not before.
func (r *ranks) insert(w want, before func(a, b want) bool) {
	r.pack()
	i, _ := slices.BinarySearchFunc(r.list, w, func(a, b want) int {
		if before(b, a) {
			return 1
		}
		return -1
	})
	r.list = slices.Insert(r.list, i, w)
	r.measure()
}

// remove takes number i out.
func (r *ranks) remove(i int) want {
	w := r.list[i]
	if r.jobs--; r.jobs == 0 {
		r.list, r.least, r.first = r.list[:0], r.least[:0], 0
		return w
	}
	r.list[i].nodes, r.list[i].length = hole, core.Forever
	b := i >> blockBits
	r.least[b] = leastOf(r.block(b))
	if i == r.first {
		r.skip()
	}
	return w
}

// skip goes to the first job.
func (r *ranks) skip() {
	for r.first < len(r.list) && r.list[r.first].nodes == hole {
		r.first++
	}
}

// tidy removes the holes if there are many.
func (r *ranks) tidy() {
	if len(r.list) > 2*r.jobs+32 {
		r.pack()
	}
}

// pack removes all holes. Where they are is not known beforehand, so that a branch would be guessed wrongly: whatever is behind the
// jobs kept so far is written over by the next one.
func (r *ranks) pack() {
	kept := 0
	for _, w := range r.list[r.first:] {
		r.list[kept] = w
		kept += int(uint32(w.nodes-hole) >> 31) // when it is none
	}
	r.list, r.first = r.list[:kept], 0
	r.measure()
}

// measure learns all about the blocks of a list without holes.
func (r *ranks) measure() {
	r.jobs, r.least = len(r.list), r.least[:0]
	for b := 0; b<<blockBits < len(r.list); b++ {
		r.least = append(r.least, leastOf(r.block(b)))
	}
}

// find is the number of the first job that has what is asked for; −1 when there is none.
func (r *ranks) find(is func(want) bool) int {
	for i := r.first; i < len(r.list); i++ {
		if r.list[i].nodes != hole && is(r.list[i]) {
			return i
		}
	}
	return -1
}

func (r *ranks) clone() ranks {
	c := *r
	c.list, c.least = slices.Clone(r.list), slices.Clone(r.least)
	return c
}
