package managed

import (
	"testing"

	"accordion/adapter"
	"accordion/core"
)

// When the clock is set, Slurm keeps the times from which it counts the ages of jobs. So ShiftTimes
// must not move CouldRun. Otherwise a managed job would change its place among ordinary jobs.
func TestSetClockMovesTimesButNotCouldRun(t *testing.T) {
	for _, since := range []core.Time{500, adapter.NotYet, 0} {
		for _, by := range []core.Time{3600, -3600} {
			r := &Job{Record: Record{Phase: Waiting, CouldRun: since, StartTold: 9000}, Choices: []core.EP{{{Duration: 60, Nodes: 1}}}}
			if r.ShiftTimes(by); r.CouldRun != since || r.StartTold != 9000+by {
				t.Errorf("a clock set by %d s: it could run since %d, want %d; it is expected at %d, want %d", by, r.CouldRun, since, r.StartTold, 9000+by)
			}
		}
	}
}
