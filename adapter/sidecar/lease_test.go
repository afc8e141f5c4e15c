package sidecar_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/sidecar"
)

// unreliableLeaser is a Leaser whose calls can fail.
type unreliableLeaser struct {
	adapter.Leaser
	failing atomic.Bool  // renewals fail
	left    atomic.Int32 // number of calls for which an expired lease still exists
	silent  atomic.Bool  // TakeLease succeeds, but its answer is lost
}

func (d *unreliableLeaser) TakeLease(ctx context.Context, c adapter.Claim) error {
	if d.left.Add(-1) >= 0 {
		return &adapter.LeaseHeldError{Holder: adapter.Holder{ID: "old", Until: time.Now().Unix() - 1}}
	}
	err := d.Leaser.TakeLease(ctx, c)
	if d.silent.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return err
}

func (d *unreliableLeaser) RenewLease(ctx context.Context, c adapter.Claim) error {
	if d.failing.Load() {
		return errors.New("no answer")
	}
	return d.Leaser.RenewLease(ctx, c)
}

// inLeasedWorld does what inWorld does, with a sidecar that has a lease of a minute.
func inLeasedWorld(t *testing.T, story func(w *world, d *unreliableLeaser)) {
	t.Helper()
	inWorld(t, slurmish, func(w *world) {
		w.halt()
		d := &unreliableLeaser{Leaser: w.System}
		w.lease = sidecar.Lease{Leaser: d, Claim: claim("ours")}
		w.serve()
		story(w, d)
	})
}

func claim(id string) adapter.Claim {
	return adapter.Claim{Holder: adapter.Holder{ID: id, Host: id}, Length: time.Minute}
}

// endsLeased waits until the sidecar ends because another one has the lease. Then it starts a
// sidecar without a lease, so that the world can end as inWorld expects.
func (w *world) endsLeased(other string) {
	w.t.Helper()
	err := <-w.stopped
	if got := (*adapter.LeaseHeldError)(nil); !errors.As(err, &got) || got.ID != other {
		w.t.Errorf("the sidecar ended with %v, want the lease of %s", err, other)
	}
	if err := w.journal.Close(); err != nil {
		w.t.Error(err)
	}
	w.lease = sidecar.Lease{}
	w.serve()
}

func TestASecondSidecarDoesNothing(t *testing.T) {
	inLeasedWorld(t, func(w *world, _ *unreliableLeaser) {
		w.halt()
		if got := w.LeaseOf(); got != "" {
			t.Errorf("after an orderly end the lease is %q's", got)
		}
		key := w.evolving("2x10s")
		other := claim("other")
		if err := w.TakeLease(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		w.serve()
		time.Sleep(10 * time.Second)
		if r := w.record(key); !r.Start.IsZero() || w.killing.count != 0 {
			t.Errorf("next to another sidecar it made %d calls, and the job started at %v", w.killing.count, r.Start)
		}
		w.endsLeased("other")
		w.quiet(120)
	})
}

func TestASidecarThatLosesItsLeaseToAnotherEnds(t *testing.T) {
	inLeasedWorld(t, func(w *world, _ *unreliableLeaser) {
		w.at(70) // the lease was renewed
		other := claim("other")
		other.Over = true
		if err := w.TakeLease(t.Context(), other); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		w.endsLeased("other")
		if took := time.Since(begin); took > 21*time.Second {
			t.Errorf("it ended after %v, want a third of a minute", took)
		}
	})
}

func TestASidecarThatWasKilledTakesItsOwnLeaseBack(t *testing.T) {
	inLeasedWorld(t, func(w *world, _ *unreliableLeaser) {
		w.restart()
		key := w.evolving("2x10s")
		w.quiet(60)
		if r := w.record(key); r.Start.Sub(w.begin) > 15*time.Second {
			t.Errorf("the job began at %v", r.Start.Sub(w.begin))
		}
	})
}

func TestALeaseThatHasRunOutIsWaitedForUntilTheBatchSystemAgrees(t *testing.T) {
	inLeasedWorld(t, func(w *world, d *unreliableLeaser) {
		w.halt()
		d.left.Store(5)
		w.serve()
		w.at(5)
		if got := w.LeaseOf(); got != "" {
			t.Errorf("at second 5 the lease is %q's", got)
		}
		w.at(15)
		if got := w.LeaseOf(); got != "ours" {
			t.Errorf("at second 15 the lease is %q's", got)
		}
	})
}

func TestASidecarThatEndsWhileItAsksForTheLeaseLeavesNone(t *testing.T) {
	inLeasedWorld(t, func(w *world, d *unreliableLeaser) {
		w.halt()
		d.silent.Store(true)
		w.serve()
		w.at(5)
		if got := w.LeaseOf(); got != "ours" {
			t.Errorf("while the answer is on its way the lease is %q's", got)
		}
		w.halt()
		if got := w.LeaseOf(); got != "" {
			t.Errorf("the sidecar ended, and the lease is still %q's", got)
		}
		d.silent.Store(false)
		w.serve()
	})
}

func TestNothingIsDoneWhileTheLeaseCannotBeRenewed(t *testing.T) {
	inLeasedWorld(t, func(w *world, d *unreliableLeaser) {
		w.at(21) // renewed at 20
		d.failing.Store(true)
		w.at(50)
		early := w.evolving("2x10s")
		w.at(66) // three quarters of a minute later
		late := w.evolving("2x10s")
		w.at(100)
		if r := w.record(early); r.Start.IsZero() {
			t.Error("the lease was held when the first job came, and it did not begin")
		}
		if r := w.record(late); !r.Start.IsZero() {
			t.Errorf("the lease had run out, and a job was begun at %v", r.Start.Sub(w.begin))
		}
		d.failing.Store(false)
		w.at(106) // the renewal is tried every five seconds
		synctest.Wait()
		if got := w.LeaseOf(); got != "ours" {
			t.Errorf("the batch system answers again, and the lease is %q's", got)
		}
		w.quiet(200)
		counts := map[string]int{}
		for e, err := range w.journal.Entries(0) {
			if err != nil {
				t.Fatal(err)
			}
			counts[e.Verb]++
		}
		if counts["unleased"] != 1 || counts["leased"] != 1 {
			t.Errorf("the journal has %d events unleased and %d leased, want one each", counts["unleased"], counts["leased"])
		}
	})
}
