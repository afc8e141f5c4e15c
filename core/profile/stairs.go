package profile

import "accordion/core"

// Stair is a step of a descending staircase: from an instant on so many nodes are free, or more, until fewer are.
type Stair struct {
	From core.Time
	Free int
}

// Stairs appends the fewest nodes free from an instant until t, as a staircase in t: so many nodes are free from then on for d
// seconds if no stair that begins before its end has fewer. It ends where no more than fewest are free.
func (p *Profile) Stairs(from core.Time, fewest int, into []Stair) []Stair {
	if p.tree == nil {
		return p.list.stairs(from, p.nodes, fewest, into)
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

func (l *list) stairs(from core.Time, nodes, fewest int, into []Stair) []Stair {
	i := l.index(from)
	used := l.used[i]
	into = append(into, Stair{from, max(0, nodes-used)})
	most := min(nodes-fewest, nodes)
	for i++; i < len(l.at) && used < most; i++ {
		if l.used[i] > used {
			used = l.used[i]
			into = append(into, Stair{l.at[i], max(0, nodes-used)})
		}
	}
	return into
}
