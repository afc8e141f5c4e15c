// Package list is the occupation of a machine as a sorted list of change points: what a small profile is (package profile, which says what is
// asked of it and why).
//
//	l := list.List{At: []core.Time{-core.Forever}, Used: []int{0}}
//	l.Change(list.Rectangle(0, 100, 4))
//	start, ok := l.Fit(6, 50, 0) // where at most six nodes are used
//
// It speaks of used nodes, and does not know how many the machine has.
package list

import (
	"slices"

	"accordion/core"
)

// List is an occupation as a sorted list of change points: what a small profile is. A search is a binary search and a
// sweep, an addition moves what lies behind it; up to some hundreds of points nothing is faster.
//
// Invariant: At and Used have the same length, at least 1; At increases strictly from -Forever; neighbors in Used
// differ. From At[i] to At[i+1] (after the last: forever) Used[i] nodes are used.
type List struct {
	At     []core.Time
	Used   []int
	last   int   // where the last rectangle began
	memory *List // of Change

	Visited int64 // change points that changes touched
}

// Instants behind all change points.
const (
	EndOfTime core.Time = 4 * core.Forever // behind every one; from -Forever to here does not overflow
	LastTime            = EndOfTime - 1    // that can be asked for
)

// Change adds the nodes of some steps: the stretches that they touch are written anew, all at once.
func (l *List) Change(c Change) {
	if len(c.steps) == 1 {
		l.rectangle(c.From, c.To, c.Nodes())
		return
	}
	i := l.Index(c.From)
	first := i
	if l.At[i] == c.From {
		first = max(0, i-1) // it may go on
	}
	anew := l.anew()
	if l.At[first] < c.From {
		anew.Append(l.At[first], l.Used[first])
	}
	at := c.From
	for more := true; more; more = c.Next() {
		for at < c.End {
			anew.Append(at, l.Used[i]+c.Nodes())
			end := l.EndOf(i)
			if at = min(end, c.End); at == end {
				i++
			}
		}
	}
	if i < len(l.At) {
		anew.Append(at, l.Used[i])
		i++
	}
	l.Visited += int64(i - first)
	l.At, l.Used = slices.Replace(l.At, first, i, anew.At...), slices.Replace(l.Used, first, i, anew.Used...)
}

// anew is an empty list, in memory that serves one change after the other.
func (l *List) anew() *List {
	if l.memory == nil {
		l.memory = &List{}
	}
	l.memory.At, l.memory.Used = l.memory.At[:0], l.memory.Used[:0]
	return l.memory
}

// Index is the last change point at or before t; the first one when there is none. Which half of the rest it lies in is
// not known beforehand, so that a branch would be guessed wrongly every other time: the sign of a difference decides instead.
func (l *List) Index(t core.Time) int {
	low, behind := 0, max(-core.Forever, min(t, LastTime))+1 // no difference overflows
	for n := len(l.At); n > 1; {
		half := n >> 1
		low += half & int((l.At[low+half]-behind)>>63) // when it is at or before t
		n -= half
	}
	return low
}

// Near is Index for an instant near to where the last rectangle began.
func (l *List) Near(t core.Time) int {
	i := min(l.last, len(l.At)-1)
	for i > 0 && l.At[i] > t {
		i--
	}
	for i+1 < len(l.At) && l.At[i+1] <= t {
		i++
	}
	return i
}

// EndOf is where change point i gives way to the next.
func (l *List) EndOf(i int) core.Time {
	if i+1 < len(l.At) {
		return l.At[i+1]
	}
	return EndOfTime
}

// Append puts a stretch behind all others; it is joined to the last where nothing changes.
func (l *List) Append(begin core.Time, used int) {
	if last := len(l.At) - 1; last < 0 || l.Used[last] != used {
		l.At, l.Used = append(l.At, begin), append(l.Used, used)
	}
}

// Fit is the first instant, not before from, from which at most so many nodes are used for d seconds. Whether there is
// room at a point comes as a surprise to the processor each time, so that nothing branches on it.
func (l *List) Fit(most int, d, from core.Time) (core.Time, bool) {
	i, start := l.Index(from), from
	ends, used := l.At[i+1:], l.Used[i:]
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

// FirstAbove is the first instant in [from, to), which is not empty, at which more nodes are used.
func (l *List) FirstAbove(most int, from, to core.Time) (core.Time, bool) {
	for i := l.Index(from); i < len(l.At) && l.At[i] < to; i++ {
		if l.Used[i] > most {
			return max(from, l.At[i]), true
		}
	}
	return core.Forever, false
}

// LastAbove is the end of the last stretch within [from, to) in which more nodes are used. It may lie behind to.
func (l *List) LastAbove(most int, from, to core.Time) (end core.Time, ok bool) {
	for i := l.Index(to - 1); i >= 0 && l.EndOf(i) > from; i-- {
		if l.Used[i] > most {
			return l.EndOf(i), true
		}
	}
	return 0, false
}

// Max is the largest number of nodes used in [from, to), which is not empty.
func (l *List) Max(from, to core.Time) int {
	i, last := l.Index(from), l.Index(to-1)
	peak := l.Used[i]
	for i++; i <= last; i++ {
		peak = max(peak, l.Used[i])
	}
	return peak
}

// Run goes on with a run that began at start, along stretches from number i on that end before to, as long as it is shorter than d and begins
// before until. It says where the run begins that is under way in front of the first stretch that is left, and which one that
// is. Whether nodes are free in one comes as a surprise to the processor each time, so that nothing branches on it.
func (l *List) Run(i, most int, start, d, until, to core.Time) (core.Time, int) {
	ends, used := l.At[i+1:], l.Used[i:]
	used = used[:len(ends)+1] // one bounds check
	for k, end := range ends {
		if end >= to {
			return start, i + k
		}
		run := start
		if used[k] > most {
			run = end
		}
		if end-run >= d || run >= until {
			return start, i + k
		}
		start = run
	}
	return start, i + len(ends)
}

// Earlier is Fit within [from, until), which is not empty, and how many stretches were looked at.
func (l *List) Earlier(most int, d, from, until core.Time) (start core.Time, ok bool, steps int) {
	i := l.Index(from)
	start, k := l.Run(i, most, from, d, until, EndOfTime)
	end := l.EndOf(k)
	if l.Used[k] > most {
		start = end
	}
	return start, start < until && end-start >= d, k - i + 1
}

// Forget makes the list begin at an instant, from which on it stays.
func (l *List) Forget(before core.Time) {
	if i := l.Index(before); i > 0 {
		l.At = l.At[:copy(l.At, l.At[i:])]
		l.Used = l.Used[:copy(l.Used, l.Used[i:])]
		l.At[0] = -core.Forever
	}
}
