package sidecar_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/core"
	"accordion/shim/wire"
)

func TestAnEvolvingJobRunsOnTwoThenFiveThenThreeNodes(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x20s,3x20s")
		w.quiet(120)
		w.shows(job, "2@2-25 5@25-45 3@45-64")
		if got, want := w.events(job), "accepted starting started grew shrank ended"; got != want {
			t.Errorf("events are %q, want %q", got, want)
		}
		w.clean()
	})
}

func TestAJobWithoutThePluginIsAdoptedOnceAndHeldByRoot(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.submit(embedded.JobSpec{Nodes: 2, Hold: true, Comment: "ep=2x20s,3x20s", Script: embedded.Phases(19*time.Second, 19*time.Second)})
		w.quiet(120)
		if got := w.steps(job); got != "2 3" {
			t.Errorf("it ran on %q nodes, want 2, then 3", got)
		}
		w.clean()
	})
}

func TestAMoldableJobTakesTheEarliestCompletion(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.submit(embedded.JobSpec{Nodes: 10, Limit: 600, Runs: 500}) // 6 nodes are left
		w.at(5)
		job := w.submit(embedded.JobSpec{Nodes: 4, Managed: true, Comment: "mold=4x200s|8x150s|16x90s", Script: embedded.Phases(60 * time.Second)})
		w.at(60)
		if got := w.steps(job); got != "4" {
			t.Errorf("it runs on %q nodes, want 4: 8 and 16 would complete later", got)
		}
		w.quiet(900)
		w.clean()
	})
}

func TestAnEarlyApplicationWaitsForItsPlannedSecond(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x20s", 3*time.Second, 19*time.Second)
		w.quiet(120)
		w.shows(job, "2@2-25 5@25-44")
	})
}

func TestAnApplicationThatAsksBeforeTheSidecarSawItsJobRunIsNotRefused(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x20s", 0, 19*time.Second)
		w.quiet(120)
		w.shows(job, "2@2-25 5@25-44")
	})
}

func TestTheChoiceOfAnApplicationThatAsksAtOnceIsKept(t *testing.T) {
	for _, c := range []struct {
		ask  wire.Request
		want string // the status, then the nodes that the job has
	}{
		{wire.Request{Keep: "n4"}, "resized n[1,4]"},
		{wire.Request{Release: "n2"}, "resized n[1,3]"},
		{wire.Request{Keep: "n9"}, "refused n[1-4]"},
	} {
		t.Run("keep "+c.ask.Keep+" release "+c.ask.Release, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				job := w.submit(embedded.JobSpec{Nodes: 4, Managed: true, Comment: "ep=4x20s,2x20s", Script: askingOnce(c.ask)})
				w.quiet(120)
				if got := strings.Join(w.record(job).Output, "\n"); got != c.want {
					t.Errorf("the job was answered %q, want %q", got, c.want)
				}
				w.clean()
			})
		})
	}
}

// askingOnce returns a script that immediately asks for one step. It prints the answer, and the
// nodes that the job has after the answer.
func askingOnce(ask wire.Request) func(context.Context, *embedded.Handle) error {
	return func(ctx context.Context, h *embedded.Handle) error {
		reply, err := h.Step(ctx, ask)
		h.Print(string(reply.Status) + " " + reply.Nodes)
		return err
	}
}

func TestAJobKeepsItsBase(t *testing.T) {
	for _, c := range []struct {
		ask  wire.Request
		want string // the status, then the nodes that the job has
	}{
		{wire.Request{Keep: "n4"}, "resized n[1-2,4]"},
		{wire.Request{Keep: "n[2,4]"}, "resized n[1-2,4]"},
		{wire.Request{Keep: "n[3-5]"}, "refused n[1-5]"},
		{wire.Request{Keep: "n[1,3-4]"}, "refused n[1-5]"},
		{wire.Request{Release: "n[3,5]"}, "resized n[1-2,4]"},
		{wire.Request{Release: "n2"}, "refused n[1-5]"},
	} {
		t.Run("keep "+c.ask.Keep+" release "+c.ask.Release, func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				job := w.submit(embedded.JobSpec{Nodes: 5, Base: 2, Managed: true, Comment: "ep=5x20s,3x20s,2x20s", Script: askingOnce(c.ask)})
				w.quiet(200)
				if got := strings.Join(w.record(job).Output, "\n"); got != c.want {
					t.Errorf("the job was answered %q, want %q", got, c.want)
				}
				w.clean()
			})
		})
	}
}

func TestALateApplicationUsesItsAllowanceAndGoesOn(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x20s", 40*time.Second, 19*time.Second)
		w.quiet(120)
		w.shows(job, "2@2-42 5@42-61")
	})
}

func TestAnApplicationLateBeyondItsAllowanceIsEndedWithTheReasonInItsOutput(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,5x20s", 400*time.Second, 19*time.Second)
		w.quiet(120)
		r := w.record(job)
		if output := strings.Join(r.Output, "\n"); !strings.Contains(output, "step 1 of 2") || !strings.Contains(output, "allowance") {
			t.Errorf("its output says %q, want the reason", output)
		}
		if over := r.End.Sub(w.begin); over > 60*time.Second {
			t.Errorf("it was ended after %v, want about 24 s + 30 s", over)
		}
		w.clean()
	})
}

// raisedLimits shows all running jobs with a longer limit than they started with.
type raisedLimits struct {
	adapter.BatchSystem
	by core.Time
}

func (r raisedLimits) Observe(ctx context.Context) (*adapter.Snapshot, error) {
	s, err := r.BatchSystem.Observe(ctx)
	if err == nil && s.At.Unix()%86400 >= 10 { // virtual time begins at midnight
		for i := range s.Jobs {
			s.Jobs[i].Limit += r.by
		}
	}
	return s, err
}

func TestARaisedLimitAddsToTheAllowance(t *testing.T) {
	for _, test := range []struct {
		by   core.Time
		want string
	}{{40, "2@2-72 5@72-91"}, {0, "2@2-56"}} {
		inWorld(t, slurmish, func(w *world) {
			w.halt()
			w.outer = raisedLimits{BatchSystem: w.killing, by: test.by}
			w.serve()
			job := w.evolving("2x20s,5x20s", 70*time.Second, 19*time.Second)
			w.quiet(150)
			w.shows(job, test.want)
		})
	}
}

func TestOrdinaryJobsInTheWayDelayAGrowthByNoMoreThanTheirOverrun(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		job := w.evolving("2x20s,16x20s")
		w.at(8)
		// This job would fit now, along with the job on two nodes, but would not end before the
		// growth. So it must wait.
		behind := w.submit(embedded.JobSpec{Nodes: 14, Limit: 60, Runs: 10})
		w.quiet(300)
		if got := w.sizes(job); !strings.Contains(got, "16@25-") {
			t.Errorf("job held %q, want 16 nodes from second 25 on", got)
		}
		if r := w.record(behind); r.Start.Before(w.record(job).End) {
			t.Errorf("a job submitted later took the nodes of a promised growth:\n%s", w.history())
		}
	})
}

func TestAManagedJobNeverJumpsTheQueue(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		w.submit(embedded.JobSpec{Nodes: 12, Limit: 60, Runs: 60})
		w.at(3)
		first := w.submit(embedded.JobSpec{Nodes: 16, Limit: 60, Runs: 30}) // waits for the whole machine
		w.at(4)
		job := w.evolving("4x200s,2x20s") // this job would fit now, but would delay the first job
		w.quiet(600)
		if w.record(job).Start.Before(w.record(first).Start) {
			t.Errorf("the managed job started before the ordinary one that was first:\n%s", w.history())
		}
	})
}

func TestTheApplicationChoosesWhatItGivesBack(t *testing.T) {
	for _, c := range []struct{ keep, release, want string }{
		{"n1,n4", "", "n[1,4]"},
		{"n4", "", "n[1,4]"}, // the batch host stays, too
		{"", "n2,n3", "n[1,4]"},
		{"", "n3", "n[1-2]"}, // one more node has to be released: the node that was added last
	} {
		t.Run(fmt.Sprintf("keep %s release %s", c.keep, c.release), func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				job := w.submit(embedded.JobSpec{Nodes: 4, Managed: true, Comment: "ep=4x20s,2x20s", Script: asking(19*time.Second, c.keep, c.release)})
				w.quiet(120)
				if got := w.nodesAt(job, 30); got != c.want {
					t.Errorf("it kept %s, want %s", got, c.want)
				}
			})
		})
	}
}

func TestManyGrowthsShareTheMachine(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		for range 6 {
			w.evolving("2x20s,5x20s,3x20s,6x20s,1x20s")
			w.submit(embedded.JobSpec{Nodes: 3, Limit: 60, Runs: 40, User: "bob"})
		}
		w.quiet(1500)
		for _, r := range w.Jobs() {
			if r.Kind == "evolving" {
				if got := w.steps(r.Key); got != "2 5 3 6 1" {
					t.Errorf("job %d ran on %s nodes, want 2 5 3 6 1\n%s", r.ID, got, w.history())
				}
			}
		}
		w.clean()
	})
}

func TestANodeThatIsIdleAndStillRefusedIsRepaired(t *testing.T) {
	o := slurmish
	repaired := ""
	o.Faults = func(c embedded.Call) embedded.Fault {
		switch {
		case c.Verb == "Nudge":
			repaired = strings.Join(c.Nodes, ",")
		case c.Verb == "Expand" && repaired == "":
			return embedded.Fault{Refuse: adapter.ErrBusy}
		}
		return embedded.Fault{}
	}
	inWorld(t, o, func(w *world) {
		job := w.evolving("2x20s,5x20s")
		w.quiet(120)
		if repaired != "n3,n4,n5" {
			t.Errorf("repaired nodes are %q, want the three of the growth", repaired)
		}
		if got := w.steps(job); got != "2 5" {
			t.Errorf("it ran on %s nodes, want 2, then 5", got)
		}
		w.clean()
	})
}

func TestAShimThatTimesOutReceivesTheAllocationAsItIs(t *testing.T) {
	inWorld(t, slurmish, func(w *world) {
		var got wire.Reply
		job := w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Comment: "ep=2x60s,5x20s", Script: func(ctx context.Context, h *embedded.Handle) error {
			reply, err := h.Step(ctx, wire.Request{Step: 1, Waits: 10})
			if err != nil {
				return err
			}
			got = reply
			return h.Work(ctx, 5*time.Second)
		}})
		w.quiet(120)
		if got.Status != wire.Late || got.Count != 2 || got.Step != 1 {
			t.Errorf("the reply is %+v, want late, 2 nodes, step 1", got)
		}
		if got := w.steps(job); got != "2" {
			t.Errorf("it ran on %s nodes, want 2 only", got)
		}
	})
}

func TestAModelsSizeIsChosenByWhatIsFree(t *testing.T) {
	for free, want := range map[int]string{16: "16", 6: "6", 3: "3"} {
		t.Run(fmt.Sprintf("%d free", free), func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				if free < 16 {
					w.submit(embedded.JobSpec{Nodes: 16 - free, Limit: 7200, Runs: 400, User: "bob"})
				}
				w.at(5)
				job := w.submit(embedded.JobSpec{Nodes: 1, Managed: true, Comment: "mold=amdahl:p=1,t1=20m,nodes=1-16", Script: embedded.Phases(30 * time.Second)})
				w.quiet(600)
				if got := w.steps(job); got != want {
					t.Errorf("it ran on %s nodes, want %s", got, want)
				}
			})
		})
	}
}

func TestAJobMayBeMoldableAndEvolving(t *testing.T) {
	for busy, want := range map[int]string{0: "4 16", 8: "2 8"} {
		t.Run(fmt.Sprintf("%d nodes busy", busy), func(t *testing.T) {
			inWorld(t, slurmish, func(w *world) {
				if busy > 0 {
					w.submit(embedded.JobSpec{Nodes: busy, Limit: 7200, Runs: 400, User: "bob"})
				}
				w.at(5)
				job := w.submit(embedded.JobSpec{Nodes: 2, Managed: true, Comment: "ep=2x60s,8x60s|4x40s,16x40s", Script: embedded.Phases(39*time.Second, 39*time.Second)})
				w.quiet(600)
				if got := w.steps(job); got != want {
					t.Errorf("it ran on %s nodes, want %s\n%s", got, want, w.history())
				}
				w.clean()
			})
		})
	}
}
