package sched

import (
	"accordion/core"
)

// room is where a job can start and does not delay the one that has the reservation.
type room struct {
	free   core.Time // nodes
	beside core.Time // the nodes of them that the reservation does not need
	length core.Time // seconds for which the others are free
}

// Room is what a reservation leaves of so many nodes that are free now.
func (r *reservation) Room(now core.Time, free int) room {
	return room{core.Time(free), core.Time(r.Extra), r.At - now}
}

// Has says whether there is room for a job.
func (r room) Has(w *waitingJob) bool { return r.lacks(w.Nodes, w.Length) == 0 }

// lacks is 0 when so many nodes are free, and either for so long or beside the reservation, and 1 when not. It asks for the signs of all
// differences at once: each for itself is guessed wrongly too often.
func (r room) lacks(nodes int32, length core.Time) uint {
	n := core.Time(nodes)
	return uint(r.free-n|(r.length-length)&(r.beside-n)) >> 63
}

// Next is the number of the first block, from a number on, in which some job might find room. It stays a function of its own, as
// Fitting does: then all that its loop needs is in registers.
//
//go:noinline
func (r room) Next(all []blockLeast, b int) int {
	for b < len(all) && r.lacks(all[b].Nodes, all[b].Length) != 0 {
		b++
	}
	return b
}

// Fitting has a bit for each job of a block, the first job's the lowest: it is set when the job finds room.
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

// reservation is when a job that does not fit now starts, by the requested times of what runs: as soon as enough nodes are free. It is kept
// while others come and go, for few of them change it. Once told of all that begins and ends it is what Reserve would make.
type reservation struct {
	At    core.Time // Forever on a machine that lost nodes and will never have as many
	Extra int       // nodes that are free beside the job then

	made  bool
	rank  uint32 // the job's
	short int    // nodes that are missing right before
}

// noReservation returns the reservation of no job: it leaves all nodes to others.
func noReservation() reservation { return reservation{At: core.Forever, Extra: hole} }

// reserveFor finds out when a job starts that does not fit now. What runs is given by its ends, the soonest last.
func reserveFor(w *waitingJob, free int, running []RunningJob) reservation {
	nodes := int(w.Nodes)
	i := len(running)
	for i > 0 && free < nodes {
		i--
		free += running[i].Nodes
	}
	if free < nodes {
		return reservation{made: true, rank: w.Came, At: core.Forever, short: nodes - free}
	}
	at := running[i].End
	short := nodes - free + running[i].Nodes
	for i > 0 && running[i-1].End == at {
		i--
		free += running[i].Nodes
	}
	return reservation{at, free - nodes, true, w.Came, short}
}

// Of says whether it is a job's, and is to be relied on.
func (r *reservation) Of(w *waitingJob) bool { return r.made && r.rank == w.Came }

// Drop has it be nobody's: what it leaves is as it was.
func (r *reservation) Drop() { r.made = false }

// Ended is told of a running job that ends before the end of its request. Whoever was to end before the reservation is counted at
// that time already. The nodes of the others are free beside the job, and can make it start sooner: when they were all
// that was missing.
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

// Began is told of a job that starts. It is in the way if it ranked before the one that has the reservation and started at once.
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
