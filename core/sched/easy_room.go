package sched

import (
	"accordion/core"
)

// room is the space in which a job can start without delaying the job that has the reservation.
type room struct {
	free   core.Time // free nodes
	spare  core.Time // the free nodes that the reservation does not need
	length core.Time // seconds for which the other free nodes are free
}

// Room returns the room that a reservation leaves when the given number of nodes is free now.
func (r *reservation) Room(now core.Time, free int) room {
	return room{core.Time(free), core.Time(r.Extra), r.At - now}
}

// Has reports whether there is room for a job.
func (r room) Has(w *waitingJob) bool { return r.lacks(w.Nodes, w.Length) == 0 }

// lacks returns 0 if the nodes are free for the length, or if the reservation does not need them, and otherwise 1. It combines the
// signs of the differences, because the processor would often mispredict separate branches.
func (r room) lacks(nodes int32, length core.Time) uint {
	n := core.Time(nodes)
	return uint(r.free-n|(r.length-length)&(r.spare-n)) >> 63
}

// Next returns the number of the first block, from b on, in which a job may find room. Like Fitting it is not
// inlined, so that its loop keeps all values in registers.
//
//go:noinline
func (r room) Next(all []blockLeast, b int) int {
	for b < len(all) && r.lacks(all[b].Nodes, all[b].Length) != 0 {
		b++
	}
	return b
}

// Fitting returns a bit for each job of a block. The lowest bit is for the first job. The bit is set if the job
// finds room.
//
//go:noinline
func (r room) Fitting(block []waitingJob) uint {
	lack := uint(0)
	for i := len(block) - 1; i >= 0; i-- {
		w := &block[i]
		lack = lack<<1 | r.lacks(w.Nodes, w.Length)
	}
	return ^lack & (1<<len(block) - 1)
}

// reservation is the time at which a job that does not fit now can start: as soon as enough nodes are free by the
// requested times of the running jobs. Ended and Began keep it up to date. It then equals what reserveFor would
// return, because few other jobs change it.
type reservation struct {
	At    core.Time // Forever on a machine that lost nodes and will never have enough
	Extra int       // nodes that are free at that time in addition to those that the job needs

	made  bool
	seq   uint32 // the job's submission number
	short int    // nodes that are missing right before At
}

// noReservation returns the reservation of no job. It leaves all nodes to others.
func noReservation() reservation { return reservation{At: core.Forever, Extra: hole} }

// reserveFor returns the reservation of a job that does not fit now. `running` is sorted by end, the soonest last.
func reserveFor(w *waitingJob, free int, running []RunningJob) reservation {
	nodes := int(w.Nodes)
	i := len(running)
	for i > 0 && free < nodes {
		i--
		free += running[i].Nodes
	}
	if free < nodes {
		return reservation{made: true, seq: w.Seq, At: core.Forever, short: nodes - free}
	}
	at := running[i].End
	short := nodes - free + running[i].Nodes
	for i > 0 && running[i-1].End == at {
		i--
		free += running[i].Nodes
	}
	return reservation{at, free - nodes, true, w.Seq, short}
}

// IsFor reports whether the reservation is valid and belongs to the job.
func (r *reservation) IsFor(w *waitingJob) bool { return r.made && r.seq == w.Seq }

// Invalidate makes the reservation belong to no job. The room that it leaves stays the same.
func (r *reservation) Invalidate() { r.made = false }

// Ended updates the reservation for a running job that ends before its requested time. If the requested end was before the
// reservation, the reservation already counts on the job's nodes. Otherwise these nodes are additional: other jobs can use them
// next to the reserved job, or the reserved job can start sooner with them.
func (r *reservation) Ended(h RunningJob) {
	if h.End < r.At {
		return
	}
	if h.End > r.At {
		r.Extra += h.Nodes
	}
	r.short -= h.Nodes
	r.made = r.made && r.short > 0
}

// Began updates the reservation for a job that starts. The reservation becomes invalid if the job delays the reserved job, which
// is possible only if the job ranks before the reserved job.
func (r *reservation) Began(h RunningJob) {
	if h.End < r.At {
		return
	}
	if h.End > r.At {
		r.Extra -= h.Nodes
	}
	r.short += h.Nodes
	r.made = r.made && r.Extra >= 0
}
