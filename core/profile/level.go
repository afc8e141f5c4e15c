package profile

import "math/bits"

// The index stores for how long at least c nodes stay free, for some sizes c that form a ladder. The ladder has
// all integers up to 1<<(octave+1). Above them it has 1<<octave evenly spaced sizes between each power of two
// and the next. A search for n free nodes uses the largest c that does not exceed n. With a finer ladder, a
// search examines fewer places where c nodes are free but not n.
const (
	octave    = 1
	maxLevels = 64 // a set of levels is a 64-bit word
)

// levelOf returns the number of rungs that do not exceed n, at most top. Rungs count from 0.
func levelOf(n, top int) int {
	if n <= 0 {
		return 0
	}
	level := n
	if shift := bits.Len(uint(n)) - 1 - octave; shift > 0 {
		level = shift<<octave + n>>shift
	}
	return min(level, top)
}

// sizeOf returns the size at rung i.
func sizeOf(i int) int {
	if i++; i < 2<<octave {
		return i
	}
	shift := i>>octave - 1
	return (i - shift<<octave) << shift
}

// A span is a length of time in seconds, for the index. Longer times count as forever.
type span = uint32

// forever is a span of 136 years or more.
const forever span = 1<<32 - 1

// spanOf returns a length as a span.
func spanOf[T int64 | uint64](seconds T) span { return span(min(seconds, T(forever))) }
