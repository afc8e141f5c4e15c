// Package waiting is what waits for a machine, for policies of the EASY kind: jobs as so many nodes for so long, in the order of a queue,
// in a list for searches that pass over most of them; the reservation of one of them; and who finds room beside that.
//
//	var queue waiting.List
//	queue.Push(waiting.Job{Length: 3600, ID: 1, Nodes: 4})
//	r := waiting.Reserve(&queue.All[queue.First], free, runs.List) // it does not fit now
//	room := r.Room(now, free)
//	for b := room.Next(queue.Least, 0); b < len(queue.Least); b = room.Next(queue.Least, b+1) {
//		fit := room.Fitting(queue.Block(b)) // a bit for each job of it that starts beside the reservation
//	}
//
// It decides nothing: who may start, and who has the reservation, is core/patient's. It is made for millions of jobs a
// second: whoever knows an array's place reads it, and once the arrays have grown nothing asks for memory.
package waiting

import (
	"slices"

	"accordion/core"
)

// Job is one that waits.
type Job struct {
	Length core.Time // requested
	ID     core.JobID
	Nodes  int32  // less than Hole
	Came   uint32 // its rank among equals
}

// List is waiting jobs in the order of a queue. A job that is taken out leaves a hole, until the list is tidied up; and of each block of
// jobs the least size and length are known. The zero value is empty.
type List struct {
	All   []Job   // holes among them; read only
	Least []Least // by block; read only
	First int     // the first that is no hole, where Jobs is not 0; read only
	Jobs  int     // without the holes; read only
}

// blockBits: a block is 1 << blockBits jobs.
const blockBits = 3

// BlockOf is the number of the block in which a job is.
func BlockOf(i int) int { return i >> blockBits }

// FirstOf is the number of the first job of a block.
func FirstOf(block int) int { return block << blockBits }

// Hole is the size of a job that was taken out.
const Hole = 1<<31 - 1

// Least says of a block that no job of it needs fewer nodes, or less time.
type Least struct {
	Length core.Time
	Nodes  int32
}

// leastOf is the least of a block; without jobs it is more than there ever is.
func leastOf(block []Job) Least {
	l := Least{core.Forever, Hole}
	for i := range block {
		w := &block[i]
		l.Length, l.Nodes = min(l.Length, w.Length), min(l.Nodes, w.Nodes)
	}
	return l
}

// Block is block number b.
func (l *List) Block(b int) []Job {
	return l.All[b<<blockBits : min((b+1)<<blockBits, len(l.All))]
}

// Push puts a job behind all others.
func (l *List) Push(w Job) {
	if b := len(l.All) >> blockBits; b == len(l.Least) {
		l.Least = append(l.Least, Least{w.Length, w.Nodes})
	} else {
		of := &l.Least[b]
		of.Length, of.Nodes = min(of.Length, w.Length), min(of.Nodes, w.Nodes)
	}
	l.All = append(l.All, w)
	l.Jobs++
}

// Insert puts a job in its place, behind all that it is not before. All jobs may have other numbers then.
func (l *List) Insert(w Job, before func(a, b Job) bool) {
	l.Pack()
	i, _ := slices.BinarySearchFunc(l.All, w, func(a, b Job) int {
		if before(b, a) {
			return 1
		}
		return -1
	})
	l.All = slices.Insert(l.All, i, w)
	l.measure()
}

// Remove takes number i out. When it was the last one the list has no holes any more.
func (l *List) Remove(i int) Job {
	w := l.All[i]
	if l.Jobs--; l.Jobs == 0 {
		l.All, l.Least, l.First = l.All[:0], l.Least[:0], 0
		return w
	}
	l.All[i].Nodes, l.All[i].Length = Hole, core.Forever
	b := i >> blockBits
	l.Least[b] = leastOf(l.Block(b))
	if i == l.First {
		l.skip()
	}
	return w
}

// skip goes to the first job.
func (l *List) skip() {
	for l.First < len(l.All) && l.All[l.First].Nodes == Hole {
		l.First++
	}
}

// Tidy removes the holes if there are many. All jobs may have other numbers then.
func (l *List) Tidy() {
	if len(l.All) > 2*l.Jobs+32 {
		l.Pack()
	}
}

// Pack removes all holes. Where they are is not known beforehand, so that a branch would be guessed wrongly: whatever is behind the
// jobs kept so far is written over by the next one.
func (l *List) Pack() {
	kept := 0
	for _, w := range l.All[l.First:] {
		l.All[kept] = w
		kept += int(uint32(w.Nodes-Hole) >> 31) // when it is none
	}
	l.All, l.First = l.All[:kept], 0
	l.measure()
}

// measure learns all about the blocks of a list without holes.
func (l *List) measure() {
	l.Jobs, l.Least = len(l.All), l.Least[:0]
	for b := 0; b<<blockBits < len(l.All); b++ {
		l.Least = append(l.Least, leastOf(l.Block(b)))
	}
}

// Find is the number of a job; −1 when it does not wait.
func (l *List) Find(id core.JobID) int {
	for i := l.First; i < len(l.All); i++ {
		if l.All[i].ID == id && l.All[i].Nodes != Hole {
			return i
		}
	}
	return -1
}

// Clone is an independent copy.
func (l *List) Clone() List {
	c := *l
	c.All, c.Least = slices.Clone(l.All), slices.Clone(l.Least)
	return c
}
