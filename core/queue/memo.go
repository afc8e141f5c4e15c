package queue

import (
	"accordion/core"
	"accordion/core/profile"
)

// memo is what a sweep has learned of the view. Many users submit the same rectangle many times, and not each of them has to
// be searched for from the beginning.
type memo struct {
	now     core.Time
	sweep   uint32
	known   [1 << memoBits]known
	changes []change // given back in this sweep
}

const memoBits = 8

// known is what is known of the rectangles of so many nodes and so long: none begins before least, where all that is in the
// view stays. What was given back later than change number seen is not considered yet.
type known struct {
	nodes  int
	length core.Time
	least  core.Time
	edge   bool // right before least the nodes are not free, or it is now
	seen   int
	sweep  uint32
}

// change is a stretch in which nodes were given back, and how many were free there at most, then.
type change struct {
	from, to core.Time
	free     int
}

// begin forgets all.
func (m *memo) begin(now core.Time) {
	m.now, m.changes = now, m.changes[:0]
	m.sweep++
}

// freed notes that nodes were given back.
func (m *memo) freed(view *profile.Profile, from, to core.Time) {
	m.changes = append(m.changes, change{from, to, view.MostFree(from, to)})
}

// recall is what is known of a rectangle, now.
func (m *memo) recall(nodes int, length core.Time) *known {
	hash := uint64(nodes)*0x9e3779b97f4a7c15 + uint64(length)*0xbf58476d1ce4e5b9
	k := &m.known[hash>>(64-memoBits)]
	if k.sweep != m.sweep || k.nodes != nodes || k.length != length {
		*k = known{nodes: nodes, length: length, least: m.now, edge: true, seen: len(m.changes), sweep: m.sweep}
		return k
	}
	for ; k.seen < len(m.changes); k.seen++ {
		// A place that was none before has some of what was given back.
		c := &m.changes[k.seen]
		if least := c.from - length + 1; least < k.least && c.free >= nodes {
			k.least, k.edge = least, false
		}
	}
	if k.least <= m.now {
		k.least, k.edge = m.now, true
	}
	return k
}

// earlier is the earliest second to which a waiting rectangle can move.
func (m *memo) earlier(view *profile.Profile, r *reserved) (core.Time, bool) {
	k := m.recall(r.nodes, r.length)
	least := k.least
	switch {
	case r.start == least && k.edge:
		return 0, false
	case r.start <= least: // it can only be pushed back to where its nodes are not free
		at := max(m.now, view.FreeSince(r.nodes, r.start))
		return at, at < r.start
	}
	at, ok := view.Earlier(r.nodes, r.length, least, r.start)
	if !ok {
		k.least, k.edge = r.start, true
		return 0, false
	}
	if at > least {
		k.least, k.edge = at, true
		return at, true
	}
	if !k.edge { // its nodes may be free before
		at = max(m.now, view.FreeSince(r.nodes, least))
		k.edge = at == least
	}
	return at, true
}
