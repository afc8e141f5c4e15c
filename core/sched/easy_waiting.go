package sched

import (
	"slices"

	"accordion/core"
)

// A waitingJob is a waiting job with its smallest need.
type waitingJob struct {
	Length core.Time // requested
	ID     core.JobID
	Nodes  int32  // number of nodes, always less than hole
	Seq    uint32 // submission number
}

// A waitingList lists waiting jobs in queue order. A removed job leaves a hole until the list is tidied. The list
// knows the smallest size and length in each block of jobs, so that a search skips most jobs. It is made for millions
// of jobs a second: callers read its arrays, and it allocates no memory once these have grown. The zero value is
// empty.
type waitingList struct {
	All   []waitingJob // with holes; read only
	Least []blockLeast // one for each block; read only
	First int          // index of the first job; valid if Jobs is not 0; read only
	Jobs  int          // number of jobs, which excludes holes; read only
}

// A block has 1 << blockBits jobs.
const blockBits = 3

// blockOf returns the number of the block that contains index i.
func blockOf(i int) int { return i >> blockBits }

// firstOf returns the index of the first job of a block.
func firstOf(block int) int { return block << blockBits }

// hole is the Nodes of a removed entry.
const hole = 1<<31 - 1

// A blockLeast is a lower bound of the nodes and the length of all jobs of a block.
type blockLeast struct {
	Length core.Time
	Nodes  int32
}

// leastOf returns the bounds of a block. Without jobs they exceed every real need.
func leastOf(block []waitingJob) blockLeast {
	l := blockLeast{core.Forever, hole}
	for i := range block {
		w := &block[i]
		l.Length, l.Nodes = min(l.Length, w.Length), min(l.Nodes, w.Nodes)
	}
	return l
}

// Block returns the entries of block b.
func (l *waitingList) Block(b int) []waitingJob {
	return l.All[b<<blockBits : min((b+1)<<blockBits, len(l.All))]
}

// Push adds a job behind all others.
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

// Insert adds a job in front of the first job that it precedes by the order `before`. Insert may change all
// indexes.
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

// Remove removes the entry at index i. If it was the last job, the list becomes empty.
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

// skip moves First to the first job.
func (l *waitingList) skip() {
	for l.First < len(l.All) && l.All[l.First].Nodes == hole {
		l.First++
	}
}

// Tidy removes the holes if there are many. It may change all indexes.
func (l *waitingList) Tidy() {
	if len(l.All) > 2*l.Jobs+32 {
		l.Pack()
	}
}

// Pack removes all holes. The loop copies every entry behind the jobs kept so far, and the next entry overwrites a hole. It
// needs no branch, which the processor would often mispredict.
func (l *waitingList) Pack() {
	kept := 0
	for _, w := range l.All[l.First:] {
		l.All[kept] = w
		kept += int(uint32(w.Nodes-hole) >> 31) // 1 if it is a job
	}
	l.All, l.First = l.All[:kept], 0
	l.measure()
}

// measure computes the bounds of all blocks of a list without holes.
func (l *waitingList) measure() {
	l.Jobs, l.Least = len(l.All), l.Least[:0]
	for b := 0; b<<blockBits < len(l.All); b++ {
		l.Least = append(l.Least, leastOf(l.Block(b)))
	}
}

// Find returns the index of a job, or -1 if it does not wait.
func (l *waitingList) Find(id core.JobID) int {
	for i := l.First; i < len(l.All); i++ {
		if l.All[i].ID == id && l.All[i].Nodes != hole {
			return i
		}
	}
	return -1
}

// Clone returns an independent copy.
func (l *waitingList) Clone() waitingList {
	c := *l
	c.All, c.Least = slices.Clone(l.All), slices.Clone(l.Least)
	return c
}
