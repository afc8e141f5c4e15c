package patient

import (
	"slices"

	"accordion/core"
)

// want is a job that waits.
type want struct {
	length core.Time // it begins where so many nodes are free for so long, or later
	due    core.Time
	id     core.JobID
	nodes  int32
	came   uint32 // its rank among equals

	shape *core.Job // of a job that is no rectangle; nil
	wakes core.Time // of one that is none: it does not begin before…
	as    uint32    // …as long as no more nodes are given back than these times
	has   bool      // a reservation
}

// ranks is a list of waiting jobs in order, for searches that pass over most of them. A job that is taken out leaves a hole, until the
// list is tidied up; and of each block of jobs the least that they ask for is known. As in core/queue, where it is explained.
type ranks struct {
	list  []want
	least []least // by block
	first int     // no job is before
	jobs  int
}

const blockBits = 3

// hole is the size of a job that was taken out.
const hole = 1<<31 - 1

// least says of a block that no job of it needs fewer nodes, or less time.
type least struct {
	length core.Time
	nodes  int32
}

func (r *ranks) block(b int) []want {
	return r.list[b<<blockBits : min((b+1)<<blockBits, len(r.list))]
}

// measure learns the least of a block; without jobs it is more than there ever is.
func (r *ranks) measure(b int) {
	l := least{core.Forever, hole}
	block := r.block(b)
	for i := range block {
		w := &block[i]
		l.length, l.nodes = min(l.length, w.length), min(l.nodes, w.nodes)
	}
	r.least[b] = l
}

// push puts a job behind all others.
func (r *ranks) push(w want) {
	r.list = append(r.list, w)
	r.jobs++
	if b := (len(r.list) - 1) >> blockBits; b == len(r.least) {
		r.least = append(r.least, least{w.length, w.nodes})
	} else {
		l := &r.least[b]
		l.length, l.nodes = min(l.length, w.length), min(l.nodes, w.nodes)
	}
}

// byDue puts a job behind those that became due before, or together and came before. It says whether that is behind all.
func (r *ranks) byDue(w want) bool {
	i := len(r.list)
	for i > r.first && (r.list[i-1].due > w.due || r.list[i-1].due == w.due && r.list[i-1].came > w.came) {
		i--
	}
	if i == len(r.list) {
		r.push(w)
		return true
	}
	r.list = slices.Insert(r.list, i, w)
	r.pack()
	return false
}

// remove takes number i out.
func (r *ranks) remove(i int) want {
	w := r.list[i]
	if r.jobs--; r.jobs == 0 {
		clear(r.list)
		r.list, r.least, r.first = r.list[:0], r.least[:0], 0
		return w
	}
	hollow := &r.list[i]
	hollow.nodes, hollow.length, hollow.shape = hole, core.Forever, nil
	r.measure(i >> blockBits)
	for r.list[r.first].nodes == hole {
		r.first++
	}
	return w
}

// tidy removes the holes if there are many. It says whether it did.
func (r *ranks) tidy() bool {
	if len(r.list) > 2*r.jobs+32 {
		r.pack()
		return true
	}
	return false
}

// pack removes all holes.
func (r *ranks) pack() {
	r.list = slices.DeleteFunc(r.list, func(w want) bool { return w.nodes == hole })
	r.first, r.jobs, r.least = 0, len(r.list), r.least[:0]
	for b := 0; b<<blockBits < len(r.list); b++ {
		r.least = append(r.least, least{})
		r.measure(b)
	}
}

// find is the number of a job that is there; −1 when there is none.
func (r *ranks) find(id core.JobID) int {
	for i := r.first; i < len(r.list); i++ {
		if r.list[i].nodes != hole && r.list[i].id == id {
			return i
		}
	}
	return -1
}

// at is the number of the job that came as so manieth, in a list in the order of the queue; −1 when it is not there.
func (r *ranks) at(came uint32) int {
	i, there := slices.BinarySearchFunc(r.list, came, func(w want, came uint32) int { return int(w.came) - int(came) })
	if !there || r.list[i].nodes == hole {
		return -1
	}
	return i
}

func (r *ranks) clone() ranks {
	c := *r
	c.list, c.least = slices.Clone(r.list), slices.Clone(r.least)
	return c
}

// age is when a job becomes due.
type age struct {
	due  core.Time
	came uint32
}

// ages is a heap of them, the first at its top. Jobs that wait no more are left in it.
type ages []age

func (h *ages) push(a age) {
	all := append(*h, a)
	i := len(all) - 1
	for i > 0 && a.due < all[(i-1)/2].due {
		all[i] = all[(i-1)/2]
		i = (i - 1) / 2
	}
	all[i] = a
	*h = all
}

func (h *ages) pop() age {
	all := *h
	first, last := all[0], all[len(all)-1]
	all = all[:len(all)-1]
	i := 0
	for below := 1; below < len(all); below = 2*i + 1 {
		if below+1 < len(all) && all[below+1].due < all[below].due {
			below++
		}
		if all[below].due >= last.due {
			break
		}
		all[i] = all[below]
		i = below
	}
	if len(all) > 0 {
		all[i] = last
	}
	*h = all
	return first
}
