package sim

import (
	"math/bits"
	"time"
)

// dice draws numbers from a seed by name: what is drawn for one thing does not depend on what else was drawn, nor when.
type dice uint64

// roll is the number of the nth thing of the name.
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

// below is a number from 0 to n-1.
func (d dice) below(n int, name string, nth int) int {
	high, _ := bits.Mul64(d.roll(name, nth), uint64(n))
	return int(high)
}

// chance is true so many times in a thousand.
func (d dice) chance(permille int, name string, nth int) bool {
	return permille > 0 && d.below(1000, name, nth) < permille
}

// span is a time from lo until just before hi, in nanoseconds: two of them are hardly ever the same.
func (d dice) span(lo, hi time.Duration, name string, nth int) time.Duration {
	return lo + time.Duration(d.below(int(hi-lo), name, nth))
}
