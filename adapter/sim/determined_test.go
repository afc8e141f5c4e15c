package sim

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
)

// TestSeedIsDeterministic checks that a seed always has the same scenario with the same result, so that a failure can be repeated.
func TestSeedIsDeterministic(t *testing.T) {
	for seed := uint64(1); seed <= 15; seed++ {
		sameScenario(t, generate(seed), generate(seed))
	}
}

// TestJournalOnDiskBehavesAsTheOneInMemory compares the real journal with memoryJournal.
func TestJournalOnDiskBehavesAsTheOneInMemory(t *testing.T) {
	for seed := uint64(1); seed <= 4; seed++ {
		memory, disk := generate(seed), generate(seed)
		memory.sqlite, disk.sqlite = false, true
		sameScenario(t, memory, disk)
	}
}

// attempts is the number of times that a test compares two simulations of the same scenario before it
// fails. Two events may happen at the same instant, and then either may come first. On a busy machine
// this happens once in some hundred simulations.
const attempts = 3

// sameScenario fails the test unless both simulations have the same trace.
func sameScenario(t *testing.T, one, other *scenario) {
	t.Helper()
	where := ""
	for range attempts {
		if where = divergence(simulate(t, one, true, true).trace, simulate(t, other, true, true).trace); where == "" {
			return
		}
	}
	t.Errorf("seed %d had two results, %d times; they differ from:\n%s", one.seed, attempts, where)
}

// divergence returns where two traces differ, or "". It first sorts both, because lines of the same instant may be in any order.
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
