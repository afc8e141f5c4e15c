package profile

import "accordion/core"

// Change adds n to the nodes used in [from, to). It does what Add does for a profile of one step, or for negative n
// what Remove does. An end of Forever means no end.
func (p *Profile) Change(from, to core.Time, n int) { p.shift(from, to, n) }

// Visited returns how many steps all additions and removals took so far: the stretches of time and the parts of the index that
// they touched. The search for the first stretch does not count, nor does the moving of later stretches in memory.
func (p *Profile) Visited() int64 {
	n := p.list.Visited
	if p.tree != nil {
		n += p.tree.visited
	}
	if p.spare != nil {
		n += p.spare.visited
	}
	return n
}

// Earlier does what FirstFit does within [from, until). ok is false if no place for n nodes and d seconds starts
// there.
func (p *Profile) Earlier(n int, d, from, until core.Time) (start core.Time, ok bool) {
	start, ok, _ = p.Search(n, d, from, until)
	return start, ok
}

// Search does what Earlier does, and returns how many stretches of time and parts of the index it examined. Finding the first
// stretch does not count.
func (p *Profile) Search(n int, d, from, until core.Time) (start core.Time, ok bool, steps int) {
	switch {
	case from >= until:
		return until, false, 0
	case n <= 0:
		return from, true, 0
	case p.tree == nil:
		return p.list.Earlier(p.nodes-n, d, from, until)
	}
	start, ok, steps = p.tree.find(p.nodes-n, d, from)
	return start, ok && start < until, steps
}

// Slide moves a rectangle of n nodes and d seconds from `start` to an earlier time. It moves the rectangle as
// long as n nodes are free directly before it, but not before `earliest`. Slide returns the rectangle's new
// start, which is `start` if the rectangle cannot move.
func (p *Profile) Slide(n int, d, start, earliest core.Time) (at core.Time) {
	if n <= 0 || d <= 0 || start <= earliest {
		return start
	}
	if p.tree == nil {
		at = p.list.Slide(n, p.nodes-n, d, start, earliest)
		p.index()
		return at
	}
	if at = max(earliest, p.FreeSince(n, start)); at < start {
		p.Change(at, min(at+d, start), n)
		p.Change(max(at+d, start), start+d, -n)
	}
	return at
}

// MostFree returns the largest number of nodes free at any time in [from, to), or 0 if that is empty.
func (p *Profile) MostFree(from, to core.Time) int {
	if from >= to {
		return 0
	}
	least := p.nodes
	if p.tree != nil {
		p.tree.each(from, func(begin core.Time, used int) bool {
			if begin < to {
				least = min(least, used)
			}
			return begin < to
		})
	} else {
		l := &p.list
		for i := l.Index(from); i < len(l.At) && l.At[i] < to; i++ {
			least = min(least, l.Used[i])
		}
	}
	return max(0, p.nodes-least)
}

// Forget discards the occupation before a time, and so saves memory. Afterwards the profile must be neither
// read nor changed before that time. It is cheap when there is little to forget.
func (p *Profile) Forget(before core.Time) {
	const little = 32
	if p.tree != nil {
		if r := p.tree.root; r.n > 1 && r.at[(r.n+1)/2] <= before {
			p.flatten()
			p.list.Forget(before)
			p.index()
		}
		return
	}
	if n := len(p.list.At); n > little && p.list.At[n/2] <= before {
		p.list.Forget(before)
	}
}
