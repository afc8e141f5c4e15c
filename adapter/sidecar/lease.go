package sidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
)

// Lease is how the sidecar makes sure that it is the only one, whatever host another runs on. The zero one is none.
type Lease struct {
	Leaser adapter.Leaser
	Claim  adapter.Claim
}

// A leaseLog takes what operators read, and what the journal keeps.
type leaseLog interface {
	Info(text string, args ...any)
	Warn(text string, args ...any)
	Remark(kind, text string, fields map[string]any) error
}

// A leaseKeeper keeps the lease of the one sidecar of a cluster. It takes the lease before anything is done, renews it long
// before it ends, and gives it up at the end. Without it the sidecar does nothing. The batch system keeps who holds it
// (adapter.Leaser), so sidecars on other hosts see it. The sidecar's loop alone calls its methods.
type leaseKeeper struct {
	// Term is how long acts may go on; nil without a lease.
	Term *actions.Term
	// Answered tells how asking anew has ended, for Hear.
	Answered chan renewal

	lease    Lease // without a Leaser there is none, and all may be done
	eventLog leaseLog
	clock    adapter.Clock
	deadline time.Duration // of a call to the batch system
	beside   func(func())  // runs beside the loop

	renewing bool
	next     time.Time // when it is renewed
	lacking  bool      // it ran out, as last said
}

// A renewal is how asking for the lease ended.
type renewal struct {
	begun time.Time
	err   error
}

// newLease returns a keeper. It calls the batch system by beside, each call within the deadline.
func newLease(l Lease, events leaseLog, clock adapter.Clock, deadline time.Duration, beside func(func())) *leaseKeeper {
	k := &leaseKeeper{lease: l, eventLog: events, clock: clock, deadline: deadline, beside: beside, Answered: make(chan renewal, 1)}
	if l.Leaser != nil {
		k.Term = &actions.Term{Clock: clock}
	}
	return k
}

// Of its length, the lease is renewed after a third, and no act goes on in the last quarter: that is for clocks that do not
// run alike, and for what an act that was given up may still do.
const (
	renewAfter = 3
	reserve    = 4
	tryAgain   = 12 // after a failure
)

// takePause is between two tries to take a lease that has run out by our clock, and not by the batch system's: Slurm looks for
// such every 30 s. takeTries bounds them.
const (
	takePause = 2 * time.Second
	takeTries = 45
)

// every is a part of the lease's length.
func (k *leaseKeeper) every(part int) time.Duration {
	return k.lease.Claim.Length / time.Duration(part)
}

// Take takes the lease before anything is done. The error is an *adapter.Leased while another sidecar has it.
func (k *leaseKeeper) Take(ctx context.Context) error {
	if k.lease.Leaser == nil {
		return nil
	}
	for try := 1; ; try++ {
		begun := k.clock.Now()
		err := k.ask(ctx, k.lease.Leaser.TakeLease)
		if err == nil {
			k.granted(begun)
			return nil
		}
		other := (*adapter.Leased)(nil)
		if !errors.As(err, &other) || !other.Ended(k.clock.Now()) || try == takeTries {
			return err
		}
		if try == 1 {
			k.eventLog.Info("waits until the batch system drops a lease that has run out", "of", other.Holder.String())
		}
		select {
		case <-k.clock.After(takePause):
		case <-ctx.Done():
			return err
		}
	}
}

// ask calls the batch system, with a deadline by which there is time for another try.
func (k *leaseKeeper) ask(ctx context.Context, call func(context.Context, adapter.Claim) error) error {
	ctx, cancel := context.WithTimeout(ctx, min(k.deadline, k.every(renewAfter)))
	defer cancel()
	return call(ctx, k.lease.Claim)
}

// granted notes that the lease is ours, which was asked for at begun.
func (k *leaseKeeper) granted(begun time.Time) {
	k.Term.Renew(begun, k.lease.Claim.Length-k.every(reserve))
	k.next, k.lease.Claim.Over = begun.Add(k.every(renewAfter)), false
}

// Tend renews the lease beside the loop, when it is time.
func (k *leaseKeeper) Tend(ctx context.Context) {
	if k.lease.Leaser == nil || k.renewing || k.clock.Now().Before(k.next) {
		return
	}
	k.renewing = true
	k.beside(func() {
		begun := k.clock.Now()
		k.Answered <- renewal{begun, k.ask(ctx, k.lease.Leaser.RenewLease)}
	})
}

// Hear takes in how a renewal ended. Its error is that another sidecar has the lease: this one has to end.
func (k *leaseKeeper) Hear(r renewal) error {
	k.renewing = false
	if other := (*adapter.Leased)(nil); errors.As(r.err, &other) {
		k.Term.End()
		return r.err
	}
	if r.err == nil {
		k.granted(r.begun)
		return nil
	}
	k.next = k.clock.Now().Add(k.every(tryAgain))
	k.eventLog.Warn("the lease was not renewed, which is tried again", "error", r.err)
	return nil
}

// Held says whether anything may be done now, and writes down when that changes.
func (k *leaseKeeper) Held() (bool, error) {
	if k.lease.Leaser == nil {
		return true, nil
	}
	lacks := k.Term.Left() <= 0
	if lacks == k.lacking {
		return !lacks, nil
	}
	k.lacking = lacks
	if lacks {
		k.eventLog.Warn("the lease could not be renewed in time: nothing is done until it is")
		return false, k.eventLog.Remark("unleased", "the lease could not be renewed in time: nothing is done until it is", nil)
	}
	k.eventLog.Info("the lease is held again")
	return true, k.eventLog.Remark("leased", "the lease is held again", nil)
}

// Anew is for a clock that was set, and for a machine that slept: the lease may be over.
func (k *leaseKeeper) Anew() { k.next = k.clock.Now() }

// Pause is how long nothing needs to be done about the lease, if that is less than the given time.
func (k *leaseKeeper) Pause(most time.Duration) time.Duration {
	if k.lease.Leaser == nil || k.renewing {
		return most
	}
	return min(most, max(k.next.Sub(k.clock.Now()), 5*time.Millisecond))
}

// Leave gives the lease to whoever comes next, once nothing is under way any more.
func (k *leaseKeeper) Leave() {
	if k.lease.Leaser == nil {
		return
	}
	k.Term.End()
	ctx, cancel := context.WithTimeout(context.Background(), min(k.deadline, k.every(renewAfter)))
	defer cancel()
	if err := k.lease.Leaser.LeaveLease(ctx, k.lease.Claim.Holder, k.lease.Claim.Length); err != nil {
		k.eventLog.Warn(fmt.Sprintf("the lease could not be given up: it ends by itself within %v", k.lease.Claim.Length), "error", err)
	}
}
