package sidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
)

// A Lease makes sure that no other sidecar serves the cluster, on any host. The zero Lease does not
// make sure of that.
type Lease struct {
	Leaser adapter.Leaser
	Claim  adapter.Claim
}

// A leaseLog writes into the log and, with Remark, into the journal.
type leaseLog interface {
	Info(text string, args ...any)
	Warn(text string, args ...any)
	Remark(kind, text string, fields map[string]any) error
}

// A leaseKeeper holds the lease of the cluster's only sidecar. It takes the lease before anything
// is done, renews it long before it ends, and releases it when the sidecar ends. Without the lease
// the sidecar does nothing. The batch system stores the lease (adapter.Leaser), so that sidecars on
// other hosts see it. Only the sidecar's loop calls the methods.
type leaseKeeper struct {
	// term is the time in which calls may be made; nil if there is no lease.
	term *actions.Term
	// answers receives the results of renewals, for renewed.
	answers chan renewal

	lease      Lease // without a Leaser there is no lease, and calls may always be made
	eventLog   leaseLog
	clock      adapter.Clock
	deadline   time.Duration // deadline of a call of the batch system
	background func(func())  // runs a function in another goroutine

	renewing bool
	next     time.Time // when the lease is renewed
	lacking  bool      // the journal has an event that the lease ran out
}

// A renewal is the result of a request to renew the lease.
type renewal struct {
	begun time.Time
	err   error
}

// newLeaseKeeper returns a keeper that runs its calls with `background`. Each call has the given
// deadline.
func newLeaseKeeper(l Lease, events leaseLog, clock adapter.Clock, deadline time.Duration, background func(func())) *leaseKeeper {
	k := &leaseKeeper{lease: l, eventLog: events, clock: clock, deadline: deadline, background: background, answers: make(chan renewal, 1)}
	if l.Leaser != nil {
		k.term = &actions.Term{Clock: clock}
	}
	return k
}

// The lease is renewed after a third of its length. No call is made in the last quarter of the
// lease, because clocks differ, and because the batch system may still carry out a canceled call.
// The constants are divisors of the lease's length.
const (
	renewAfter = 3
	reserve    = 4
	tryAgain   = 12 // the pause after a failure
)

// takePause is the pause between two tries to take a lease that has run out by this host's clock,
// but not yet by the batch system's. Slurm looks for expired leases every 30 s. takeTries bounds
// the number of tries.
const (
	takePause = 2 * time.Second
	takeTries = 45
)

// every returns the lease's length divided by `part`.
func (k *leaseKeeper) every(part int) time.Duration {
	return k.lease.Claim.Length / time.Duration(part)
}

// take takes the lease before the sidecar does anything. The error is an *adapter.LeaseHeldError if
// another sidecar has the lease.
func (k *leaseKeeper) take(ctx context.Context) error {
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
		other := (*adapter.LeaseHeldError)(nil)
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

// ask calls the batch system. The deadline of the call leaves time for another try before the lease
// ends.
func (k *leaseKeeper) ask(ctx context.Context, call func(context.Context, adapter.Claim) error) error {
	ctx, cancel := context.WithTimeout(ctx, min(k.deadline, k.every(renewAfter)))
	defer cancel()
	return call(ctx, k.lease.Claim)
}

// granted records that the sidecar holds the lease. The lease was requested at the instant `begun`.
func (k *leaseKeeper) granted(begun time.Time) {
	k.term.Renew(begun, k.lease.Claim.Length-k.every(reserve))
	k.next, k.lease.Claim.Over = begun.Add(k.every(renewAfter)), false
}

// renewIfDue renews the lease in another goroutine, when it is time.
func (k *leaseKeeper) renewIfDue(ctx context.Context) {
	if k.lease.Leaser == nil || k.renewing || k.clock.Now().Before(k.next) {
		return
	}
	k.renewing = true
	k.background(func() {
		begun := k.clock.Now()
		k.answers <- renewal{begun, k.ask(ctx, k.lease.Leaser.RenewLease)}
	})
}

// renewed evaluates the result of a renewal. It returns an error if another sidecar has the lease,
// because this sidecar then has to end.
func (k *leaseKeeper) renewed(r renewal) error {
	k.renewing = false
	if other := (*adapter.LeaseHeldError)(nil); errors.As(r.err, &other) {
		k.term.End()
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

// held reports whether calls may be made now, and writes an event into the journal when that
// changes.
func (k *leaseKeeper) held() (bool, error) {
	if k.lease.Leaser == nil {
		return true, nil
	}
	lacks := k.term.Left() <= 0
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

// renewNow renews the lease at the next renewIfDue, because the clock was set or the machine slept,
// so that the lease may have ended.
func (k *leaseKeeper) renewNow() { k.next = k.clock.Now() }

// pause returns the time until the lease is to be renewed, but at most the time `most`.
func (k *leaseKeeper) pause(most time.Duration) time.Duration {
	if k.lease.Leaser == nil || k.renewing {
		return most
	}
	return min(most, max(k.next.Sub(k.clock.Now()), 5*time.Millisecond))
}

// release releases the lease, so that another sidecar can take it. No call may be under way any
// more.
func (k *leaseKeeper) release() {
	if k.lease.Leaser == nil {
		return
	}
	k.term.End()
	ctx, cancel := context.WithTimeout(context.Background(), min(k.deadline, k.every(renewAfter)))
	defer cancel()
	if err := k.lease.Leaser.LeaveLease(ctx, k.lease.Claim.Holder, k.lease.Claim.Length); err != nil {
		k.eventLog.Warn(fmt.Sprintf("the lease could not be given up: it ends by itself within %v", k.lease.Claim.Length), "error", err)
	}
}
