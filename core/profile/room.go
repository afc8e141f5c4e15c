package profile

import (
	"accordion/core"
	"accordion/core/profile/list"
)

// Room is a time in which Free nodes are free throughout. For every number of nodes from Above + 1 to Free, it is the longest
// such time.
type Room struct {
	Above, Free int // nodes
	From, To    core.Time
}

// Rooms appends the rooms around [from, to) that a release of n nodes in this time has made. [from, to) is not empty. The first
// room has the most nodes that are free at any time in [from, to). The last room has at least `fewest` nodes, which is at least
// 1. A room is computed as if its number of nodes were free in all of [from, to). So a time in which n nodes are free only since
// the release is in the last room that has n nodes or more.
func (p *Profile) Rooms(from, to core.Time, n, fewest int, into []Room) []Room {
	if p.tree == nil {
		return roomsOf(&p.list, from, to, n, p.nodes, p.nodes-fewest, into)
	}
	fewest = max(fewest, p.nodes-p.Max(from, to)-n+1)
	r := Room{Free: p.MostFree(from, to), From: from, To: to}
	for r.Free >= fewest {
		if end, ok := p.tree.lastAbove(p.nodes-r.Free, -core.Forever, r.From); ok {
			r.From = min(r.From, end)
		} else {
			r.From = -core.Forever
		}
		r.To, _ = p.tree.firstAbove(p.nodes-r.Free, r.To, list.EndOfTime)
		next := fewest - 1
		if r.From > -core.Forever {
			next = max(next, p.Free(r.From-1))
		}
		if r.To < core.Forever {
			next = max(next, p.Free(r.To))
		}
		r.Above = next
		into = append(into, r)
		r.Free = next
	}
	return into
}

// roomsOf does what Rooms does on a list. Rooms have at most `most` used nodes.
func roomsOf(l *list.List, from, to core.Time, n, nodes, most int, into []Room) []Room {
	at := l.At
	used := l.Used[:len(at)]
	left := l.Near(from)
	right, least, highest := left, used[left], used[left] // right becomes the stretch that contains `to`; least and highest are the smallest and the largest number of used nodes in the stretches before it
	for right+1 < len(at) && at[right+1] < to {
		right++
		least, highest = min(least, used[right]), max(highest, used[right])
	}
	if right+1 < len(at) && at[right+1] == to {
		right++
	}
	most = min(most, highest+n-1)
	if at[left] == from {
		left--
	}
	for least <= most {
		for left >= 0 && used[left] <= least {
			from = at[left]
			left--
		}
		for right < len(at) && used[right] <= least {
			right++
			to = core.Forever
			if right < len(at) {
				to = at[right]
			}
		}
		next := most + 1
		if left >= 0 {
			next = min(next, used[left])
		}
		if right < len(at) {
			next = min(next, used[right])
		}
		into = append(into, Room{nodes - next, nodes - least, from, to})
		least = next
	}
	return into
}
