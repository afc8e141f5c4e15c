package list

import (
	"slices"

	"accordion/core"
)

// rectangle adds n, which is not 0, to the nodes used in [from, to). `to` is EndOfTime if there is no end. It
// does what Change does for a single step, in one pass. Each of the two ends inserts a change point, removes
// one or leaves it, and the points between and behind them move accordingly.
func (l *List) rectangle(from, to core.Time, n int) { l.rectangleIn(l.Index(from), from, to, n) }

// rectangleIn does what rectangle does, for a rectangle that begins in stretch i.
func (l *List) rectangleIn(i int, from, to core.Time, n int) {
	l.last = i
	inside := i + 1 // the first change point after `from`
	end := inside   // the first change point at `to` or later
	for end < len(l.At) && l.At[end] < to {
		end++
	}
	l.Visited += int64(end - i)
	base := l.Used[end-1] // the nodes used right before `to`
	behind := end         // the first change point after `to`
	pointed := to == EndOfTime
	if end < len(l.At) && l.At[end] == to {
		pointed, behind = l.Used[end] == base+n, end+1
	}
	first := inside // where the points inside move to
	switch {
	case l.At[i] < from:
		first++
	case i > 0 && l.Used[i-1] == l.Used[i]+n:
		first--
	}
	last := first + end - inside
	rest := last // where the points behind move to
	if !pointed {
		rest++
	}
	at, used := l.At, l.Used
	value := base
	if behind > end {
		value = used[end]
	}
	if by := rest - behind; by > 0 {
		at, used = slices.Grow(at, by)[:len(at)+by], slices.Grow(used, by)[:len(used)+by]
		copy(at[rest:], at[behind:])
		copy(used[rest:], used[behind:])
	}
	if first != inside {
		copy(at[first:], at[inside:end])
		copy(used[first:], used[inside:end])
	}
	for k := first; k < last; k++ {
		used[k] += n
	}
	if !pointed {
		at[last], used[last] = to, value
	}
	if rest < behind {
		size := len(at) - (behind - rest)
		copy(at[rest:], at[behind:])
		copy(used[rest:], used[behind:])
		at, used = at[:size], used[:size]
	}
	switch {
	case first > inside:
		at[inside], used[inside] = from, used[i]+n
	case first == inside:
		used[i] += n
	}
	l.At, l.Used = at, used
}

// Slide moves a rectangle of n nodes and d seconds from `start` to an earlier time. It moves the rectangle as
// long as at most `most` nodes are used right before it, but not before `earliest`. `earliest` is before
// `start`. Slide returns the new start.
func (l *List) Slide(n, most int, d, start, earliest core.Time) core.Time {
	i := l.Index(start - 1)
	if l.Used[i] > most {
		return start
	}
	for i > 0 && l.At[i] > earliest && l.Used[i-1] <= most {
		i--
	}
	at := max(l.At[i], earliest)
	l.rectangleIn(i, at, min(at+d, start), n)
	l.rectangle(max(at+d, start), start+d, -n)
	return at
}
