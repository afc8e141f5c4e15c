package moldable

import "accordion/core"

// Moldable finds requests for an application that runs on one cluster, with any number of hosts between two bounds:
// Algorithm 1 of RR-7389, appendix A.2, with what is missing there: the upper bound, and that an application may begin now.
// A rigid application is one whose bounds are the same.
//
// A Moldable keeps memory between its calls; one goroutine at a time may use it.
type Moldable struct {
	Least, Most int // hosts, at least 1

	// Walltime is how long the application may last on so many hosts of a cluster: at least 1 second, and no longer on more
	// hosts of the same cluster.
	Walltime func(cluster, hosts int) core.Time

	walk  walk
	parts [1]Part // of what was found
}

// Find is the request that completes first of those that fit into a view from now on: of several the one that starts first,
// then that on the lowest cluster, then that with the most hosts. It finds none only where no cluster is ever large enough.
//
// The request is good until the next call. It is enough to look at starts where a step begins, and there, a cluster, at the most hosts that stay free for as long as
// they need. The view is read only.
func (m *Moldable) Find(view View, now core.Time) Found {
	best := Found{Start: core.Forever}
	steps := 0
	m.walk.take(view, now)
	for {
		c, t := m.walk.first()
		if t == core.Forever || best.OK && best.End() < t {
			break
		}
		steps++
		n, d, looked := m.most(view, c, t)
		steps += looked
		if n >= m.Least && (!best.OK || t+d < best.End()) {
			m.parts[0] = Part{c, n}
			best = Found{Request: Request{Parts: m.parts[:], Walltime: d}, Start: t, OK: true}
		}
		m.walk.pass(c)
	}
	best.Steps = steps
	return best
}

// most is the most hosts of a cluster that stay free from a second on for the time that so many need, fewer than the least
// where there are not enough, and that time.
func (m *Moldable) most(view View, c int, t core.Time) (n int, d core.Time, steps int) {
	for n = min(m.walk.free(c), m.Most); n >= m.Least; {
		d = m.Walltime(c, n)
		free, looked := view[c].least(m.walk.next[c], t, t+d)
		steps += looked
		if free >= n {
			break
		}
		n = free
	}
	return n, d, steps
}
