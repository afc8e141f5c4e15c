package moldable

import (
	"sort"

	"accordion/core"
	"accordion/core/profile"
)

// View is what a launcher may see: the occupation of each cluster over time (RR-7389, section 5.1: a COP for each
// cluster). A cluster is identified by its index.
type View []Cluster

// Cluster is a cluster of a view. Its points are a result of profile.Profile.Points. Queries may be for any time that is not
// before the first point. Without points no host is occupied.
type Cluster struct {
	Hosts  int
	Points []profile.Point
}

// index returns the point that applies at a time, or -1 before the first point.
func (c Cluster) index(t core.Time) int {
	return sort.Search(len(c.Points), func(i int) bool { return c.Points[i].At > t }) - 1
}

// Free returns the number of hosts that are free at a time.
func (c Cluster) Free(t core.Time) int {
	if i := c.index(t); i >= 0 {
		return max(0, c.Hosts-c.Points[i].Used)
	}
	return max(0, c.Hosts)
}

// Finite returns how many steps of the occupation from second `from` on have an end. These are the steps that a
// message lists.
func (c Cluster) Finite(from core.Time) int {
	return len(c.Points) - max(0, c.index(from)) - min(1, len(c.Points))
}

// least returns the number of hosts that are free in all of [from, to), which is not empty, and how many steps it examined.
// `index` is a point at or before the point that applies at second `from`.
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

// Request is what a launcher requests: all parts simultaneously, for at most Walltime.
type Request struct {
	Parts    []Part    // by ascending cluster, each with at least one host
	Walltime core.Time // seconds
}

// Found is a request and its place in the view in which it was found.
type Found struct {
	Request
	Start core.Time
	OK    bool // a request was found
	Steps int  // number of steps of the view that were examined: the basic operations of RR-7389, section 6.1
}

// End returns the latest end of the request.
func (f Found) End() core.Time { return f.Start + f.Walltime }

// walk goes through the steps of all clusters of a view, from a time on. The step that applies at that time counts as
// beginning at that time.
type walk struct {
	view  View
	next  []int       // by cluster: the point of its next step, or -1 for the time before the first point
	begin []core.Time // by cluster: when that step begins, or Forever if there is none
}

// take starts a walk, in reused memory.
func (w *walk) take(view View, from core.Time) {
	w.view, w.next, w.begin = view, w.next[:0], w.begin[:0]
	for _, c := range view {
		w.next, w.begin = append(w.next, c.index(from)), append(w.begin, from)
	}
}

// first returns the cluster whose next step begins first, and the time at which that step begins. If there are
// several such clusters, it returns the one with the lowest index. The time is Forever if there is no step.
func (w *walk) first() (cluster int, at core.Time) {
	at = core.Forever
	for c, t := range w.begin {
		if t < at {
			cluster, at = c, t
		}
	}
	return cluster, at
}

// free returns the number of hosts that are free in a cluster's next step.
func (w *walk) free(c int) int {
	cluster := &w.view[c]
	if i := w.next[c]; i >= 0 {
		return max(0, cluster.Hosts-cluster.Points[i].Used)
	}
	return max(0, cluster.Hosts)
}

// pass advances a cluster by one step.
func (w *walk) pass(c int) {
	w.next[c]++
	w.begin[c] = core.Forever
	if points := w.view[c].Points; w.next[c] < len(points) {
		w.begin[c] = points[w.next[c]].At
	}
}
