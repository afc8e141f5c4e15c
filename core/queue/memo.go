package queue

import (
	"math/bits"

	"accordion/core"
	"accordion/core/profile"
)

// memo makes most searches of a sweep needless; the answers are the same.
//
// When a waiting rectangle was placed, and when it was looked at in the last sweep, there was no earlier place for it. So an
// earlier place that it has now overlaps a stretch in which nodes were given back since, and in which enough for it were free
// right after that; and if it is the present place moved forward by less than its length, for which the nodes right before
// that have to be free, then these were given back. All such stretches together are the hull, for rectangles of so many nodes
// and so long; and what one search has found out about the hull serves all of them, for many users submit the same many times.
type memo struct {
	now     core.Time
	sweep   uint32
	known   [1 << memoBits]known
	changes []change // since this sweep began, in order
	fresh   widths   // since the last sweep began
	earlier widths   // from the last sweep's begin to this one's; by at least so many bits
	widest  int      // of the bits
}

const memoBits = 8

// known is what is known of the rectangles of so many nodes and so long.
type known struct {
	nodes  int
	length core.Time
	sweep  uint32
	edge   bool // right before least the nodes are not free, or it is now
	seen   int  // changes that are in the hull
	hull   hull
	least  core.Time // no place that lies in the hull, even in part, begins before
}

// change is a stretch in which nodes were given back, and how many were free there at most, right after.
type change struct {
	hull
	free int
}

// hull is a stretch of time.
type hull struct{ from, to core.Time }

// nowhere is the hull of nothing.
var nowhere = hull{core.Forever, -core.Forever}

func (h hull) and(other hull) hull { return hull{min(h.from, other.from), max(h.to, other.to)} }

// widths are the hulls of changes, by the number of bits of the nodes free there.
type widths [bits.UintSize + 1]hull

// clear forgets all.
func (w *widths) clear() {
	for i := range w {
		w[i] = nowhere
	}
}

// begin is the begin of a sweep.
func (m *memo) begin(now core.Time) {
	m.now, m.changes = now, m.changes[:0]
	m.sweep++
	m.earlier = m.fresh
	for i := len(m.earlier) - 1; i > 0; i-- {
		m.earlier[i-1] = m.earlier[i-1].and(m.earlier[i])
	}
	m.fresh.clear()
}

// freed notes that nodes were given back.
func (m *memo) freed(view *profile.Profile, from, to core.Time) {
	c := change{hull{from, to}, view.MostFree(from, to)}
	width := bits.Len(uint(c.free))
	m.fresh[width] = m.fresh[width].and(c.hull)
	m.widest = max(m.widest, width)
	m.changes = append(m.changes, c)
}

// recall is what is known of a rectangle, now.
func (m *memo) recall(nodes int, length core.Time) *known {
	hash := uint64(nodes)*0x9e3779b97f4a7c15 + uint64(length)*0xbf58476d1ce4e5b9
	k := &m.known[hash>>(64-memoBits)]
	if k.sweep != m.sweep || k.nodes != nodes || k.length != length {
		width := bits.Len(uint(nodes))
		h := m.earlier[width]
		for ; width <= m.widest; width++ {
			h = h.and(m.fresh[width])
		}
		*k = known{nodes: nodes, length: length, sweep: m.sweep, hull: h, least: h.from - length + 1, seen: len(m.changes)}
	}
	for ; k.seen < len(m.changes); k.seen++ {
		if c := &m.changes[k.seen]; c.free >= nodes {
			k.hull = k.hull.and(c.hull)
			if least := c.from - length + 1; least < k.least {
				k.least, k.edge = least, false
			}
		}
	}
	if k.least <= m.now {
		k.least, k.edge = m.now, true
	}
	return k
}

// find is the earliest second to which a waiting rectangle can move.
func (m *memo) find(view *profile.Profile, r *reserved) (core.Time, bool) {
	k := m.recall(r.nodes, r.length)
	until := min(r.start, k.hull.to)
	if k.least >= until {
		if r.start <= k.hull.from || r.start > k.hull.to || r.start == k.least && k.edge {
			return 0, false
		}
		at := max(m.now, view.FreeSince(r.nodes, r.start))
		return at, at < r.start
	}
	at, ok := view.Earlier(r.nodes, r.length, k.least, until, r.start)
	switch {
	case !ok:
		k.least, k.edge = until, until == r.start
		return 0, false
	case at > k.least:
		k.least, k.edge = at, true
	case !k.edge: // its nodes may be free before
		at = max(m.now, view.FreeSince(r.nodes, k.least))
		k.edge = at == k.least
	}
	return at, true
}
