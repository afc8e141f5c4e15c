package sidecar_test

import (
	"testing"
	"time"

	"accordion/adapter/embedded"
)

// The simulation found this fault (seed 139). A managed job is planned before an ordinary job, and
// its reservation begins. Then another job is late, so that the ordinary job comes first. The
// reservation had already begun, and the ordinary job could never start.
func TestAReservationThatBeganTooEarlyGivesWayToTheJobThatComesFirstNow(t *testing.T) {
	o := slurmish
	o.Nodes = 8
	inWorld(t, o, func(w *world) {
		time.Sleep(time.Second / 2)
		w.evolving("6x21s", 79*time.Second) // this job is late, and is ended when its overrun allowance is used up
		w.at(6)
		ordinary := w.submit(embedded.JobSpec{Nodes: 7, Limit: 55, Runs: 55})
		w.at(8)
		job := w.evolving("5x30s,4x14s") // this job fits before the ordinary one if the first job is in time
		w.at(14)
		w.submit(embedded.JobSpec{Nodes: 2, Limit: 32, Runs: 32})
		w.quiet(600)
		if w.record(ordinary).Start.IsZero() || w.steps(job) != "5 4" {
			t.Errorf("both should have run:\n%s", w.history())
		}
		w.clean()
	})
}

// The simulation found this fault. While a growth was late, the job's promise was moved. When the
// growth succeeded, the delay was added again, so that the application waited twice as long for its
// next step.
func TestADelayIsCountedOnce(t *testing.T) {
	o := slurmish
	o.Nodes = 5
	inWorld(t, o, func(w *world) {
		time.Sleep(time.Second / 2)
		w.evolving("3x20s", 100*time.Second) // this job is late, delays another job, and is ended
		job := w.evolving("2x20s,5x20s,1x20s")
		w.quiet(300)
		w.shows(job, "2@2-36 5@36-56 1@56-75")
	})
}

// The simulation found this fault. An orphaned expander was planned as a job that runs until its
// parent's limit. Promises were postponed until that limit, although the sidecar immediately ended
// the expander.
func TestALeftOverExpanderMovesNoPromise(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		time.Sleep(time.Second / 2)
		job := w.evolving("2x20s,16x20s,1x20s")
		w.killing.at, w.killing.after = 7, true // when the expander of the growth exists
		<-w.killing.killed()
		w.restart()
		w.quiet(300)
		w.shows(job, "2@2-26 16@26-46 1@46-65")
		w.clean()
	})
}

// The simulation found this fault. While promises do not fit the machine, they are fitted again in
// each cycle. Each time, a step that should have ended was extended by another second.
func TestAShrinkIsNotPutOffWhileAnotherJobCannotGoOn(t *testing.T) {
	o := slurmish
	o.Nodes = 8
	inWorld(t, o, func(w *world) {
		time.Sleep(time.Second / 2)
		job := w.evolving("4x20s,2x20s")
		w.evolving("1x40s,8x20s")
		w.at(10)
		if err := w.KillNode("n8"); err != nil {
			t.Fatal(err)
		}
		w.at(60)
		w.shows(job, "4@2-25 2@25-44")
		if err := w.ReviveNode("n8"); err != nil {
			t.Fatal(err)
		}
		w.quiet(300)
		w.clean()
	})
}

// The simulation found this fault (seed 4339). A later step of a late application was planned only
// until the step's promised end, and a job that was submitted later was started on the
// application's nodes.
func TestALateApplicationIsPlannedForAsLongAsItAskedFor(t *testing.T) {
	o := slurmish
	o.Nodes = 4
	inWorld(t, o, func(w *world) {
		time.Sleep(time.Second / 2)
		late := w.evolving("1x8s,4x20s,1x60s", 34*time.Second, 19*time.Second, 59*time.Second)
		w.at(20)
		behind := w.evolving("2x8s")
		w.quiet(300)
		if got := w.steps(late); got != "1 4 1" || w.record(behind).Start.Before(w.begin.Add(50*time.Second)) {
			t.Errorf("the late job ran on %s nodes, and the one submitted later took those of its growth:\n%s", got, w.history())
		}
		w.clean()
	})
}
