package embedded

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/core"
	"accordion/shim/wire"
)

func TestEASYStartsWhatFitsAndKeepsTheHeadsPromise(t *testing.T) {
	inWorld(t, Options{Nodes: 4}, func(w *world) {
		w.submit(JobSpec{Nodes: 3, Limit: 100, Runs: 100})
		head := w.submit(JobSpec{Nodes: 4, Limit: 50, Runs: 50})
		tooLong := w.submit(JobSpec{Nodes: 1, Limit: 101, Runs: 101})
		fits := w.submit(JobSpec{Nodes: 1, Limit: 100, Runs: 40})
		w.at(1)
		w.shows(head, "pending Resources")
		w.shows(tooLong, "pending Priority")
		w.shows(fits, "running n4")
		w.at(400)
		want := "1: n1 0-100 n2 0-100 n3 0-100\n" +
			"2: n1 100-150 n2 100-150 n3 100-150 n4 100-150\n" +
			"3: n1 150-251\n" +
			"4: n4 0-40\n"
		if got := w.history(); got != want {
			t.Errorf("history:\n%swant:\n%s", got, want)
		}
	})
}

func TestPriorityGoesBeforeSubmission(t *testing.T) {
	inWorld(t, Options{Nodes: 1}, func(w *world) {
		w.submit(JobSpec{Nodes: 1, Limit: 10, Runs: 10})
		low := w.submit(JobSpec{Nodes: 1, Limit: 10, Runs: 10})
		high := w.submit(JobSpec{Nodes: 1, Limit: 10, Runs: 10, Priority: 7})
		snap, err := w.Observe(w.ctx)
		w.must(err)
		if snap.Jobs[0].Key != high || snap.Jobs[1].Key != low {
			t.Errorf("the queue is %v, want job %d before %d", snap.Jobs, high.ID, low.ID)
		}
		w.at(11)
		w.shows(high, "running n1")
		w.shows(low, "pending Resources")
	})
}

func TestAReservationKeepsItsNodesFree(t *testing.T) {
	inWorld(t, Options{Nodes: 3}, func(w *world) {
		w.reserve("maintenance", "root", 100, 200, "n1", "n2")
		long := w.submit(JobSpec{Nodes: 2, Limit: 150, Runs: 150})
		short := w.submit(JobSpec{Nodes: 2, Limit: 100, Runs: 100})
		other := w.submit(JobSpec{Nodes: 1, Limit: 500, Runs: 500})
		w.at(1)
		w.shows(long, "pending Resources") // the job can use n1 and n2 only after the reservation
		w.shows(short, "running n1,n2")    // this job ends when the reservation begins
		w.shows(other, "running n3")       // n3 is never in the reservation
		w.at(199)
		w.shows(long, "pending Resources")
		w.at(200)
		w.shows(long, "running n1,n2")
	})
}

func TestJobWaitsForItsBeginTime(t *testing.T) {
	inWorld(t, Options{Nodes: 1}, func(w *world) {
		j := w.submit(JobSpec{Nodes: 1, Limit: 10, Runs: 10, Begin: w.unix(30)})
		w.at(29)
		w.shows(j, "pending BeginTime")
		seen, err := w.Inspect(w.ctx, j)
		w.must(err)
		if !seen.Blocked {
			t.Error("a job before its begin time is not blocked")
		}
		w.at(30)
		w.shows(j, "running n1")
	})
}

func TestHeldJobsStartOnlyWhenReleased(t *testing.T) {
	inWorld(t, Options{Nodes: 2}, func(w *world) {
		byUser := w.submit(JobSpec{Nodes: 1, Limit: 60, Runs: 10, Hold: true, Comment: "ep=1x10s"})
		byRoot := w.submit(JobSpec{Nodes: 1, Limit: 60, Runs: 10, Managed: true, Comment: "ep=1x10s"})
		w.at(1)
		w.shows(byUser, "pending JobHeldUser")
		w.shows(byRoot, "pending JobHeldAdmin")
		w.must(w.Adopt(w.ctx, byUser))
		w.shows(byUser, "pending JobHeldAdmin")
		seen, err := w.Inspect(w.ctx, byUser)
		w.must(err)
		if seen.Mark != adapter.MarkPrefix+"ep=1x10s" || seen.HeldByUser || !seen.Held {
			t.Errorf("adopted: %+v", seen)
		}
		w.must(w.Release(w.ctx, byUser))
		w.must(w.Release(w.ctx, byUser)) // a repeated call does no harm
		w.at(2)
		w.shows(byUser, "running n1")
		w.mustBe(w.Hold(w.ctx, byUser), adapter.ErrGone)
		w.mustBe(w.Adopt(w.ctx, byUser), adapter.ErrGone)
	})
}

func TestAJobGrowsAndShrinksAsManagedOnesDo(t *testing.T) {
	inWorld(t, Options{Nodes: 6}, func(w *world) {
		j := w.submit(JobSpec{Nodes: 2, Limit: 100, Managed: true, Comment: "ep=2x20s,5x20s,3x20s", Runs: 60})
		w.reserve("accordion-1", "ada", 0, 130, "n2", "n3")
		w.must(w.Shape(w.ctx, j, adapter.Shape{Nodes: 2, Limit: 90}))
		w.must(w.Attach(w.ctx, j, "accordion-1"))
		w.must(w.Release(w.ctx, j))
		w.shows(j, "running n2,n3")
		w.mustBe(w.Unreserve(w.ctx, "accordion-1"), adapter.ErrBusy) // the job runs in it
		w.must(w.Detach(w.ctx, j))
		w.must(w.Unreserve(w.ctx, "accordion-1"))
		w.must(w.Unreserve(w.ctx, "accordion-1"))

		w.reserve("accordion-1-2", "ada", 20, 140, "n1", "n4", "n6")
		running, err := w.Inspect(w.ctx, j)
		w.must(err)
		_, err = w.Expand(w.ctx, running, []string{"n1", "n4", "n6"}, "accordion-1-2")
		w.mustBe(err, adapter.ErrBusy) // the reservation has not begun
		w.at(20)
		e, err := w.Expand(w.ctx, running, []string{"n1", "n4", "n6"}, "accordion-1-2")
		w.must(err)
		w.shows(e, "running n1,n4,n6")
		w.must(w.Merge(w.ctx, j, e))
		w.must(w.Merge(w.ctx, j, e))
		w.shows(j, "running n2,n1,n3,n4,n6")
		w.shows(e, "done COMPLETED")
		w.must(w.Unreserve(w.ctx, "accordion-1-2"))

		w.at(40)
		if err := w.Shrink(w.ctx, j, []string{"n1", "n4", "n6"}); err == nil || !strings.Contains(err.Error(), "batch host n2") {
			t.Errorf("giving back the batch host: %v", err)
		}
		w.must(w.Shrink(w.ctx, j, []string{"n2", "n4", "n6"}))
		w.must(w.Shrink(w.ctx, j, []string{"n2", "n4", "n6"}))
		w.shows(j, "running n2,n4,n6")
		w.at(61)
		want := "1: n2 0-60 n3 0-40 n1 20-40 n4 20-60 n6 20-60\n"
		if got := w.history(); got != want {
			t.Errorf("history: %swant: %s", got, want)
		}
	})
}

func TestAJobEndsWithTheReservationItIsTiedTo(t *testing.T) {
	for _, detached := range []bool{false, true} {
		inWorld(t, Options{Nodes: 2, Sweep: 30 * time.Second}, func(w *world) {
			w.reserve("accordion-1", "ada", 0, 40, "n1")
			j := w.submit(JobSpec{Nodes: 1, Limit: 200, Hold: true, Comment: "ep=1x200s"})
			w.must(w.Attach(w.ctx, j, "accordion-1"))
			w.must(w.Release(w.ctx, j))
			w.at(10)
			want := "done TIMEOUT"
			if detached {
				w.must(w.Detach(w.ctx, j))
				want = "running n1"
			}
			w.at(59)
			w.shows(j, "running n1") // the first sweep is at second 60
			w.at(60)
			w.shows(j, want)
		})
	}
}

func TestAJobThatWaitsForAReservationThatEndsIsHeld(t *testing.T) {
	inWorld(t, Options{Nodes: 2}, func(w *world) {
		w.submit(JobSpec{Nodes: 2, Limit: 30, Runs: 30})
		w.at(1)
		w.reserve("accordion-2", "ada", 30, 40, "n1")
		j := w.submit(JobSpec{Nodes: 2, Limit: 20})
		w.must(w.Attach(w.ctx, j, "accordion-2")) // the job never fits into this reservation
		w.at(39)
		w.shows(j, "pending Reservation")
		w.at(40)
		w.shows(j, "pending JobHeldAdmin")
	})
}

func TestReserveFailsIfNodesAreNotFree(t *testing.T) {
	ordinary := JobSpec{Nodes: 1, Limit: 100, Runs: 90}
	managed := JobSpec{Nodes: 1, Limit: 100, Runs: 90, Managed: true, Comment: "ep=1x100s"}
	for _, c := range []struct {
		name        string
		holder      JobSpec
		from        core.Time
		overManaged bool
		free        bool
	}{
		{"the holder's limit ends after its start", ordinary, 99, false, false},
		{"the holder's limit ends at its start", ordinary, 100, false, true},
		{"an ordinary holder stays in the way whatever is said", ordinary, 99, true, false},
		{"a managed holder is in the way", managed, 50, false, false},
		{"a managed holder that will have given back is not", managed, 50, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, Options{Nodes: 2}, func(w *world) {
				j := w.submit(c.holder)
				w.must(w.Release(w.ctx, j))
				w.at(0)
				w.shows(j, "running n1")
				r := w.reservationOf("accordion-9", "bob", c.from, 300, "n1", "n2")
				r.OverManaged = c.overManaged
				err := w.Reserve(w.ctx, r)
				if c.free {
					w.must(err)
				} else {
					w.mustBe(err, adapter.ErrBusy)
				}
			})
		})
	}
}

func TestLimitsCountFromWholeSeconds(t *testing.T) {
	inWorld(t, Options{Nodes: 1}, func(w *world) {
		time.Sleep(700 * time.Millisecond)
		j := w.submit(JobSpec{Nodes: 1, Limit: 10})
		seen, err := w.Inspect(w.ctx, j)
		w.must(err)
		w.must(w.Reserve(w.ctx, adapter.Reservation{
			Name: "accordion-2", User: "bob", Nodes: []string{"n1"}, Start: seen.Started + seen.Limit, End: w.unix(60),
		}))
		w.at(10)
		w.shows(j, "done TIMEOUT")
	})
}

func TestReservationsDoNotOverlapAndCanBeChanged(t *testing.T) {
	inWorld(t, Options{Nodes: 3}, func(w *world) {
		w.reserve("a", "ada", 0, 100, "n1", "n2")
		w.mustBe(w.Reserve(w.ctx, w.reservationOf("b", "bob", 99, 200, "n2", "n3")), adapter.ErrBusy)
		w.reserve("b", "bob", 100, 200, "n2", "n3") // this reservation begins when the other ends
		w.at(10)
		w.reserve("a", "ada", 50, 90, "n1") // the reservation is active, so this changes its end but not its start
		snap, err := w.Observe(w.ctx)
		w.must(err)
		a := snap.Reservations[0]
		if a.Start != w.unix(0) || a.End != w.unix(90) || !slices.Equal(a.Nodes, []string{"n1"}) {
			t.Errorf("changed reservation: %+v", a)
		}
	})
}

func TestOnlyItsUserRunsInAReservation(t *testing.T) {
	inWorld(t, Options{Nodes: 1}, func(w *world) {
		w.reserve("accordion-1", "bob", 0, 100, "n1")
		j := w.submit(JobSpec{Nodes: 1, Limit: 10})
		if err := w.Attach(w.ctx, j, "accordion-1"); err == nil || !strings.Contains(err.Error(), "for user bob") {
			t.Errorf("attach to another user's reservation: %v", err)
		}
	})
}

func TestLimitsAreEnforcedAtTheSweepAndNodesComeFreeAfterTheEpilog(t *testing.T) {
	inWorld(t, Options{Nodes: 1, Sweep: 30 * time.Second, Epilog: 5 * time.Second}, func(w *world) {
		j := w.submit(JobSpec{Nodes: 1, Limit: 31})
		w.at(59)
		w.shows(j, "running n1")
		w.at(60)
		w.shows(j, "ending n1")
		w.at(65)
		w.shows(j, "done TIMEOUT")
		if got, want := w.history(), "1: n1 0-65\n"; got != want {
			t.Errorf("history %q, want %q", got, want)
		}
	})
}

func TestSchedulingPassComesAfterADelay(t *testing.T) {
	inWorld(t, Options{Nodes: 1, PassDelay: 3 * time.Second}, func(w *world) {
		j := w.submit(JobSpec{Nodes: 1, Limit: 10, Runs: 5})
		w.at(2)
		w.shows(j, "pending None")
		w.at(3)
		w.shows(j, "running n1")
	})
}

func TestMergingIntoAFinishedJobLeavesTheExpander(t *testing.T) {
	inWorld(t, Options{Nodes: 2}, func(w *world) {
		j := w.submit(JobSpec{Nodes: 1, Limit: 100})
		running, err := w.Inspect(w.ctx, j)
		w.must(err)
		e, err := w.Expand(w.ctx, running, []string{"n2"}, "")
		w.must(err)
		w.must(w.Cancel(j))
		w.mustBe(w.Merge(w.ctx, j, e), adapter.ErrGone)
		w.shows(e, "running n2")
		w.must(w.End(w.ctx, e, "its job is over"))
		w.must(w.End(w.ctx, e, "its job is over"))
		w.shows(e, "done CANCELLED")
	})
}

func TestLosingANodeEndsOrRequeuesItsJob(t *testing.T) {
	inWorld(t, Options{Nodes: 3}, func(w *world) {
		shaped := w.submit(JobSpec{Nodes: 1, Limit: 100, Requeue: true, Managed: true, Comment: "ep=1x100s"})
		w.must(w.Shape(w.ctx, shaped, adapter.Shape{Nodes: 1, Limit: 100}))
		w.must(w.Release(w.ctx, shaped))
		ordinary := w.submit(JobSpec{Nodes: 1, Limit: 100, Requeue: true})
		w.at(10)
		w.must(w.DrainNode("n3"))
		w.must(w.KillNode("n1"))
		w.must(w.KillNode("n2"))
		w.shows(shaped, "done NODE_FAIL")
		w.shows(ordinary, "pending Resources")
		w.at(20)
		w.must(w.ReviveNode("n3"))
		w.shows(ordinary, "running n3")
		w.must(w.DrainNode("n3"))
		w.shows(ordinary, "running n3")
		snap, err := w.Observe(w.ctx)
		w.must(err)
		var got []string
		for _, n := range snap.Nodes {
			got = append(got, n.Why)
		}
		if want := []string{"down", "down", "draining"}; !slices.Equal(got, want) {
			t.Errorf("nodes are %v, want %v", got, want)
		}
	})
}

func TestAScriptAsksForItsStepsAndEndsTheJob(t *testing.T) {
	inWorld(t, Options{Nodes: 3}, func(w *world) {
		var asked []wire.Request
		w.SetStep(func(_ context.Context, uid uint32, r wire.Request) (wire.Reply, error) {
			asked = append(asked, r)
			if uid != 1000 {
				t.Errorf("uid %d asks", uid)
			}
			return wire.Reply{Status: wire.Resized, Nodes: "n[1-2]", Count: 2, Step: 2}, nil
		})
		j := w.submit(JobSpec{Nodes: 1, UID: 1000, Limit: 100, Script: Phases(20*time.Second, 15*time.Second)})
		w.at(34)
		w.shows(j, "running n1")
		w.at(36)
		w.shows(j, "done COMPLETED")
		if len(asked) != 1 || asked[0].Job != int64(j.ID) || asked[0].Version != wire.Version {
			t.Errorf("asked %+v, want once, for job %d", asked, j.ID)
		}
		output := w.Jobs()[0].Output
		if len(output) != 1 || !strings.Contains(output[0], "n[1-2]") {
			t.Errorf("output %q does not tell of the step", output)
		}
	})
}

func TestScriptOfAnEndedJobIsCanceledAndCannotEndItAgain(t *testing.T) {
	inWorld(t, Options{Nodes: 1}, func(w *world) {
		var told error
		j := w.submit(JobSpec{Nodes: 1, Limit: 100, Script: func(ctx context.Context, h *Handle) error {
			told = h.Work(ctx, time.Hour)
			return told
		}})
		w.at(100)
		w.at(101)
		w.shows(j, "done TIMEOUT")
		if !errors.Is(told, context.Canceled) {
			t.Errorf("the script heard %v", told)
		}
	})
}

func TestFaultsRefuseDelayAndLoseAnswers(t *testing.T) {
	refusal, lost := errors.New("no"), errors.New("connection lost")
	faults := map[string]Fault{
		"Shape":   {Refuse: refusal},
		"Release": {Lose: lost},
		"Hold":    {Delay: 10 * time.Second},
	}
	o := Options{Nodes: 1, Faults: func(c Call) Fault { return faults[c.Verb] }}
	inWorld(t, o, func(w *world) {
		j := w.submit(JobSpec{Nodes: 1, Limit: 100, Hold: true})
		w.mustBe(w.Shape(w.ctx, j, adapter.Shape{Nodes: 1, Limit: 5}), refusal)
		ctx, cancel := context.WithTimeout(w.ctx, 5*time.Second)
		defer cancel()
		w.mustBe(w.Hold(ctx, j), context.DeadlineExceeded)
		if passed := time.Since(w.begin); passed != 5*time.Second {
			t.Errorf("the deadline was waited for %v, want 5s", passed)
		}
		w.shows(j, "pending JobHeldUser")
		w.mustBe(w.Release(w.ctx, j), lost)
		w.shows(j, "running n1")
		seen, err := w.Inspect(w.ctx, j)
		w.must(err)
		if seen.Limit != 100 {
			t.Errorf("the refused shape was applied: limit %d", seen.Limit)
		}
	})
}

func TestInvalidSubmissionIsRefusedWithAReason(t *testing.T) {
	for _, c := range []struct {
		spec JobSpec
		want string
	}{
		{JobSpec{Nodes: 1, Limit: 1}, "no user"},
		{JobSpec{User: "ada", Limit: 1}, "0 nodes on a machine of 2"},
		{JobSpec{User: "ada", Nodes: 3, Limit: 1}, "3 nodes on a machine of 2"},
		{JobSpec{User: "ada", Nodes: 1}, "limit of 0 seconds"},
		{JobSpec{User: "ada", Nodes: 1, Limit: core.Forever - 1}, "limit of"},
		{JobSpec{User: "ada", Nodes: 1, Limit: 1, Managed: true}, "without a request"},
	} {
		inWorld(t, Options{Nodes: 2}, func(w *world) {
			if _, err := w.Submit(c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v, want %q", c.spec, err, c.want)
			}
		})
	}
	for _, o := range []Options{{}, {Nodes: MaxNodes + 1}, {Nodes: 1, Sweep: -1}} {
		if _, err := New(o); err == nil {
			t.Errorf("New(%+v) is no error", o)
		}
	}
}

func TestABatchSystemOnAQuickClockLeavesNothingBehind(t *testing.T) {
	clock := adapter.Quick{Begin: time.Now(), Factor: 1000}
	s, err := New(Options{Nodes: 2, Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Submit(JobSpec{User: "ada", Nodes: 2, Limit: 600, Script: Phases(20 * time.Second)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Quiet(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := s.Jobs()[0]; r.State != adapter.Done || len(r.Spans) != 2 {
		t.Errorf("the job's record: %+v", r)
	}
}
