package profile

import (
	"slices"

	"accordion/core"
)

// rectangle adds n, which is not 0, to the nodes used in [from, to); to is endOfTime when there is no end. It is change for a
// single step, in one go along the list: each of the two ends puts a change point in, takes one out or leaves it, and what lies
// between them and behind them moves accordingly.
func (l *list) rectangle(from, to core.Time, n int) { l.rectangleIn(l.index(from), from, to, n) }

// rectangleIn is rectangle that knows the stretch in which it begins.
func (l *list) rectangleIn(i int, from, to core.Time, n int) {
	l.last = i
	inside := i + 1 // the first change point behind from
	end := inside   // the first one at to or behind
	for end < len(l.at) && l.at[end] < to {
		end++
	}
	l.visited += int64(end - i)
	base := l.used[end-1] // right before to
	behind := end         // the first one behind to
	pointed := to == endOfTime
	if end < len(l.at) && l.at[end] == to {
		pointed, behind = l.used[end] == base+n, end+1
	}
	first := inside // where those inside go
	switch {
	case l.at[i] < from:
		first++
	case i > 0 && l.used[i-1] == l.used[i]+n:
		first--
	}
	last := first + end - inside
	rest := last // where those behind go
	if !pointed {
		rest++
	}
	at, used := l.at, l.used
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
	l.at, l.used = at, used
}
