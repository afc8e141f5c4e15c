package embedded

import (
	"context"
	"testing"
	"time"

	"accordion/adapter"
)

// losing saves the state, calls `changes`, and restarts the batch system with the saved state five
// seconds after the saving.
func (w *world) losing(changes func()) {
	saved := w.Save()
	begin := time.Now()
	changes()
	time.Sleep(5*time.Second - time.Since(begin))
	w.Restart(saved)
}

var prompt = Options{Nodes: 4}

func TestARestartForgetsASubmissionAndUsesItsIDAgain(t *testing.T) {
	inWorld(t, prompt, func(w *world) {
		var lost adapter.Key
		w.losing(func() { lost = w.submit(JobSpec{Nodes: 1, Limit: 60, Runs: 60}) })
		if _, err := w.Inspect(w.ctx, lost); err == nil {
			t.Error("the lost job is still known")
		}
		again := w.submit(JobSpec{Nodes: 2, Limit: 60, Runs: 60})
		if again.ID != lost.ID || again == lost {
			t.Errorf("the next job is %+v after a lost %+v, want the same id and another key", again, lost)
		}
		w.must(w.Quiet(w.ctx))
		if got, want := w.history(), "1: n1 0-5\n1: n1 5-65 n2 5-65\n"; got != want {
			t.Errorf("history is %q, want %q", got, want)
		}
	})
}

func TestARestartTakesAStartBackAndTheJobStartsAgain(t *testing.T) {
	inWorld(t, prompt, func(w *world) {
		starts := 0
		job := w.submit(JobSpec{Nodes: 1, Limit: 60, Hold: true, Script: func(ctx context.Context, h *Handle) error {
			starts++
			return h.Work(ctx, 10*time.Second)
		}})
		w.losing(func() { w.must(w.Release(w.ctx, job)) })
		w.shows(job, "pending JobHeldUser")
		w.must(w.Release(w.ctx, job))
		w.must(w.Quiet(w.ctx))
		if got, want := w.history(), "1: n1 0-5 n1 5-15\n"; got != want || starts != 2 {
			t.Errorf("history is %q after %d starts, want %q after 2", got, starts, want)
		}
	})
}

func TestARestartKeepsTheEndsOfJobs(t *testing.T) {
	inWorld(t, prompt, func(w *world) {
		job := w.submit(JobSpec{Nodes: 2, Limit: 60, Runs: 3})
		w.losing(func() {})
		w.shows(job, "done COMPLETED")
		if snapshot, err := w.Observe(w.ctx); err != nil || !snapshot.Nodes[0].Idle {
			t.Errorf("its nodes are not free: %+v, %v", snapshot.Nodes, err)
		}
	})
}

func TestARestartUndoesResizesAndWhatWasMergedCannotBeMergedAgain(t *testing.T) {
	inWorld(t, prompt, func(w *world) {
		job := w.submit(JobSpec{Nodes: 2, Limit: 600, Runs: 600})
		parent := &adapter.Job{Key: job}
		var expander adapter.Key
		w.losing(func() {
			var err error
			expander, err = w.Expand(w.ctx, parent, []string{"n3"}, "")
			w.must(err)
			w.must(w.Merge(w.ctx, job, expander))
			w.shows(job, "running n1,n2,n3")
		})
		w.shows(job, "running n1,n2")

		expander, err := w.Expand(w.ctx, parent, []string{"n3"}, "")
		w.must(err)
		w.losing(func() { w.must(w.Merge(w.ctx, job, expander)) })
		w.shows(job, "running n1,n2")
		w.shows(expander, "running n3")
		if err := w.Merge(w.ctx, job, expander); err == nil {
			t.Error("an expander from before a restart was merged")
		}
		w.must(w.End(w.ctx, expander, "stale"))

		w.losing(func() { w.must(w.Shrink(w.ctx, job, []string{"n1"})) })
		w.shows(job, "running n1,n2")
		if err := audit(w.Jobs()); err != nil {
			t.Error(err)
		}
	})
}

func TestARestartBringsReservationsBack(t *testing.T) {
	inWorld(t, prompt, func(w *world) {
		w.reserve("accordion-1-1", "ada", 10, 60, "n1")
		w.losing(func() {
			w.must(w.Unreserve(w.ctx, "accordion-1-1"))
			w.reserve("accordion-1-2", "ada", 10, 60, "n2")
		})
		snapshot, err := w.Observe(w.ctx)
		w.must(err)
		if r := snapshot.Reservations; len(r) != 1 || r[0].Name != "accordion-1-1" {
			t.Errorf("reservations are %+v, want the first only", r)
		}
	})
}

func TestANodeThatWentDownStaysDownOverARestart(t *testing.T) {
	inWorld(t, prompt, func(w *world) {
		job := w.submit(JobSpec{Nodes: 2, Limit: 600, Runs: 600, Requeue: true})
		w.losing(func() { w.must(w.KillNode("n2")) })
		if r := w.Jobs()[0]; r.Key != job || r.State != adapter.Done || r.Why != "NODE_FAIL" {
			t.Errorf("the job that ran there is %s (%s), want done, NODE_FAIL", r.State, r.Why)
		}
	})
}
