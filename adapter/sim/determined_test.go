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
		tellTheSame(t, tell(seed), tell(seed))
	}
}

// TestTheJournalOnDiskTellsTheSameStoryAsTheOneInMemory compares the journal with its dumb second implementation.
func TestTheJournalOnDiskTellsTheSameStoryAsTheOneInMemory(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ {
		memory, disk := tell(seed), tell(seed)
		memory.sqlite, disk.sqlite = false, true
		tellTheSame(t, memory, disk)
	}
}

// retold is how often two stories are told before they count as two. Where two things happen at one instant, either may be seen first, as
// TestDigests knows, too: a busy machine tells the other one now and then, once in hundreds of tellings.
const retold = 3

// tellTheSame says that both are one story.
func tellTheSame(t *testing.T, one, other *story) {
	t.Helper()
	where := ""
	for range retold {
		if where = parting(happen(t, one, true, true).trace, happen(t, other, true, true).trace); where == "" {
			return
		}
	}
	t.Errorf("seed %d tells two stories, and did %d times; they part at:\n%s", one.seed, retold, where)
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
