package sidecar_test

import (
	"strings"
	"testing"
	"time"
)

func TestAJobThatDoesNotStartWhereItShouldIsStartedElsewhere(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x20s")
		w.at(1)
		time.Sleep(500 * time.Millisecond) // the job is released on n1 and n2, and has not started yet
		if err := w.DrainNode("n1"); err != nil {
			t.Fatal(err)
		}
		w.quiet(300)
		if got := w.steps(job); got != "2 5" || strings.Contains(w.nodesAt(job, 90), "n1,") {
			t.Errorf("it ran on %s nodes, at 90 on %s\n%s", got, w.nodesAt(job, 90), w.journalled())
		}
		if got, want := w.events(job), "accepted starting held starting started grew ended"; got != want {
			t.Errorf("events are %q, want %q\n%s", got, want, w.journalled())
		}
		w.clean()
	})
}

// A lost node usually stays away for some time. So a job that was released on such a node does not
// wait for the node.
func TestAStartOnANodeThatIsLostIsTakenBackAtOnce(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x20s")
		w.at(1)
		time.Sleep(500 * time.Millisecond) // the job is released on n1 and n2, and has not started yet
		if err := w.KillNode("n1"); err != nil {
			t.Fatal(err)
		}
		w.quiet(100)
		if began := w.record(job).Start.Sub(w.begin); began > 8*time.Second || w.nodesAt(job, 10) != "n[2-3]" {
			t.Errorf("it began after %v on %s, want at once on n[2-3]\n%s", began, w.nodesAt(job, 10), w.journalled())
		}
		if got, want := w.events(job), "accepted starting held starting started grew ended"; got != want {
			t.Errorf("events are %q, want %q\n%s", got, want, w.journalled())
		}
		w.clean()
	})
}
