package sched

import (
	"slices"

	"accordion/core"
)

// A waitingJob is a job of one size that waits.
type waitingJob struct {
	Length core.Time // requested
	ID     core.JobID
	Nodes  int32  // less than hole
	Came   uint32 // its rank among equals
}

// A waitingList is waiting jobs in the order of a queue. A job that is taken out leaves a hole until the list is tidied. The list knows the
// least size and length of each block of jobs, so that a search passes over most jobs. It is made for millions of jobs a second: callers
// read its arrays, and once these have grown nothing allocates memory. The zero value is empty.
type waitingList struct {
	All   []waitingJob // holes among them; read only
	Least []blockLeast // by block; read only
	First int          // the first that is no hole, where Jobs is not 0; read only
	Jobs  int          // without the holes; read only
}

// blockBits: a block is 1 << blockBits jobs.
const blockBits = 3

// blockOf returns the number of the block in which a job is.
func blockOf(i int) int { return i >> blockBits }

// firstOf returns the number of the first job of a block.
func firstOf(block int) int { return block << blockBits }

// hole is the size of a job that was taken out.
const hole = 1<<31 - 1

// A blockLeast says of a block that no job of it needs fewer nodes, or less time.
type blockLeast struct {
	Length core.Time
	Nodes  int32
}

// leastOf is the least of a block; without jobs it is more than there ever is.
func leastOf(block []waitingJob) blockLeast {
	l := blockLeast{core.Forever, hole}
	for i := range block {
		w := &block[i]
		l.Length, l.Nodes = min(l.Length, w.Length), min(l.Nodes, w.Nodes)
	}
	return l
}

// Block is block number b.
func (l *waitingList) Block(b int) []waitingJob {
	return l.All[b<<blockBits : min((b+1)<<blockBits, len(l.All))]
}

// Push puts a job behind all others.
func (l *waitingList) Push(w waitingJob) {
	if b := len(l.All) >> blockBits; b == len(l.Least) {
		l.Least = append(l.Least, blockLeast{w.Length, w.Nodes})
	} else {
		of := &l.Least[b]
		of.Length, of.Nodes = min(of.Length, w.Length), min(of.Nodes, w.Nodes)
	}
	l.All = append(l.All, w)
	l.Jobs++
}

// Insert puts a job in its place, behind all that it is not before. All jobs may have other numbers then.
func (l *waitingList) Insert(w waitingJob, before func(a, b waitingJob) bool) {
	l.Pack()
	i, _ := slices.BinarySearchFunc(l.All, w, func(a, b waitingJob) int {
		if before(b, a) {
			return 1
		}
		return -1
	})
	l.All = slices.Insert(l.All, i, w)
	l.measure()
}

// Remove takes number i out. When it was the last one the list has no holes any more.
func (l *waitingList) Remove(i int) waitingJob {
	w := l.All[i]
	if l.Jobs--; l.Jobs == 0 {
		l.All, l.Least, l.First = l.All[:0], l.Least[:0], 0
		return w
	}
	l.All[i].Nodes, l.All[i].Length = hole, core.Forever
	b := i >> blockBits
	l.Least[b] = leastOf(l.Block(b))
	if i == l.First {
		l.skip()
	}
	return w
}

// skip goes to the first job.
func (l *waitingList) skip() {
	for l.First < len(l.All) && l.All[l.First].Nodes == hole {
		l.First++
	}
}

// Tidy removes the holes if there are many. All jobs may have other numbers then.
func (l *waitingList) Tidy() {
	if len(l.All) > 2*l.Jobs+32 {
		l.Pack()
	}
}

// Pack removes all holes. Where they are is not known beforehand, so that a branch would be guessed wrongly: whatever is behind the
// jobs kept so far is written over by the next one.
func (l *waitingList) Pack() {
	kept := 0
	for _, w := range l.All[l.First:] {
		l.All[kept] = w
		kept += int(uint32(w.Nodes-hole) >> 31) // when it is none
	}
	l.All, l.First = l.All[:kept], 0
	l.measure()
}

// measure learns all about the blocks of a list without holes.
func (l *waitingList) measure() {
	l.Jobs, l.Least = len(l.All), l.Least[:0]
	for b := 0; b<<blockBits < len(l.All); b++ {
		l.Least = append(l.Least, leastOf(l.Block(b)))
	}
}

// Find is the number of a job; −1 when it does not wait.
func (l *waitingList) Find(id core.JobID) int {
	for i := l.First; i < len(l.All); i++ {
		if l.All[i].ID == id && l.All[i].Nodes != hole {
			return i
		}
	}
	return -1
}

// Clone is an independent copy.
func (l *waitingList) Clone() waitingList {
	c := *l
	c.All, c.Least = slices.Clone(l.All), slices.Clone(l.Least)
	return c
}
