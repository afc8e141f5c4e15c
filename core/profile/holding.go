package profile

import (
	"slices"

	"accordion/core"
)

// Holding is a number of nodes that are held until Until.
type Holding struct {
	Until core.Time
	Nodes int // above 0
}

// Hold sets p to the occupation of a machine by the given holdings from second `from` on. It reuses p's memory.
// `all` is sorted by end. Hold gives the same result as a call of Add for each holding, in one pass. It ignores
// holdings that end at `from` or earlier.
func (p *Profile) Hold(nodes int, from core.Time, all []Holding) {
	p.nodes = max(nodes, 0)
	p.dropTree()
	l := &p.list
	l.At, l.Used = append(l.At[:0], -core.Forever), append(l.Used[:0], 0)
	first, _ := slices.BinarySearchFunc(all, from+1, func(h Holding, at core.Time) int { return int(max(-1, min(h.Until-at, 1))) })
	all = all[first:]
	used := 0
	for i := range all {
		used += all[i].Nodes
	}
	change := func(at core.Time) {
		if last := len(l.At) - 1; l.At[last] == at {
			l.Used[last] = used
		} else {
			l.Append(at, used)
		}
	}
	change(max(from, -core.Forever))
	for i := range all {
		if all[i].Until >= core.Forever {
			break // without end
		}
		used -= all[i].Nodes
		change(all[i].Until)
	}
	p.index()
}
