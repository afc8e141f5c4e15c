package profile

import (
	"slices"

	"accordion/core"
)

// list is an occupation as a sorted list of change points: what a small profile is. A search is a binary search and a
// sweep, an addition moves what lies behind it; up to some hundreds of points nothing is faster.
//
// Invariant: at and used have the same length, at least 1; at increases strictly from -Forever; neighbours in used
// differ. From at[i] to at[i+1] (after the last: for ever) used[i] nodes are used.
type list struct {
	at     []core.Time
	used   []int
	last   int   // where the last rectangle began
	memory *list // of change

	visited int64 // change points that changes touched
}

// change adds the nodes of some steps: the stretches that they touch are written anew, all at once.
func (l *list) change(c change) {
	if len(c.steps) == 1 {
		l.rectangle(c.from, c.to, c.nodes())
		return
	}
	i := l.index(c.from)
	first := i
	if l.at[i] == c.from {
		first = max(0, i-1) // it may go on
	}
	anew := l.anew()
	if l.at[first] < c.from {
		anew.append(l.at[first], l.used[first])
	}
	at := c.from
	for more := true; more; more = c.next() {
		for at < c.end {
			anew.append(at, l.used[i]+c.nodes())
			end := l.endOf(i)
			if at = min(end, c.end); at == end {
				i++
			}
		}
	}
	if i < len(l.at) {
		anew.append(at, l.used[i])
		i++
	}
	l.visited += int64(i - first)
	l.at, l.used = slices.Replace(l.at, first, i, anew.at...), slices.Replace(l.used, first, i, anew.used...)
}

// anew is an empty list, in memory that serves one change after the other.
func (l *list) anew() *list {
	if l.memory == nil {
		l.memory = &list{}
	}
	l.memory.at, l.memory.used = l.memory.at[:0], l.memory.used[:0]
	return l.memory
}

// index is the last change point at or before t; the first one when there is none. Which half of the rest it lies in is
// not known beforehand, so that a branch would be guessed wrongly every other time: the sign of a difference decides instead.
func (l *list) index(t core.Time) int {
	low, behind := 0, max(-core.Forever, min(t, lastTime))+1 // no difference overflows
	for n := len(l.at); n > 1; {
		half := n >> 1
		low += half & int((l.at[low+half]-behind)>>63) // when it is at or before t
		n -= half
	}
	return low
}

// near is index for an instant near to where the last rectangle began.
func (l *list) near(t core.Time) int {
	i := min(l.last, len(l.at)-1)
	for i > 0 && l.at[i] > t {
		i--
	}
	for i+1 < len(l.at) && l.at[i+1] <= t {
		i++
	}
	return i
}

// endOf is where change point i gives way to the next.
func (l *list) endOf(i int) core.Time {
	if i+1 < len(l.at) {
		return l.at[i+1]
	}
	return endOfTime
}

// append puts a stretch behind all others; it is joined to the last where nothing changes.
func (l *list) append(begin core.Time, used int) {
	if last := len(l.at) - 1; last < 0 || l.used[last] != used {
		l.at, l.used = append(l.at, begin), append(l.used, used)
	}
}

// fit is the first instant, not before from, from which at most so many nodes are used for d seconds. Whether there is
// room at a point comes as a surprise to the processor each time, so that nothing branches on it.
func (l *list) fit(most int, d, from core.Time) (core.Time, bool) {
	i, start := l.index(from), from
	ends, used := l.at[i+1:], l.used[i:]
	used = used[:len(ends)+1] // one bounds check for the sweep
	d = max(d, 1)
	for k, end := range ends {
		if used[k] > most {
			start = end
		}
		if end-start >= d {
			return start, true
		}
	}
	if used[len(ends)] > most {
		return core.Forever, false
	}
	return start, true
}

// firstAbove is the first instant in [from, to), which is not empty, at which more nodes are used.
func (l *list) firstAbove(most int, from, to core.Time) (core.Time, bool) {
	for i := l.index(from); i < len(l.at) && l.at[i] < to; i++ {
		if l.used[i] > most {
			return max(from, l.at[i]), true
		}
	}
	return core.Forever, false
}

// lastAbove is the end of the last stretch within [from, to) in which more nodes are used. It may lie behind to.
func (l *list) lastAbove(most int, from, to core.Time) (end core.Time, ok bool) {
	for i := l.index(to - 1); i >= 0 && l.endOf(i) > from; i-- {
		if l.used[i] > most {
			return l.endOf(i), true
		}
	}
	return 0, false
}

// max is the largest number of nodes used in [from, to), which is not empty.
func (l *list) max(from, to core.Time) int {
	i, last := l.index(from), l.index(to-1)
	peak := l.used[i]
	for i++; i <= last; i++ {
		peak = max(peak, l.used[i])
	}
	return peak
}
