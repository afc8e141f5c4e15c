package sim

import (
	"math/bits"
	"time"
)

// dice draws random numbers. A number depends only on the seed, a name and an index. It does not depend
// on which other numbers were drawn before.
type dice uint64

// roll returns the nth random number for the name.
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

// chance returns true with a probability of `permille` in 1,000.
func (d dice) chance(permille int, name string, nth int) bool {
	return permille > 0 && d.below(1000, name, nth) < permille
}

// span returns a random duration of at least lo and less than hi. Durations are in nanoseconds, so that
// two of them are hardly ever equal.
func (d dice) span(lo, hi time.Duration, name string, nth int) time.Duration {
	return lo + time.Duration(d.below(int(hi-lo), name, nth))
}
