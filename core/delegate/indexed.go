package delegate

import (
	"accordion/core"
	"accordion/core/profile"
)

// Indexed is a Board on core/profile: the one to use.
type Indexed struct {
	sights
	hosts    []int
	clusters []*profile.Profile
	points   []profile.Point
}

var _ Board = (*Indexed)(nil)

// Begin implements Board.
func (b *Indexed) Begin(_ core.Time, hosts []int) {
	b.hosts = append(b.hosts[:0], hosts...)
	for len(b.clusters) < len(hosts) {
		b.clusters = append(b.clusters, profile.New(0))
	}
	for c, n := range hosts {
		b.clusters[c].Clear(n)
	}
}

// Occupy implements Board.
func (b *Indexed) Occupy(cluster int, from, to core.Time, hosts int) {
	b.clusters[cluster].Change(from, to, hosts)
}

// Put implements Board.
func (b *Indexed) Put(cluster int, points []profile.Point) {
	p := b.clusters[cluster]
	p.Clear(b.hosts[cluster])
	for i, point := range points {
		end := core.Forever
		if i+1 < len(points) {
			end = points[i+1].At
		}
		p.Change(point.At, end, point.Used)
	}
}

// FirstFit implements Board.
func (b *Indexed) FirstFit(cluster, hosts int, d, from, until core.Time) (core.Time, bool) {
	return b.clusters[cluster].Earlier(hosts, d, from, until)
}

// Look implements Board.
func (b *Indexed) Look(viewer int, now core.Time, into []Change) []Change {
	seen := b.of(viewer, len(b.hosts))
	for c, hosts := range b.hosts {
		if s := &seen[c]; s.seen && s.hosts == hosts && b.clusters[c].Same(now, s.from(now)) {
			continue
		}
		b.points = b.clusters[c].Points(now, b.points[:0])
		if change, ok := seen[c].update(c, hosts, now, b.points); ok {
			into = append(into, change)
		}
	}
	return into
}

// Steps implements Board: it counts none.
func (b *Indexed) Steps() int64 { return 0 }
