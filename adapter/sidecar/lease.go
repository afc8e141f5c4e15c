package sidecar

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

// lease keeps the cluster's lease: it is taken before anything is done, renewed long before it runs out, and left at the end.
// Without it nothing is done.
type lease struct {
	Lease    // without a Leaser there is none, and all may be done
	notes    *notes
	crew     *crew
	term     *act.Term
	deadline time.Duration

	renewing bool
	next     time.Time // when it is renewed
	lacking  bool      // it ran out, as last said
	answered chan renewal
}

// renewal is how asking for the lease ended.
type renewal struct {
	begun time.Time
	err   error
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
func (l *lease) every(part int) time.Duration { return l.Claim.Length / time.Duration(part) }

// take takes the lease before anything is done. The error is an *adapter.Leased while another sidecar has it.
func (l *lease) take(ctx context.Context) error {
	if l.Leaser == nil {
		return nil
	}
	for try := 1; ; try++ {
		begun := l.notes.clock.Now()
		err := l.ask(ctx, l.Leaser.TakeLease)
		if err == nil {
			l.granted(begun)
			return nil
		}
		other := (*adapter.Leased)(nil)
		if !errors.As(err, &other) || !other.Ended(l.notes.clock.Now()) || try == takeTries {
			return err
		}
		if try == 1 {
			l.notes.info("waits until the batch system drops a lease that has run out", "of", other.Holder.String())
		}
		select {
		case <-l.notes.clock.After(takePause):
		case <-ctx.Done():
			return err
		}
	}
}

// ask calls the batch system, with a deadline by which there is time for another try.
func (l *lease) ask(ctx context.Context, call func(context.Context, adapter.Claim) error) error {
	ctx, cancel := context.WithTimeout(ctx, min(l.deadline, l.every(renewAfter)))
	defer cancel()
	return call(ctx, l.Claim)
}

// granted notes that the lease is ours, which was asked for at begun.
func (l *lease) granted(begun time.Time) {
	l.term.Renew(begun, l.Claim.Length-l.every(reserve))
	l.next, l.Claim.Over = begun.Add(l.every(renewAfter)), false
}

// tend renews the lease beside the loop, when it is time.
func (l *lease) tend(ctx context.Context) {
	if l.Leaser == nil || l.renewing || l.notes.clock.Now().Before(l.next) {
		return
	}
	l.renewing = true
	l.crew.Go(func() {
		begun := l.notes.clock.Now()
		l.answered <- renewal{begun, l.ask(ctx, l.Leaser.RenewLease)}
	})
}

// hear takes in how a renewal ended. Its error is that another sidecar has the lease: this one has to end.
func (l *lease) hear(r renewal) error {
	l.renewing = false
	if other := (*adapter.Leased)(nil); errors.As(r.err, &other) {
		l.term.End()
		return r.err
	}
	if r.err == nil {
		l.granted(r.begun)
		return nil
	}
	l.next = l.notes.clock.Now().Add(l.every(tryAgain))
	l.notes.warn("the lease was not renewed, which is tried again", "error", r.err)
	return nil
}

// held says whether anything may be done now, and writes down when that changes.
func (l *lease) held() (bool, error) {
	if l.Leaser == nil {
		return true, nil
	}
	lacks := l.term.Left() <= 0
	if lacks == l.lacking {
		return !lacks, nil
	}
	l.lacking = lacks
	if lacks {
		l.notes.warn("the lease could not be renewed in time: nothing is done until it is")
		return false, l.notes.remark("unleased", "the lease could not be renewed in time: nothing is done until it is", nil)
	}
	l.notes.info("the lease is held again")
	return true, l.notes.remark("leased", "the lease is held again", nil)
}

// anew is for a clock that was set, and for a machine that slept: the lease may be over.
func (l *lease) anew() { l.next = l.notes.clock.Now() }

// pause is how long nothing needs to be done about the lease, if that is less than the given time.
func (l *lease) pause(most time.Duration) time.Duration {
	if l.Leaser == nil || l.renewing {
		return most
	}
	return min(most, max(l.next.Sub(l.notes.clock.Now()), 5*time.Millisecond))
}

// leave gives the lease to whoever comes next, once nothing is under way any more.
func (l *lease) leave() {
	if l.Leaser == nil {
		return
	}
	l.term.End()
	ctx, cancel := context.WithTimeout(context.Background(), min(l.deadline, l.every(renewAfter)))
	defer cancel()
	if err := l.Leaser.LeaveLease(ctx, l.Claim.Holder); err != nil {
		l.notes.warn(fmt.Sprintf("the lease could not be given up: it ends by itself within %v", l.Claim.Length), "error", err)
	}
}
