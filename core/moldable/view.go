package moldable

import (
	"sort"

	"accordion/core"
	"accordion/core/profile"
)

// View is what a launcher may see: how much of each cluster is occupied from when on (RR-7389, section 5.1: a COP a
// cluster). Clusters go by their index.
type View []Cluster

// Cluster is one of a view. Its points are those of profile.Profile.Points, from any instant on: later calls may be about
// any second that is not before the first of them. Without points nothing is occupied.
type Cluster struct {
	Hosts  int
	Points []profile.Point
}

// index is the point that holds at a second, −1 where nothing is known of it.
func (c Cluster) index(t core.Time) int {
	return sort.Search(len(c.Points), func(i int) bool { return c.Points[i].At > t }) - 1
}

// Free is the number of hosts that are free at a second.
func (c Cluster) Free(t core.Time) int {
	if i := c.index(t); i >= 0 {
		return max(0, c.Hosts-c.Points[i].Used)
	}
	return max(0, c.Hosts)
}

// Finite is how many steps of the occupation from a second on have an end: what a message about it lists.
func (c Cluster) Finite(from core.Time) int {
	return len(c.Points) - max(0, c.index(from)) - min(1, len(c.Points))
}

// least is the number of hosts that are free in all of [from, to), which is not empty, and how many steps say so: those from
// the one that holds from, which is at or behind the point of that index, to the last that begins before to.
func (c *Cluster) least(index int, from, to core.Time) (free, steps int) {
	points := c.Points[max(index, 0):]
	for len(points) > 1 && points[1].At <= from {
		points = points[1:]
	}
	most := 0
	for i := range points {
		if points[i].At >= to {
			break
		}
		most = max(most, points[i].Used)
		steps++
	}
	return max(0, c.Hosts-most), max(steps, 1)
}

// Part is a number of hosts on one cluster.
type Part struct {
	Cluster int
	Hosts   int
}

// Request is what a launcher asks for: all its parts at once, for at most so long.
type Request struct {
	Parts    []Part    // by rising cluster, each with at least one host
	Walltime core.Time // seconds
}

// Found is a request, and where it fits into the view in which it was found.
type Found struct {
	Request
	Start core.Time
	OK    bool // there is one
	Steps int  // of the view that were looked at: the basic operations of RR-7389, section 6.1
}

// End is the second at which the request would be over at the latest.
func (f Found) End() core.Time { return f.Start + f.Walltime }

// walk goes along the steps of all clusters of a view, from a second on. The step that holds then begins then.
type walk struct {
	view  View
	next  []int       // a cluster: its next step's point; −1 for the time before the first
	begin []core.Time // a cluster: when that step begins; Forever when there is none
}

// take begins a walk, in the memory of the one before.
func (w *walk) take(view View, from core.Time) {
	w.view, w.next, w.begin = view, w.next[:0], w.begin[:0]
	for _, c := range view {
		w.next, w.begin = append(w.next, c.index(from)), append(w.begin, from)
	}
}

// first is the cluster whose next step begins first, the lowest of several, and that second; Forever when none has a step.
func (w *walk) first() (cluster int, at core.Time) {
	at = core.Forever
	for c, t := range w.begin {
		if t < at {
			cluster, at = c, t
		}
	}
	return cluster, at
}

// free is what a cluster's next step leaves free.
func (w *walk) free(c int) int {
	cluster := &w.view[c]
	if i := w.next[c]; i >= 0 {
		return max(0, cluster.Hosts-cluster.Points[i].Used)
	}
	return max(0, cluster.Hosts)
}

// pass goes on to a cluster's step behind the next one.
func (w *walk) pass(c int) {
	w.next[c]++
	w.begin[c] = core.Forever
	if points := w.view[c].Points; w.next[c] < len(points) {
		w.begin[c] = points[w.next[c]].At
	}
}
