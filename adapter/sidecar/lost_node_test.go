package sidecar_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/adapter/embedded"
	"accordion/shim/wire"
)

// A job that has lost a node is informed immediately, and not only at its next step, because
// programs that it starts on that node fail.
func TestAJobThatLosesANodeInMidStepIsToldAtOnce(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.submit(embedded.JobSpec{
			Nodes: 2, Managed: true, Silent: true, NoKill: true, Comment: "ep=2x20s,5x60s,3x20s", Script: listening(100 * time.Second),
		})
		w.at(40) // the job grew at second 25
		if err := w.KillNode("n4"); err != nil {
			t.Fatal(err)
		}
		w.at(43)
		want := "accordion: this job has lost n4; step 2 of 3 goes on with 4 nodes, n[1-3,5]\n" +
			"B:URG with 4: # generation=2 step=2 steps=3 nodes=4 n1,n2,n3,n5"
		if got := strings.Join(w.record(job).Output, "\n"); !strings.HasSuffix(got, want) {
			t.Errorf("three seconds after the loss it received\n%s\nwant at the end of it\n%s\n%s", got, want, w.journalled())
		}
		w.quiet(200)
		if got, want := w.steps(job), "2 5 4 3"; got != want {
			t.Errorf("it ran on %s nodes, want %s", got, want)
		}
		want = "B:URG with 4: # generation=3 step=3 steps=3 nodes=3 n1,n2,n3\naccordion: step 3 of 3: 3 nodes, n[1-3]"
		if got := strings.Join(w.record(job).Output, "\n"); !strings.HasSuffix(got, want) {
			t.Errorf("it received\n%s\nwant at the end of it\n%s", got, want)
		}
		w.clean()
	})
}

// A job that calls `accordion step` is informed of the loss, too. It gets no signal, because it may
// not handle signals. The hosts file that it receives is kept up to date in later steps.
func TestAJobThatAsksForItsStepsIsToldOfALoss(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.submit(embedded.JobSpec{
			Nodes: 2, Managed: true, NoKill: true, Comment: "ep=2x20s,5x60s,3x20s", Script: reading(19*time.Second, 59*time.Second, 19*time.Second),
		})
		w.at(28) // three seconds after the job grew, so that it looks as if the batch system had forgotten the growth, although the node is lost
		if err := w.KillNode("n4"); err != nil {
			t.Fatal(err)
		}
		w.at(31)
		if got, want := strings.Join(w.record(job).Output, "\n"), "accordion: this job has lost n4; step 2 of 3 goes on with 4 nodes, n[1-3,5]"; got != want {
			t.Errorf("three seconds after the loss it received\n%s\nwant\n%s\n%s", got, want, w.journalled())
		}
		w.quiet(200)
		want := "accordion: this job has lost n4; step 2 of 3 goes on with 4 nodes, n[1-3,5]\n" +
			"at the end of step 2: # generation=2 step=2 steps=3 nodes=4 n1,n2,n3,n5\n" +
			"at the end of step 3: # generation=3 step=3 steps=3 nodes=3 n1,n2,n3"
		if got := strings.Join(w.record(job).Output, "\n"); got != want {
			t.Errorf("it received\n%s\nwant\n%s\n%s", got, want, w.journalled())
		}
		if strings.Contains(w.journalled(), "forgotten") {
			t.Errorf("the loss was taken for a growth that was forgotten:\n%s", w.journalled())
		}
		w.clean()
	})
}

// reading returns a script that calls `accordion step`. It prints the job's hosts file at the end
// of the second step and of each later step.
func reading(work ...time.Duration) embedded.Script {
	return func(ctx context.Context, h *embedded.Handle) error {
		for i, d := range work {
			if err := h.Work(ctx, d); err != nil {
				return err
			}
			if i > 0 {
				header, hosts, _ := strings.Cut(h.Hosts(), "\n")
				header, _, _ = strings.Cut(header, " from")
				h.Print(fmt.Sprintf("at the end of step %d: %s %s", i+1, header, strings.Join(strings.Fields(hosts), ",")))
			}
			if i+1 < len(work) {
				if _, err := h.Step(ctx, wire.Request{}); err != nil {
					return err
				}
			}
		}
		return nil
	}
}
