// Package list implements the occupation of a machine as a sorted list of change points. Package profile uses it for
// small profiles, and documents the queries.
//
//	l := list.List{At: []core.Time{-core.Forever}, Used: []int{0}}
//	l.Change(list.Rectangle(0, 100, 4))
//	start, ok := l.Fit(6, 50, 0) // at most six nodes are used for 50 seconds
//
// It counts used nodes, and does not know how many the machine has.
package list

import (
	"slices"

	"accordion/core"
)

// List is an occupation as a sorted list of change points. A query is a binary search followed by a pass over the points. An
// addition moves all later points. Up to some hundreds of points nothing is faster.
//
// Invariant: At and Used have the same length, at least 1; At increases strictly from -Forever; neighbors in Used
// differ. From At[i] to At[i+1] (after the last: forever) Used[i] nodes are used.
type List struct {
	At     []core.Time
	Used   []int
	last   int   // index at which the last rectangle began
	memory *List // used by Change

	Visited int64 // number of change points that changes touched
}

// Times later than all change points.
const (
	EndOfTime core.Time = 4 * core.Forever // differences from -Forever to here do not overflow
	LastTime            = EndOfTime - 1    // the latest time of a query
)

// Change adds the nodes of some steps. It rewrites the stretches that they touch in one pass.
func (l *List) Change(c Change) {
	if len(c.steps) == 1 {
		l.rectangle(c.From, c.To, c.Nodes())
		return
	}
	i := l.Index(c.From)
	first := i
	if l.At[i] == c.From {
		first = max(0, i-1) // the stretch before may extend
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

// anew returns an empty list that reuses the memory of an earlier list.
func (l *List) anew() *List {
	if l.memory == nil {
		l.memory = &List{}
	}
	l.memory.At, l.memory.Used = l.memory.At[:0], l.memory.Used[:0]
	return l.memory
}

// Index returns the last change point at or before t, or the first one if there is none. It uses the sign of a
// difference instead of a branch, because the processor would mispredict every second branch.
func (l *List) Index(t core.Time) int {
	low, behind := 0, max(-core.Forever, min(t, LastTime))+1 // no difference overflows
	for n := len(l.At); n > 1; {
		half := n >> 1
		low += half & int((l.At[low+half]-behind)>>63) // adds half if that point is at or before t
		n -= half
	}
	return low
}

// Near does what Index does, for a time near the beginning of the last rectangle.
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

// EndOf returns the end of the stretch of change point i.
func (l *List) EndOf(i int) core.Time {
	if i+1 < len(l.At) {
		return l.At[i+1]
	}
	return EndOfTime
}

// Append adds a stretch behind all others, or extends the last one if nothing changes.
func (l *List) Append(begin core.Time, used int) {
	if last := len(l.At) - 1; last < 0 || l.Used[last] != used {
		l.At, l.Used = append(l.At, begin), append(l.Used, used)
	}
}

// Fit returns the first time, at or after `from`, from which at most `most` nodes are used for d seconds. It
// does not branch on whether there is room at a point, because the processor would mispredict that.
func (l *List) Fit(most int, d, from core.Time) (core.Time, bool) {
	i, start := l.Index(from), from
	ends, used := l.At[i+1:], l.Used[i:]
	used = used[:len(ends)+1] // one bounds check for the loop
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

// FirstAbove returns the first time in [from, to), which is not empty, at which more than `most` nodes are
// used.
func (l *List) FirstAbove(most int, from, to core.Time) (core.Time, bool) {
	for i := l.Index(from); i < len(l.At) && l.At[i] < to; i++ {
		if l.Used[i] > most {
			return max(from, l.At[i]), true
		}
	}
	return core.Forever, false
}

// LastAbove returns the end of the last stretch that overlaps [from, to) and in which more than `most` nodes
// are used. The end may be later than `to`.
func (l *List) LastAbove(most int, from, to core.Time) (end core.Time, ok bool) {
	for i := l.Index(to - 1); i >= 0 && l.EndOf(i) > from; i-- {
		if l.Used[i] > most {
			return l.EndOf(i), true
		}
	}
	return 0, false
}

// Max returns the largest number of nodes used in [from, to), which is not empty.
func (l *List) Max(from, to core.Time) int {
	i, last := l.Index(from), l.Index(to-1)
	peak := l.Used[i]
	for i++; i <= last; i++ {
		peak = max(peak, l.Used[i])
	}
	return peak
}

// Run continues a run that began at `start` through the stretches from i on that end before `to`. It stops when
// the run is d seconds long or begins at `until` or later. It returns the index of the first remaining stretch,
// and the beginning of the run in front of that stretch. It does not branch on whether nodes are free in a
// stretch, because the processor would mispredict that.
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

// Earlier does what Fit does within [from, until), which is not empty, and returns how many stretches it examined.
func (l *List) Earlier(most int, d, from, until core.Time) (start core.Time, ok bool, steps int) {
	i := l.Index(from)
	start, k := l.Run(i, most, from, d, until, EndOfTime)
	end := l.EndOf(k)
	if l.Used[k] > most {
		start = end
	}
	return start, start < until && end-start >= d, k - i + 1
}

// Forget discards everything before a time. The list does not change from that time on.
func (l *List) Forget(before core.Time) {
	if i := l.Index(before); i > 0 {
		l.At = l.At[:copy(l.At, l.At[i:])]
		l.Used = l.Used[:copy(l.Used, l.Used[i:])]
		l.At[0] = -core.Forever
	}
}
