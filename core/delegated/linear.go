package delegated

import (
	"slices"

	"accordion/core"
	"accordion/core/profile"
)

// Linear is a Board of plain lists of steps, which are searched from their beginning. It counts the steps that
// it visits as RR-7389, section 6.1, does. An addition visits the steps that begin before its end. A search
// visits all steps from the first one to the one that decides its result.
type Linear struct {
	seenViews
	now   core.Time
	hosts []int
	lists [][]profile.Point // by cluster, from now on; adjacent points differ, and the last point has no end
	tail  []profile.Point   // memory for a list that begins later
	steps int64
}

var _ Board = (*Linear)(nil)

// Begin implements Board.
func (l *Linear) Begin(now core.Time, hosts []int) {
	l.now, l.hosts = now, append(l.hosts[:0], hosts...)
	for len(l.lists) < len(hosts) {
		l.lists = append(l.lists, nil)
	}
	for c := range l.lists {
		l.lists[c] = append(l.lists[c][:0], profile.Point{At: now})
	}
}

// Occupy implements Board.
func (l *Linear) Occupy(cluster int, from, to core.Time, hosts int) {
	if from >= to || hosts == 0 {
		return
	}
	list := l.lists[cluster]
	for _, p := range list {
		if p.At >= to {
			break
		}
		l.steps++
	}
	list = cut(cut(list, from), to)
	for i := range list {
		if list[i].At >= from && list[i].At < to {
			list[i].Used += hosts
		}
	}
	l.lists[cluster] = slices.CompactFunc(list, func(a, b profile.Point) bool { return a.Used == b.Used })
}

// Put implements Board.
func (l *Linear) Put(cluster int, points []profile.Point) {
	l.lists[cluster] = append(l.lists[cluster][:0], points...)
}

// cut splits the step that contains t, so that a step begins at t. t is not before the first step.
func cut(list []profile.Point, t core.Time) []profile.Point {
	if t >= core.Forever {
		return list
	}
	i := 0
	for i < len(list) && list[i].At < t {
		i++
	}
	if i < len(list) && list[i].At == t {
		return list
	}
	return slices.Insert(list, i, profile.Point{At: t, Used: list[i-1].Used})
}

// FirstFit implements Board.
func (l *Linear) FirstFit(cluster, hosts int, d, from, _ core.Time) (core.Time, bool) {
	list, start := l.lists[cluster], from
	for i, p := range list {
		l.steps++
		end := core.Forever
		if i+1 < len(list) {
			end = list[i+1].At
		}
		switch {
		case end <= start:
		case p.Used+hosts > l.hosts[cluster]:
			start = end
		case end == core.Forever || end-start >= d:
			return start, true
		}
	}
	return core.Forever, false
}

// Look implements Board.
func (l *Linear) Look(viewer int, now core.Time, into []Change) []Change {
	seen := l.of(viewer, len(l.hosts))
	for c := range l.hosts {
		if change, ok := seen[c].update(c, l.hosts[c], now, l.from(c, now)); ok {
			into = append(into, change)
		}
	}
	return into
}

// from returns a cluster's steps from second `now` on.
func (l *Linear) from(cluster int, now core.Time) []profile.Point {
	list := l.lists[cluster]
	for len(list) > 1 && list[1].At <= now {
		list = list[1:]
	}
	if list[0].At >= now {
		return list
	}
	l.tail = append(l.tail[:0], list...)
	l.tail[0].At = now
	return l.tail
}

// Steps implements Board.
func (l *Linear) Steps() int64 { return l.steps }
