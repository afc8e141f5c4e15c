package sim

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
)

// TestASeedTellsTheSameStoryEveryTime is what makes a failing seed worth something.
func TestASeedTellsTheSameStoryEveryTime(t *testing.T) {
	for seed := uint64(1); seed <= 15; seed++ {
		first, second := happen(t, tell(seed), true, true).trace, happen(t, tell(seed), true, true).trace
		if where := parting(first, second); where != "" {
			t.Errorf("seed %d tells two stories; they part at:\n%s", seed, where)
		}
	}
}

// TestTheJournalOnDiskTellsTheSameStoryAsTheOneInMemory compares the journal with its dumb second implementation.
func TestTheJournalOnDiskTellsTheSameStoryAsTheOneInMemory(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ {
		memory, disk := tell(seed), tell(seed)
		memory.sqlite, disk.sqlite = false, true
		first, second := happen(t, memory, true, true).trace, happen(t, disk, true, true).trace
		if where := parting(first, second); where != "" {
			t.Errorf("seed %d tells two stories; they part at:\n%s", seed, where)
		}
	}
}

// parting is where two traces part. Two goroutines may speak at one instant, in either order.
func parting(a, b []told) string {
	for _, trace := range [][]told{a, b} {
		slices.SortFunc(trace, func(x, y told) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.text, y.text)) })
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("%v\n%v", a[i], b[i])
		}
	}
	if len(a) != len(b) {
		return fmt.Sprintf("the end: %d and %d lines", len(a), len(b))
	}
	return ""
}
