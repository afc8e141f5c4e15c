package moldable

import "accordion/core"

// Moldable finds requests for an application that runs on one cluster, with any number of hosts between two
// bounds: Algorithm 1 of RR-7389, appendix A.2. There are two additions: hosts have an upper bound, and an
// application may start now. For a rigid application the bounds are equal.
//
// A Moldable keeps memory between calls. Only one goroutine at a time may use it.
type Moldable struct {
	Least, Most int // hosts, at least 1

	// Walltime returns how long the application may last on a number of hosts of a cluster: at least 1 second, and no
	// longer on more hosts of the same cluster.
	Walltime func(cluster, hosts int) core.Time

	walk  walk
	parts [1]Part // memory of the parts of the last request
}

// Find returns the earliest to complete of all requests that fit into a view from now on. If several complete
// at the same time, it returns the one that starts first, then the one on the cluster with the lowest index,
// then the one with the most hosts. It finds no request only if no cluster is ever large enough.
//
// The request is valid until the next call. The view is read only. Find only tries starts at which a step begins. For each
// cluster it only tries the largest number of hosts that stay free for the walltime on that number.
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

// most returns the largest number of a cluster's hosts that stay free from t on for the walltime on that number, and this
// walltime. It returns fewer than Least if there are not enough hosts.
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
