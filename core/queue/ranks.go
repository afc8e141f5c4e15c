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

// Jobs of a block.
const (
	blockBits = 3
	block     = 1 << blockBits
)

// hole is the size of a job that was taken out.
const hole = 1<<31 - 1

// least says of a block that no job of it needs fewer nodes, or less time.
type least struct {
	length core.Time
	nodes  int32
}

// nothing is the least of a block without jobs.
var nothing = least{core.Forever, hole}

func (l *least) add(w *want) {
	l.length, l.nodes = min(l.length, w.length), min(l.nodes, w.nodes)
}

// push puts a job behind all others.
func (r *ranks) push(w want) {
	if len(r.list)%block == 0 {
		r.least = append(r.least, nothing)
	}
	r.least[len(r.list)>>blockBits].add(&w)
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
	r.list[i].nodes, r.list[i].length = hole, core.Forever
	r.jobs--
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

// pack removes all holes.
func (r *ranks) pack() {
	kept := r.list[:0]
	for _, w := range r.list[r.first:] {
		if w.nodes != hole {
			kept = append(kept, w)
		}
	}
	r.list, r.first = kept, 0
	r.measure()
}

// measure learns all about the blocks of a list without holes.
func (r *ranks) measure() {
	r.jobs, r.least = len(r.list), r.least[:0]
	for i := range r.list {
		if i%block == 0 {
			r.least = append(r.least, nothing)
		}
		r.least[i>>blockBits].add(&r.list[i])
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
