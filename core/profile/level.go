package profile

import "math/bits"

// The index asks how long at least c nodes stay free for the sizes c of a ladder: all integers up to 1<<(octave+1),
// from there on 1<<octave of them to each doubling, evenly spaced. A search for n free nodes reads what is known of the
// largest c that does not exceed n; the finer the ladder, the fewer places look as if n were free though only c are.
const (
	octave    = 1
	maxLevels = 64 // a set of levels is the bits of a word
)

// levelOf is the number of rungs that do not exceed n; rung i is the i-th of them, from 0. At most top.
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

// sizeOf is the size at rung i.
func sizeOf(i int) int {
	if i++; i < 2<<octave {
		return i
	}
	shift := i>>octave - 1
	return (i - shift<<octave) << shift
}

// A span is a length of time in seconds, for the index: longer ones count as forever.
type span = uint32

// forever is a span of 136 years or more.
const forever span = 1<<32 - 1

// spanOf cuts a length.
func spanOf[T int64 | uint64](seconds T) span { return span(min(seconds, T(forever))) }
