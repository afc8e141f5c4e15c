package sidecar_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/adapter/embedded"
)

func TestAnEarlyApplicationGoesOnEarlyWhereThatDelaysNobody(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.eager()
		job := w.evolving("2x60s,5x20s,3x20s", 10*time.Second, 19*time.Second, 5*time.Second)
		w.quiet(120)
		if got := w.steps(job); got != "2 5 3" {
			t.Errorf("it ran on %s nodes, want 2 5 3", got)
		}
		if over := w.record(job).End.Sub(w.begin); over > 50*time.Second {
			t.Errorf("it ended after %v: it was 50 s early, and delayed no other job\n%s", over, w.journalled())
		}
		if want := "from 2 to 5 nodes; 53 s before the planned second, which delays nobody"; !strings.Contains(w.journalled(), want) {
			t.Errorf("the journal does not say %q\n%s", want, w.journalled())
		}
		w.clean()
	})
}

func TestAnEarlyApplicationDelaysNoPromiseOfAnother(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.eager()
		other := w.evolving("10x30s,14x20s", 32*time.Second, 19*time.Second)
		w.at(2)
		early := w.evolving("2x90s,6x60s", 5*time.Second, 59*time.Second) // six nodes now would include four nodes of the other job
		w.quiet(300)
		if got := w.sizes(other); !strings.Contains(got, "14@35-") {
			t.Errorf("the other held %q, want 14 nodes from second 35 on, as promised\n%s", got, w.history())
		}
		if got := w.steps(early); got != "2 6" {
			t.Errorf("the early one ran on %s nodes, want 2 6", got)
		}
	})
}

func TestAnEarlyApplicationDelaysNoOrdinaryJobThatWaits(t *testing.T) {
	start := func(early time.Duration) (begin time.Duration) {
		inWorld(t, slurmish, func(w *world) {
			w.eager()
			w.submit(embedded.JobSpec{Nodes: 12, Limit: 60, Runs: 60, User: "bob"})
			w.at(1)
			w.evolving("4x300s,10x60s", early)
			w.at(2)
			waits := w.submit(embedded.JobSpec{Nodes: 12, Limit: 60, Runs: 20, User: "bob"})
			w.quiet(900)
			begin = w.record(waits).Start.Sub(w.begin)
		})
		return begin
	}
	if early, onTime := start(70*time.Second), start(299*time.Second); early > onTime {
		t.Errorf("the ordinary job started after %v, and after %v next to an application that was early", onTime, early)
	}
}

// stubborn returns a script that continues its work whatever happens, and prints the signals that
// it receives.
func stubborn(work ...time.Duration) embedded.Script {
	return func(ctx context.Context, h *embedded.Handle) error {
		done := make(chan error, 1)
		go func() { done <- embedded.Phases(work...)(ctx, h) }()
		for {
			select {
			case err := <-done:
				return err
			case s := <-h.Signals():
				h.Print("signal " + s)
			}
		}
	}
}

func TestALateApplicationIsWarnedBeforeItsAllowanceIsUsedUp(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Comment: "ep=2x20s,5x20s", Script: stubborn(400 * time.Second)})
		w.quiet(120)
		if got, want := w.events(job), "accepted starting started warned ending ended"; got != want {
			t.Errorf("events are %q, want %q", got, want)
		}
		output := strings.Join(w.record(job).Output, "\n")
		for _, want := range []string{"its allowance is nearly used up: the job will be ended in 10 s", "signal B:TERM"} {
			if !strings.Contains(output, want) {
				t.Errorf("its output is %q, want %q in it", output, want)
			}
		}
		if over := w.record(job).End.Sub(w.begin); over < 50*time.Second || over > 60*time.Second {
			t.Errorf("it was ended after %v, want 24 s and its allowance of 30 s", over)
		}
	})
}

func TestALateApplicationIsEndedSoonerWhenAnothersGrowthWaitsForItsNodes(t *testing.T) {
	o := slurmish
	o.Nodes = 6
	inWorld(t, o, func(w *world) {
		late := w.submit(embedded.JobSpec{Nodes: 4, Managed: true, Comment: "ep=4x20s,1x20s", Script: stubborn(400 * time.Second)})
		other := w.evolving("2x20s,5x20s") // the job grows on nodes that the late job should release
		w.quiet(200)
		if over := w.record(late).End.Sub(w.begin); over > 45*time.Second {
			t.Errorf("the late one was ended after %v, want 24 s, some for the warning and 10 s of grace\n%s", over, w.journalled())
		}
		if got := w.steps(other); got != "2 5" {
			t.Errorf("the other ran on %s nodes, want 2 5", got)
		}
		w.clean()
	})
}

// listening returns a script that never calls `accordion step`. It prints the job's hosts file at
// each signal.
func listening(d time.Duration) embedded.Script {
	return func(ctx context.Context, h *embedded.Handle) error {
		end := time.After(d)
		for {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-end:
				return nil
			case s := <-h.Signals():
				header, hosts, _ := strings.Cut(h.Hosts(), "\n")
				h.Print(fmt.Sprintf("%s with %d: %s %s", s, len(h.Nodes()), header[:strings.Index(header, " from")], strings.Join(strings.Fields(hosts), ",")))
			}
		}
	}
}

func TestASilentApplicationIsResizedAtItsPlannedSecondsAndTold(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Silent: true, Comment: "ep=2x20s,5x20s,3x20s", Script: listening(60 * time.Second)})
		w.quiet(200)
		w.shows(job, "2@2-25 5@25-45 3@45-62")
		want := []string{
			"accordion: step 2 of 3: 5 nodes, n[1-5]",
			"B:URG with 5: # generation=1 step=2 steps=3 nodes=5 n1,n2,n3,n4,n5",
			"accordion: at 00:00:45 this job gives back n[4-5], and what runs there is killed; n[1-3] stays",
			"B:URG with 5: # generation=2 step=3 steps=3 nodes=3 n1,n2,n3",
			"accordion: step 3 of 3: 3 nodes, n[1-3]",
		}
		if got := w.record(job).Output; strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("it received\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		w.clean()
	})
}

func TestSilentJobLearnsWhereItsHostsFileIsWhenAnotherUserHasTheFolder(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		const path = "/tmp/accordion-1001.x7Yq/lab-1.hosts"
		job := w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Silent: true, Elsewhere: path, Comment: "ep=2x20s,5x20s", Script: listening(40 * time.Second)})
		w.quiet(200)
		const want = "accordion: the hosts file of this job is " + path + ": another user has the usual folder"
		// The sidecar writes this message at the start, and again after the growth, because Slurm
		// loses a line that is written before the script runs.
		if got := strings.Join(w.record(job).Output, "\n"); strings.Count(got, want) != 2 {
			t.Errorf("it received\n%s\nwant twice\n%s", got, want)
		}
		w.clean()
	})
}

// The job's hosts file is written slowly, so that the shrink is announced late. Even then the
// shrink follows only some seconds after the announcement.
func TestAShrinkWaitsForASilentApplicationThatLearnsOfItLate(t *testing.T) {
	o := slurmish
	told := 0
	o.Faults = func(c embedded.Call) (fault embedded.Fault) {
		if c.Verb == "Publish" {
			if told++; told == 3 { // the third file announces the shrink; the first two were written at the start and after the growth
				fault.Delay = 7 * time.Second // 5 seconds were left before the shrink
			}
		}
		return fault
	}
	inWorld(t, o, func(w *world) {
		job := w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Silent: true, Comment: "ep=2x20s,5x20s,3x20s", Script: listening(60 * time.Second)})
		w.quiet(200)
		w.shows(job, "2@2-25 5@25-49 3@49-62")
		w.clean()
	})
}

func TestASilentApplicationWhoseHostsFileCannotBeWrittenIsResizedAnyway(t *testing.T) {
	o := slurmish
	o.Faults = func(c embedded.Call) (fault embedded.Fault) {
		if c.Verb == "Publish" {
			fault.Refuse = errors.New("not the user's own folder")
		}
		return fault
	}
	inWorld(t, o, func(w *world) {
		job := w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Silent: true, Comment: "ep=2x20s,4x30s,1x20s", Script: stubborn(66 * time.Second)})
		w.quiet(200)
		if got := w.steps(job); got != "2 4 1" {
			t.Errorf("it ran on %s nodes, want 2 4 1\n%s", got, w.journalled())
		}
		output := strings.Join(w.record(job).Output, "\n")
		for _, want := range []string{"not the user's own folder", "gives back n[2-4]", "B:URG"} {
			if !strings.Contains(output, want) {
				t.Errorf("it received\n%s\nwant %q in it", output, want)
			}
		}
		if n := strings.Count(output, "cannot be written"); n != 1 {
			t.Errorf("it was told %d times that its file cannot be written, want once\n%s", n, output)
		}
		w.clean()
	})
}
