package profile

import "accordion/core"

// Change adds n to the nodes used in [from, to): what Add does for a profile of one step, and with a negative n what Remove
// does. An end of Forever is none.
func (p *Profile) Change(from, to core.Time, n int) { p.shift(from, to, n) }

// Earlier is the earliest instant in [from, until) from which n nodes are free for d seconds, or up to before, where that
// comes first; until is not behind before. So it is where n nodes that are occupied for d seconds from before on could begin
// instead, without being taken out first: what they occupy is free to them. ok is false when there is none.
func (p *Profile) Earlier(n int, d, from, until, before core.Time) (start core.Time, ok bool) {
	switch {
	case from >= until:
		return until, false
	case n <= 0:
		return from, true
	case p.tree == nil:
		return p.list.earlier(p.nodes-n, d, from, until, before)
	}
	start, ok = p.tree.fit(p.nodes-n, d, from)
	if since := max(from, p.FreeSince(n, before)); since < before && (!ok || since < start) {
		start, ok = since, true
	}
	return start, ok && start < until
}

func (l *list) earlier(most int, d, from, until, before core.Time) (core.Time, bool) {
	start, at := from, l.at
	used := l.used[:len(at)]
	for i := l.index(from); start < until; i++ {
		end := endOfTime
		if i+1 < len(at) {
			end = at[i+1]
		}
		switch {
		case used[i] > most:
			start = end
		case end >= before || end-start >= d:
			return start, true
		}
	}
	return until, false
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
		for i := l.index(from); i < len(l.at) && l.at[i] < to; i++ {
			least = min(least, l.used[i])
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
			p.list.forget(before)
			p.index()
		}
		return
	}
	if n := len(p.list.at); n > little && p.list.at[n/2] <= before {
		p.list.forget(before)
	}
}

func (l *list) forget(before core.Time) {
	if i := l.index(before); i > 0 {
		l.at = l.at[:copy(l.at, l.at[i:])]
		l.used = l.used[:copy(l.used, l.used[i:])]
		l.at[0] = -core.Forever
	}
}
