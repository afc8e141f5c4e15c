package delegated

import (
	"accordion/core"
	"accordion/core/profile"
)

// Indexed is a Board based on core/profile.
type Indexed struct {
	seenViews
	hosts    []int
	clusters []*profile.Profile
	points   []profile.Point
	steps    int64
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
	p := b.clusters[cluster]
	before := p.Visited()
	p.Change(from, to, hosts)
	b.steps += p.Visited() - before
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
	start, ok, steps := b.clusters[cluster].Search(hosts, d, from, until)
	b.steps += int64(steps)
	return start, ok
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

// Steps implements Board. It counts the stretches of time that additions change and searches pass, and the visited parts of the
// index.
func (b *Indexed) Steps() int64 { return b.steps }
