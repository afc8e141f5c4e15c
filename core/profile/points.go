package profile

import "accordion/core"

// Point is an instant from which on so many nodes are used, until the next point.
type Point struct {
	At   core.Time
	Used int // nodes
}

// Points appends the occupation from an instant on: a point for that instant and one for each change behind it. Neighbours
// differ, and the last has no end, so that two occupations are the same from then on when their points are.
func (p *Profile) Points(from core.Time, into []Point) []Point {
	if p.tree == nil {
		l := &p.list
		i := l.index(from)
		into = append(into, Point{max(from, l.at[i]), l.used[i]})
		for i++; i < len(l.at); i++ {
			into = append(into, Point{l.at[i], l.used[i]})
		}
		return into
	}
	for s := range p.stretches(from) {
		into = append(into, Point{max(from, s.begin), s.used})
	}
	return into
}

// Clear makes p an idle machine of so many nodes, in its own memory.
func (p *Profile) Clear(nodes int) {
	p.fell()
	p.nodes = max(nodes, 0)
	p.list.at, p.list.used, p.list.last = append(p.list.at[:0], -core.Forever), append(p.list.used[:0], 0), 0
}
