package advise

import (
	"context"
	"errors"
	"testing"

	"accordion/traces/compare"
)

func TestReplaysThatWereDoneBeforeAnInterruptAreCounted(t *testing.T) {
	first := &compare.InterruptedError{Runs: make([]compare.Run, 3), Done: []bool{true, false, true}}
	for before, want := range map[int]string{0: "2 of 6 replays of the jobs done", 3: "5 of 6 replays of the jobs done"} {
		if err := stoppedAfter(before, 3, first); err.Error() != want {
			t.Errorf("after %d: %q, want %q", before, err, want)
		}
	}
	if err := stoppedAfter(0, 3, context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("another error becomes %v", err)
	}
}
