package sidecar_test

import (
	"testing"
	"time"

	"accordion/adapter/embedded"
)

// The batch system plans by limits. If a managed job's limit ends after the second at which the
// first waiting ordinary job can start, the batch system may start the second ordinary job before
// the first.
func TestNoOrdinaryJobIsOvertakenForAManagedOneWithALimitThatIsLongerThanItsProfile(t *testing.T) {
	o := slurmish
	o.Nodes, o.Sweep = 5, 0
	first := func(managed bool) (begin time.Duration) {
		inWorld(t, o, func(w *world) {
			w.submit(embedded.JobSpec{Nodes: 4, Limit: 42, Runs: 42, User: "bob"})
			w.at(1)
			waits := w.submit(embedded.JobSpec{Nodes: 5, Limit: 45, Runs: 45, User: "bob"})
			w.submit(embedded.JobSpec{Nodes: 4, Limit: 46, Runs: 46, User: "bob"})
			w.at(5)
			if managed {
				w.evolving("1x23s", 50*time.Second) // the job is late by its overrun allowance, and its limit is longer
			}
			w.quiet(900)
			begin = w.record(waits).Start.Sub(w.begin)
		})
		return begin
	}
	if alone, beside := first(false), first(true); beside > alone {
		t.Errorf("the ordinary job that waits first starts after %v, and after %v where a managed one came behind it", alone, beside)
	}
}
