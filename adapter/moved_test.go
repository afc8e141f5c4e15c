package adapter_test

import (
	"testing"
	"time"

	"accordion/adapter/embedded"
)

// The simulation found it (seed 139): a job is planned before an ordinary one, its reservation begins, somebody is late,
// and now the ordinary job comes first; the reservation, begun already, kept it out for ever.
func TestAReservationThatBeganTooEarlyGivesWayToTheJobThatComesFirstNow(t *testing.T) {
	o := slurmish
	o.Nodes = 8
	inWorld(t, o, func(w *world) {
		w.evolving("6x21s", 79*time.Second) // late: ended when its allowance is used up
		w.at(6)
		ordinary := w.submit(embedded.JobSpec{Nodes: 7, Limit: 55, Runs: 55})
		w.at(8)
		job := w.evolving("5x30s,4x14s") // fits before the ordinary one, behind a punctual first job
		w.at(14)
		w.submit(embedded.JobSpec{Nodes: 2, Limit: 32, Runs: 32})
		w.quiet(600)
		if w.record(ordinary).Start.IsZero() || w.steps(job) != "5 4" {
			t.Errorf("both should have run:\n%s", w.history())
		}
		w.clean()
	})
}
