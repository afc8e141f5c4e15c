package profile

import "accordion/core"

// Change adds n to the nodes used in [from, to): what Add does for a profile of one step, and with a negative n what Remove
// does. An end of Forever is none.
func (p *Profile) Change(from, to core.Time, n int) { p.shift(from, to, n) }

// Visited is how many steps all additions and removals took so far: stretches of time that they touched, and parts of the
// index. To find the first of them is none, and to move what lies behind them is none.
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

// Earlier is FirstFit within [from, until): ok is false when no place for n nodes and d seconds begins there.
func (p *Profile) Earlier(n int, d, from, until core.Time) (start core.Time, ok bool) {
	start, ok, _ = p.Search(n, d, from, until)
	return start, ok
}

// Search is Earlier, and how many steps it took: stretches of time, and parts of the index, that were looked at. To find the
// first of them is none.
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

// Slide moves n nodes that are occupied for d seconds from start on forward, as far as n nodes are free right before them, and not
// before earliest. So it need not take them out first. It says where they begin then, which is start where it cannot.
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

// MostFree is the largest number of nodes free at an instant of [from, to); 0 when that is empty.
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

// Forget says that nobody will ask about the time before an instant, nor change it. What is said of it from then on is of no
// meaning, and it takes no memory. It costs next to nothing when there is little to forget.
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
