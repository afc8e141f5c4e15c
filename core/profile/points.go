package profile

import (
	"accordion/core"
	"accordion/core/profile/list"
)

// Point is a time from which on Used nodes are used, until the next point.
type Point struct {
	At   core.Time
	Used int // nodes
}

// Points appends the occupation from a time on: a point for that time and one for each later change. Neighbors
// differ, and the last point has no end. So two occupations are the same from then on exactly if their points are.
func (p *Profile) Points(from core.Time, into []Point) []Point {
	if p.tree == nil {
		l := &p.list
		i := l.Index(from)
		into = append(into, Point{max(from, l.At[i]), l.Used[i]})
		for i++; i < len(l.At); i++ {
			into = append(into, Point{l.At[i], l.Used[i]})
		}
		return into
	}
	for s := range p.stretches(from) {
		into = append(into, Point{max(from, s.begin), s.used})
	}
	return into
}

// Same reports whether the occupation from second `from` on equals points. `points` is a result of Points for that or an earlier
// second, and its first point applies at `from`.
func (p *Profile) Same(from core.Time, points []Point) bool {
	if p.tree == nil {
		return sameAs(&p.list, from, points)
	}
	i := 0
	for s := range p.stretches(from) {
		if i == len(points) || s.used != points[i].Used || i > 0 && s.begin != points[i].At {
			return false
		}
		i++
	}
	return i == len(points)
}

func sameAs(l *list.List, from core.Time, points []Point) bool {
	i := l.Index(from)
	at, used := l.At[i:], l.Used[i:]
	if len(at) != len(points) || used[0] != points[0].Used {
		return false
	}
	used = used[:len(at)]
	for k := 1; k < len(at); k++ {
		if at[k] != points[k].At || used[k] != points[k].Used {
			return false
		}
	}
	return true
}

// Clear makes p an idle machine, in its own memory.
func (p *Profile) Clear(nodes int) {
	p.dropTree()
	p.nodes = max(nodes, 0)
	p.list.At, p.list.Used = append(p.list.At[:0], -core.Forever), append(p.list.Used[:0], 0)
}

// Stair is a step of a descending staircase: from From until the next stair begins, at least Free nodes are free.
type Stair struct {
	From core.Time
	Free int
}

// Stairs appends, as a staircase in t, the smallest number of nodes that are free at any time in [from, t]. So n nodes are free
// for d seconds from `from` on if all stairs that begin in these seconds have n or more nodes. The staircase ends where at most
// `fewest` nodes are free.
func (p *Profile) Stairs(from core.Time, fewest int, into []Stair) []Stair {
	if p.tree == nil {
		return stairsOf(&p.list, from, p.nodes, fewest, into)
	}
	for ok := true; ok; {
		free := p.Free(from)
		into = append(into, Stair{from, free})
		if free <= fewest {
			break
		}
		from, ok = p.FirstBelow(free, from)
	}
	return into
}

func stairsOf(l *list.List, from core.Time, nodes, fewest int, into []Stair) []Stair {
	i := l.Index(from)
	used := l.Used[i]
	into = append(into, Stair{from, max(0, nodes-used)})
	most := min(nodes-fewest, nodes)
	for i++; i < len(l.At) && used < most; i++ {
		if l.Used[i] > used {
			used = l.Used[i]
			into = append(into, Stair{l.At[i], max(0, nodes-used)})
		}
	}
	return into
}
