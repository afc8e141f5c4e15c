// Package gantt draws as one HTML page what jobs really held, and what they were promised.
//
//	c := gantt.Chart{Title: "Cluster", Nodes: []string{"n1", "n2"}, Jobs: jobs}
//	fmt.Println(gantt.Summary(c))
//	err := c.Save("chart.html")
package gantt

import (
	"slices"
	"time"

	"accordion/core"
	"accordion/traces/workload"
)

// Chart is a chart of jobs on nodes: one row per node, time from left to right.
type Chart struct {
	Title string
	Note  string   // one line under the title
	Nodes []string // the rows, from the top
	Jobs  []Job
}

// Job is one job of a chart.
type Job struct {
	ID      core.JobID
	Name    string
	User    string
	Kind    workload.Kind
	Request string    // as its user wrote it: ep=2x20s,5x20s
	Choices []core.EP // what Request asks for; nil for a rigid job
	Outcome string    // how it ended, in the batch system's words
	Submit  time.Time // zero if unknown
	Holds   []Hold    // the nodes that the job held, in any order; until the merge, an expander's nodes belong to the expander
	Planned []Size    // the promised start and size changes, by time
}

// Hold is one node that a job held from From until just before To.
type Hold struct {
	Node     string
	From, To time.Time
}

// Size is the node count of a job from At on.
type Size struct {
	At    time.Time
	Nodes int
}

// Start returns when the job first held a node, or zero if it never did.
func (j Job) Start() time.Time {
	var first time.Time
	for _, h := range j.Holds {
		if first.IsZero() || h.From.Before(first) {
			first = h.From
		}
	}
	return first
}

// End returns when the job released its last node, or zero if it never held one.
func (j Job) End() time.Time {
	var last time.Time
	for _, h := range j.Holds {
		if h.To.After(last) {
			last = h.To
		}
	}
	return last
}

// Sizes returns the node counts that the job really had. The last one is 0, at its end.
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
		if changes[t] == 0 { // a node was exchanged, or one hold was recorded as two
			continue
		}
		nodes += changes[t]
		sizes = append(sizes, Size{At: time.Unix(0, t), Nodes: nodes})
	}
	return sizes
}

// Peak returns the largest node count that the job had.
func (j Job) Peak() int {
	peak := 0
	for _, s := range j.Sizes() {
		peak = max(peak, s.Nodes)
	}
	return peak
}

// held returns the node-time that the job held.
func (j Job) held() time.Duration {
	var sum time.Duration
	for _, h := range j.Holds {
		sum += h.To.Sub(h.From)
	}
	return sum
}

// Mark is one promised size change, and when it really happened.
type Mark struct {
	Planned time.Time
	Real    time.Time // zero if it never happened
	From    int       // nodes before; 0 for the start
	To      int
}

// Late returns how long after its promise the change happened: negative if it was early, 0 if it never happened.
func (m Mark) Late() time.Duration {
	if m.Real.IsZero() {
		return 0
	}
	return m.Real.Sub(m.Planned)
}

// Marks returns the promised size changes, beginning with the start. A growth happened when the job first had at least the promised number of nodes
// after the previous change, a shrink when it first had at most that number.
func (j Job) Marks() []Mark {
	sizes := j.Sizes()
	var marks []Mark
	next, before := 0, 0 // index into sizes; nodes promised before
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
