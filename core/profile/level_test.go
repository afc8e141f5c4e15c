package profile

import "testing"

func TestEverySizeLiesBetweenItsRungAndTheNext(t *testing.T) {
	for n := 1; n < 100_000; n++ {
		level := levelOf(n, maxLevels)
		if low, high := sizeOf(level-1), sizeOf(level); n < low || n >= high {
			t.Fatalf("%d nodes: level %d is of %d to %d", n, level, low, high-1)
		}
	}
	for n, want := range map[int]int{-5: 0, 0: 0, 1: 1, 2: 2, 3: 3, 1 << 62: 9} {
		if got := levelOf(n, 9); got != want {
			t.Errorf("%d nodes of a ladder of 9 rungs: %d, want %d", n, got, want)
		}
	}
}

// The index uses the values of a rung for all sizes up to the next rung. The closer the rungs, the fewer places are examined
// without result.
func TestNoSizeExceedsItsRungByHalf(t *testing.T) {
	for level := range maxLevels - 1 {
		if low, next := sizeOf(level), sizeOf(level+1); level > 0 && 2*next > 3*low+2 {
			t.Errorf("rungs of %d and %d nodes", low, next)
		}
	}
}
