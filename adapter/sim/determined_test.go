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
		sameScenario(t, generate(seed), generate(seed))
	}
}

// TestTheJournalOnDiskTellsTheSameStoryAsTheOneInMemory compares the journal with its dumb second implementation.
func TestTheJournalOnDiskTellsTheSameStoryAsTheOneInMemory(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ {
		memory, disk := generate(seed), generate(seed)
		memory.sqlite, disk.sqlite = false, true
		sameScenario(t, memory, disk)
	}
}

// retold is how often two scenarios are told before they count as two. Where two things happen at one instant, either may be seen first, as
// TestDigests knows, too: a busy machine tells the other one now and then, once in hundreds of tellings.
const attempts = 3

// tellTheSame says that both are one scenario.
func sameScenario(t *testing.T, one, other *scenario) {
	t.Helper()
	where := ""
	for range attempts {
		if where = divergence(simulate(t, one, true, true).trace, simulate(t, other, true, true).trace); where == "" {
			return
		}
	}
	t.Errorf("seed %d tells two scenarios, and did %d times; they part at:\n%s", one.seed, attempts, where)
}

// parting is where two traces part. Two goroutines may speak at one instant, in either order.
func divergence(a, b []traceLine) string {
	for _, trace := range [][]traceLine{a, b} {
		slices.SortFunc(trace, func(x, y traceLine) int { return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(x.text, y.text)) })
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
