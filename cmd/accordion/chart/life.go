package chart

import (
	"slices"
	"time"

	"accordion/core"
	"accordion/traces/workload"
)

// Gantt is a chart of jobs on nodes: a row each node, time from left to right.
type Gantt struct {
	Title string
	Note  string   // one line under the title
	Nodes []string // the rows, from the top
	Jobs  []Job
}

// Job is one job's life.
type Job struct {
	ID      core.JobID
	Name    string
	User    string
	Kind    workload.Kind
	Request string    // as its user wrote it: ep=2x20s,5x20s
	Outcome string    // how it ended, in the batch system's word
	Submit  time.Time // zero: unknown
	Holds   []Hold    // what it held, in any order; an expander's nodes before the merge are its own job's
	Planned []Size    // what it was promised when it started: start and changes, by time
}

// Hold is one node held from From until just before To.
type Hold struct {
	Node     string
	From, To time.Time
}

// Size is a node count from an instant on.
type Size struct {
	At    time.Time
	Nodes int
}

// Start is when the job first held a node; zero when it never did.
func (j Job) Start() time.Time {
	var first time.Time
	for _, h := range j.Holds {
		if first.IsZero() || h.From.Before(first) {
			first = h.From
		}
	}
	return first
}

// End is when the job gave back its last node; zero when it never held any.
func (j Job) End() time.Time {
	var last time.Time
	for _, h := range j.Holds {
		if h.To.After(last) {
			last = h.To
		}
	}
	return last
}

// Sizes is the job's node count as it was, from its start to a last Size of 0 nodes at its end.
func (j Job) Sizes() []Size {
	changes := make(map[int64]int, 2*len(j.Holds)) // by nanosecond
	for _, h := range j.Holds {
		changes[h.From.UnixNano()]++
		changes[h.To.UnixNano()]--
	}
	var at []int64
	for t := range changes {
		at = append(at, t)
	}
	slices.Sort(at)
	var sizes []Size
	nodes := 0
	for _, t := range at {
		if changes[t] == 0 { // nodes were exchanged, or one span was written as two
			continue
		}
		nodes += changes[t]
		sizes = append(sizes, Size{At: time.Unix(0, t), Nodes: nodes})
	}
	return sizes
}

// Peak is the largest node count it had.
func (j Job) Peak() int {
	peak := 0
	for _, s := range j.Sizes() {
		peak = max(peak, s.Nodes)
	}
	return peak
}

// held is node-time in all.
func (j Job) held() time.Duration {
	var sum time.Duration
	for _, h := range j.Holds {
		sum += h.To.Sub(h.From)
	}
	return sum
}

// Mark is one promised change, and when it really came.
type Mark struct {
	Planned time.Time
	Real    time.Time // zero: never
	From    int       // nodes before; 0 for the start
	To      int
}

// Late is how long after the promise it came: negative when earlier, 0 when it never came.
func (m Mark) Late() time.Duration {
	if m.Real.IsZero() {
		return 0
	}
	return m.Real.Sub(m.Planned)
}

// Marks pairs each promised change, the start first, with the instant at which the job first had at least (a growth) or
// at most (a shrink) so many nodes after the change before it.
func (j Job) Marks() []Mark {
	sizes := j.Sizes()
	var marks []Mark
	next, before := 0, 0 // of sizes; nodes promised before
	for _, p := range j.Planned {
		if p.Nodes == before {
			continue
		}
		m := Mark{Planned: p.At, From: before, To: p.Nodes}
		for i := next; i < len(sizes); i++ {
			ended := sizes[i].Nodes == 0 && p.Nodes > 0
			if !ended && (p.Nodes > before && sizes[i].Nodes >= p.Nodes || p.Nodes < before && sizes[i].Nodes <= p.Nodes) {
				m.Real, next = sizes[i].At, i+1
				break
			}
		}
		before = p.Nodes
		marks = append(marks, m)
	}
	return marks
}
