package sim

import (
	"math/bits"
	"time"
)

// dice draws numbers from a seed by name. A number does not depend on which other numbers were
// drawn, nor when.
type dice uint64

// roll returns the nth number for the name.
func (d dice) roll(name string, nth int) uint64 {
	h := uint64(d)*0x9e3779b97f4a7c15 ^ 0xcbf29ce484222325
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	h ^= uint64(nth) * 0xd6e8feb86659fd93
	h = (h ^ h>>32) * 0xd6e8feb86659fd93
	h = (h ^ h>>29) * 0xff51afd7ed558ccd
	return h ^ h>>32
}

// below returns a number from 0 to n-1.
func (d dice) below(n int, name string, nth int) int {
	high, _ := bits.Mul64(d.roll(name, nth), uint64(n))
	return int(high)
}

// chance returns true in `permille` of 1,000 cases.
func (d dice) chance(permille int, name string, nth int) bool {
	return permille > 0 && d.below(1000, name, nth) < permille
}

// span returns a duration from lo until just before hi. It has nanoseconds, so that two durations
// are hardly ever equal.
func (d dice) span(lo, hi time.Duration, name string, nth int) time.Duration {
	return lo + time.Duration(d.below(int(hi-lo), name, nth))
}
