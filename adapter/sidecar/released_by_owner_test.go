package sidecar_test

import (
	"strings"
	"testing"
	"time"

	"accordion/adapter/embedded"
)

func TestAJobReleasedBeforeItWasAdoptedIsPlannedAsARigidOne(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.submit(embedded.JobSpec{Nodes: 12, Hold: true, Limit: 120, Runs: 60, Comment: "ep=12x20s,16x20s"})
		if err := w.Release(t.Context(), job); err != nil {
			t.Error(err)
		}
		w.at(5)
		after := w.evolving("8x20s,16x20s")
		w.quiet(300)
		if got := w.sizes(job); got != "12@2-62" {
			t.Errorf("the job that escaped held %s, want its 12 nodes all the time", got)
		}
		if got := w.steps(after); got != "8 16" || w.events(job) != "" {
			t.Errorf("the one after it ran on %s nodes; events of the first: %q", got, w.events(job))
		}
		w.clean()
	})
}

// In Slurm an owner can release a held job by setting Nice.
func TestAnAdoptedJobThatItsOwnerReleasesIsRigidFromThenOn(t *testing.T) {
	for name, restarted := range map[string]bool{"one sidecar": false, "another sidecar takes over": true} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				w.submit(embedded.JobSpec{Nodes: 16, Limit: 60, Runs: 40})
				w.at(3)
				job := w.submit(embedded.JobSpec{Nodes: 4, Hold: true, Limit: 120, Comment: "ep=4x20s,8x20s", Script: embedded.Phases(100 * time.Second)})
				w.at(10)
				if r := w.record(job); !strings.HasPrefix(w.events(job), "accepted") || len(r.Spans) > 0 {
					t.Errorf("it should wait, adopted: %q, %v", w.events(job), r.Spans)
				}
				w.halt() // otherwise the sidecar would hold the job again
				if err := w.Release(t.Context(), job); err != nil {
					t.Error(err)
				}
				w.at(50)
				w.serve()
				if restarted {
					w.at(60)
					w.halt()
					w.serve()
				}
				after := w.evolving("8x20s,16x20s")
				w.quiet(400)
				if got, want := w.events(job), "escaped started ended"; !strings.HasSuffix(got, want) {
					t.Errorf("events are %q, want them to end %q", got, want)
				}
				if got := w.steps(job); got != "4" {
					t.Errorf("it ran on %s nodes, want 4 all the time", got)
				}
				if got := w.steps(after); got != "8 16" {
					t.Errorf("the one after it ran on %s nodes, want 8, then 16", got)
				}
				w.clean()
			})
		})
	}
}

func TestAnAdoptedJobThatIsReleasedBeforeItsTurnIsHeldAgain(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.submit(embedded.JobSpec{Nodes: 16, Limit: 60, Runs: 40})
		w.at(3)
		job := w.submit(embedded.JobSpec{Nodes: 4, Hold: true, Limit: 120, Comment: "ep=4x20s,8x20s", Script: embedded.Phases(19*time.Second, 19*time.Second)})
		w.at(10)
		if err := w.Release(t.Context(), job); err != nil {
			t.Error(err)
		}
		w.quiet(300)
		if got := w.steps(job); got != "4 8" {
			t.Errorf("it ran on %s nodes, want 4, then 8: %s", got, w.history())
		}
		w.clean()
	})
}
