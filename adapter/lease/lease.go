// Package lease keeps the lease of the one sidecar of a cluster: it is taken before anything is done, renewed long before it runs out, and
// left at the end. Without it nothing is done. Who has it is written in the batch system (adapter.Leaser), so that sidecars on other
// hosts see it; this package has no state but when it was last granted, and is called by the sidecar's loop alone.
//
//	keeper := lease.New(lease.Lease{Leaser: system, Claim: claim}, notes, clock, 30*time.Second, crew.Go)
//	err := keeper.Take(ctx) // an *adapter.Leased while another sidecar has it
package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/act"
)

// Lease is how the sidecar makes sure that it is the only one, whatever host another runs on. The zero one is none.
type Lease struct {
	Leaser adapter.Leaser
	Claim  adapter.Claim
}

// Notes is what is written down: for operators, and in the journal.
type Notes interface {
	Info(text string, args ...any)
	Warn(text string, args ...any)
	Remark(kind, text string, fields map[string]any) error
}

// Keeper keeps a lease. Its methods are for one goroutine.
type Keeper struct {
	// Term is how long acts may go on; nil without a lease.
	Term *act.Term
	// Answered tells how asking anew has ended, for Hear.
	Answered chan Renewal

	lease    Lease // without a Leaser there is none, and all may be done
	notes    Notes
	clock    adapter.Clock
	deadline time.Duration // of a call to the batch system
	beside   func(func())  // runs beside the loop

	renewing bool
	next     time.Time // when it is renewed
	lacking  bool      // it ran out, as last said
}

// Renewal is how asking for the lease ended.
type Renewal struct {
	begun time.Time
	err   error
}

// New makes a keeper that calls the batch system beside its caller by the given function, a call within the deadline.
func New(l Lease, notes Notes, clock adapter.Clock, deadline time.Duration, beside func(func())) *Keeper {
	k := &Keeper{lease: l, notes: notes, clock: clock, deadline: deadline, beside: beside, Answered: make(chan Renewal, 1)}
	if l.Leaser != nil {
		k.Term = &act.Term{Clock: clock}
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
func (k *Keeper) every(part int) time.Duration { return k.lease.Claim.Length / time.Duration(part) }

// Take takes the lease before anything is done. The error is an *adapter.Leased while another sidecar has it.
func (k *Keeper) Take(ctx context.Context) error {
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
			k.notes.Info("waits until the batch system drops a lease that has run out", "of", other.Holder.String())
		}
		select {
		case <-k.clock.After(takePause):
		case <-ctx.Done():
			return err
		}
	}
}

// ask calls the batch system, with a deadline by which there is time for another try.
func (k *Keeper) ask(ctx context.Context, call func(context.Context, adapter.Claim) error) error {
	ctx, cancel := context.WithTimeout(ctx, min(k.deadline, k.every(renewAfter)))
	defer cancel()
	return call(ctx, k.lease.Claim)
}

// granted notes that the lease is ours, which was asked for at begun.
func (k *Keeper) granted(begun time.Time) {
	k.Term.Renew(begun, k.lease.Claim.Length-k.every(reserve))
	k.next, k.lease.Claim.Over = begun.Add(k.every(renewAfter)), false
}

// Tend renews the lease beside the loop, when it is time.
func (k *Keeper) Tend(ctx context.Context) {
	if k.lease.Leaser == nil || k.renewing || k.clock.Now().Before(k.next) {
		return
	}
	k.renewing = true
	k.beside(func() {
		begun := k.clock.Now()
		k.Answered <- Renewal{begun, k.ask(ctx, k.lease.Leaser.RenewLease)}
	})
}

// Hear takes in how a renewal ended. Its error is that another sidecar has the lease: this one has to end.
func (k *Keeper) Hear(r Renewal) error {
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
	k.notes.Warn("the lease was not renewed, which is tried again", "error", r.err)
	return nil
}

// Held says whether anything may be done now, and writes down when that changes.
func (k *Keeper) Held() (bool, error) {
	if k.lease.Leaser == nil {
		return true, nil
	}
	lacks := k.Term.Left() <= 0
	if lacks == k.lacking {
		return !lacks, nil
	}
	k.lacking = lacks
	if lacks {
		k.notes.Warn("the lease could not be renewed in time: nothing is done until it is")
		return false, k.notes.Remark("unleased", "the lease could not be renewed in time: nothing is done until it is", nil)
	}
	k.notes.Info("the lease is held again")
	return true, k.notes.Remark("leased", "the lease is held again", nil)
}

// Anew is for a clock that was set, and for a machine that slept: the lease may be over.
func (k *Keeper) Anew() { k.next = k.clock.Now() }

// Pause is how long nothing needs to be done about the lease, if that is less than the given time.
func (k *Keeper) Pause(most time.Duration) time.Duration {
	if k.lease.Leaser == nil || k.renewing {
		return most
	}
	return min(most, max(k.next.Sub(k.clock.Now()), 5*time.Millisecond))
}

// Leave gives the lease to whoever comes next, once nothing is under way any more.
func (k *Keeper) Leave() {
	if k.lease.Leaser == nil {
		return
	}
	k.Term.End()
	ctx, cancel := context.WithTimeout(context.Background(), min(k.deadline, k.every(renewAfter)))
	defer cancel()
	if err := k.lease.Leaser.LeaveLease(ctx, k.lease.Claim.Holder, k.lease.Claim.Length); err != nil {
		k.notes.Warn(fmt.Sprintf("the lease could not be given up: it ends by itself within %v", k.lease.Claim.Length), "error", err)
	}
}
