package sidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
)

// wallClock is the virtual clock of synctest.
type wallClock struct{}

func (wallClock) Now() time.Time                         { return time.Now() }
func (wallClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// A fakeLeaser answers as the test specifies, and records the calls.
type fakeLeaser struct {
	take, renew, leave func() error
	asked              []string
	left               time.Duration // time until the deadline of the last call
	claim              adapter.Claim
}

func (d *fakeLeaser) ask(ctx context.Context, name string, answer func() error) error {
	d.asked = append(d.asked, name)
	if end, ok := ctx.Deadline(); ok {
		d.left = time.Until(end)
	}
	if answer == nil {
		return nil
	}
	return answer()
}

func (d *fakeLeaser) TakeLease(ctx context.Context, c adapter.Claim) error {
	d.claim = c
	return d.ask(ctx, "take", d.take)
}

func (d *fakeLeaser) RenewLease(ctx context.Context, c adapter.Claim) error {
	d.claim = c
	return d.ask(ctx, "renew", d.renew)
}

func (d *fakeLeaser) LeaveLease(ctx context.Context, h adapter.Holder, keep time.Duration) error {
	d.claim.Holder = h
	return d.ask(ctx, fmt.Sprintf("leave %s for %v", h.ID, keep), d.leave)
}

// fakeLog keeps the kind and the text of each event.
type fakeLog struct {
	written []string
	fails   error
}

func (p *fakeLog) Info(text string, _ ...any) { p.written = append(p.written, "info "+text) }
func (p *fakeLog) Warn(text string, _ ...any) { p.written = append(p.written, "warn "+text) }
func (p *fakeLog) Remark(kind, text string, _ map[string]any) error {
	p.written = append(p.written, "journal "+kind)
	return p.fails
}

// wrote fails the test unless the texts written since the last call have these prefixes.
func (p *fakeLog) wrote(t *testing.T, want ...string) {
	t.Helper()
	if !slices.EqualFunc(p.written, want, strings.HasPrefix) {
		t.Errorf("written: %q, want %q", p.written, want)
	}
	p.written = nil
}

// withLeaseKeeper runs a test with a keeper of a lease of a minute. The keeper's calls have a
// deadline of ten seconds.
func withLeaseKeeper(t *testing.T, do func(t *testing.T, k *leaseKeeper, d *fakeLeaser, p *fakeLog)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d, p := &fakeLeaser{}, &fakeLog{}
		claim := adapter.Claim{Holder: adapter.Holder{ID: "me"}, Length: time.Minute, Over: true}
		do(t, newLeaseKeeper(Lease{d, claim}, p, wallClock{}, 10*time.Second, func(f func()) { go f() }), d, p)
	})
}

func TestALeaseIsRenewedAfterAThirdAndAfterAFailureInATwelfth(t *testing.T) {
	withLeaseKeeper(t, func(t *testing.T, k *leaseKeeper, d *fakeLeaser, p *fakeLog) {
		if err := k.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.left != 10*time.Second {
			t.Errorf("a call has %v, want its deadline", d.left)
		}
		// renewed returns the time until a renewal is requested.
		renewed := func() time.Duration {
			d.asked = nil
			begin := time.Now()
			for len(d.asked) == 0 && time.Since(begin) < 2*time.Minute {
				if got, want := k.pause(time.Hour), time.Until(k.next); got != max(want, 5*time.Millisecond) {
					t.Fatalf("%v before the renewal the pause is %v", want, got)
				}
				time.Sleep(k.pause(7 * time.Second))
				k.renewIfDue(t.Context())
				synctest.Wait()
			}
			return time.Since(begin)
		}
		if after := renewed(); after != 20*time.Second {
			t.Errorf("renewed after %v, want 20 s", after)
		}
		if d.claim.Over { // only the lease of an earlier sidecar may be taken over
			t.Error("the renewal takes over")
		}
		if k.renewIfDue(t.Context()); len(d.asked) != 1 {
			t.Error("it is renewed while it is being renewed")
		}
		if got := k.pause(time.Hour); got != time.Hour {
			t.Errorf("while it is renewed the pause is %v", got)
		}
		if err := k.renewed(<-k.answers); err != nil || k.term.Left() != 45*time.Second {
			t.Errorf("%v, %v left", err, k.term.Left())
		}
		d.renew = func() error { return errors.New("no answer") }
		if after := renewed(); after != 20*time.Second {
			t.Errorf("renewed after %v, want 20 s", after)
		}
		if err := k.renewed(<-k.answers); err != nil {
			t.Fatal(err)
		}
		p.wrote(t, "warn the lease was not renewed")
		if after := renewed(); after != 5*time.Second {
			t.Errorf("tried again after %v, want 5 s", after)
		}
		if err := k.renewed(<-k.answers); err != nil {
			t.Fatal(err)
		}
		k.renewNow()
		if got := k.pause(time.Hour); got != 5*time.Millisecond {
			t.Errorf("after the clock was set the pause is %v", got)
		}
		if got := k.pause(time.Millisecond); got != time.Millisecond {
			t.Errorf("the pause is longer than asked for: %v", got)
		}
	})
}

func TestACallHasAThirdOfAShortLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &fakeLeaser{}
		k := newLeaseKeeper(Lease{d, adapter.Claim{Length: 12 * time.Second}}, &fakeLog{}, wallClock{}, 10*time.Second, nil)
		if err := k.take(t.Context()); err != nil || d.left != 4*time.Second {
			t.Errorf("%v; a call has %v, want 4 s", err, d.left)
		}
		k.release()
		if d.left != 4*time.Second {
			t.Errorf("leaving has %v, want 4 s", d.left)
		}
	})
}

func TestASidecarWaitsForALeaseThatHasRunOutAndForNoOther(t *testing.T) {
	other := func(until time.Duration) error {
		return &adapter.LeaseHeldError{Holder: adapter.Holder{ID: "another", Until: time.Now().Add(until).Unix()}}
	}
	withLeaseKeeper(t, func(t *testing.T, k *leaseKeeper, d *fakeLeaser, p *fakeLog) {
		d.take = func() error { return other(time.Second) }
		leased := (*adapter.LeaseHeldError)(nil)
		if err := k.take(t.Context()); !errors.As(err, &leased) || len(d.asked) != 1 || k.term.Left() > 0 {
			t.Errorf("it lasts: %v after %v", err, d.asked)
		}
		d.take = func() error { return errors.New("no answer") }
		if err := k.take(t.Context()); err == nil || len(d.asked) != 2 {
			t.Errorf("another error: %v after %v", err, d.asked)
		}
		p.wrote(t)
	})
	withLeaseKeeper(t, func(t *testing.T, k *leaseKeeper, d *fakeLeaser, p *fakeLog) {
		d.take = func() error {
			if len(d.asked) < 4 {
				return other(-2 * time.Second)
			}
			return nil
		}
		begin := time.Now()
		if err := k.take(t.Context()); err != nil || time.Since(begin) != 3*takePause || k.term.Left() != 45*time.Second {
			t.Errorf("%v after %v, %v left", err, time.Since(begin), k.term.Left())
		}
		p.wrote(t, "info waits until the batch system drops a lease")
	})
	withLeaseKeeper(t, func(t *testing.T, k *leaseKeeper, d *fakeLeaser, p *fakeLog) {
		d.take = func() error { return other(-2 * time.Second) }
		begin := time.Now()
		if err := k.take(t.Context()); err == nil || len(d.asked) != 45 || time.Since(begin) != 44*takePause {
			t.Errorf("never dropped: %v after %d tries and %v", err, len(d.asked), time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin = time.Now()
		if err := k.take(ctx); !errors.As(err, new(*adapter.LeaseHeldError)) || time.Since(begin) != 3*time.Second {
			t.Errorf("ended while it waits: %v after %v", err, time.Since(begin))
		}
	})
}

func TestALeaseOfAnotherSidecarEndsThisOne(t *testing.T) {
	withLeaseKeeper(t, func(t *testing.T, k *leaseKeeper, d *fakeLeaser, p *fakeLog) {
		if err := k.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		lost := &adapter.LeaseHeldError{Holder: adapter.Holder{ID: "another"}}
		if err := k.renewed(renewal{err: fmt.Errorf("renewing: %w", lost)}); !errors.Is(err, error(lost)) || k.term.Left() > 0 {
			t.Errorf("%v, %v left", err, k.term.Left())
		}
	})
}

func TestTheJournalHasOnceThatTheLeaseIsLostAndHeldAgain(t *testing.T) {
	withLeaseKeeper(t, func(t *testing.T, k *leaseKeeper, d *fakeLeaser, p *fakeLog) {
		if err := k.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		held := func(want bool) {
			t.Helper()
			if got, err := k.held(); got != want || !errors.Is(err, p.fails) {
				t.Errorf("held: %t, %v", got, err)
			}
		}
		held(true)
		p.wrote(t)
		time.Sleep(45 * time.Second)
		held(false)
		p.wrote(t, "warn the lease could not be renewed in time", "journal unleased")
		held(false)
		p.wrote(t)
		k.granted(time.Now())
		held(true)
		p.wrote(t, "info the lease is held again", "journal leased")
		held(true)
		p.wrote(t)
		p.fails = errors.New("the disk is full")
		time.Sleep(45 * time.Second)
		held(false)
		k.granted(time.Now())
		held(true)
	})
}

func TestALeaseIsReleasedWithItsLengthForCallsThatMayStillArrive(t *testing.T) {
	withLeaseKeeper(t, func(t *testing.T, k *leaseKeeper, d *fakeLeaser, p *fakeLog) {
		if err := k.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.asked = nil
		k.release()
		if !slices.Equal(d.asked, []string{"leave me for 1m0s"}) || k.term.Left() > 0 || d.left != 10*time.Second {
			t.Errorf("%v, %v left, the call had %v", d.asked, k.term.Left(), d.left)
		}
		p.wrote(t)
		d.leave = func() error { return errors.New("no answer") }
		k.release()
		p.wrote(t, "warn the lease could not be given up: it ends by itself within 1m0s")
	})
}

// The last quarter allows for clocks that differ, and for a canceled call that is carried out
// later.
func TestNothingIsDoneInTheLastQuarterOfALease(t *testing.T) {
	withLeaseKeeper(t, func(t *testing.T, k *leaseKeeper, d *fakeLeaser, _ *fakeLog) {
		if err := k.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for _, c := range []struct {
			after  time.Duration
			renews error
			held   bool
		}{
			{44 * time.Second, errors.New("no answer"), true},
			{45 * time.Second, errors.New("no answer"), false},
			{51 * time.Second, nil, true}, // the lease is renewed late
			{51*time.Second + 44*time.Second, errors.New("no answer"), true},
			{51*time.Second + 45*time.Second, errors.New("no answer"), false},
		} {
			time.Sleep(time.Until(begun.Add(c.after)))
			d.renew = func() error { return c.renews }
			if k.renewIfDue(t.Context()); k.renewing {
				if err := k.renewed(<-k.answers); err != nil {
					t.Fatal(err)
				}
			}
			if held, err := k.held(); held != c.held || err != nil {
				t.Errorf("after %v calls may be made: %t, want %t; %v", c.after, held, c.held, err)
			}
			if left := k.term.Left(); (left > 0) != c.held {
				t.Errorf("after %v a call may last %v", c.after, left)
			}
		}
	})
}

func TestWithoutALeaserCallsMayAlwaysBeMade(t *testing.T) {
	k := newLeaseKeeper(Lease{}, nil, wallClock{}, time.Second, nil)
	if err := k.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.renewIfDue(t.Context())
	if held, err := k.held(); !held || err != nil || k.term != nil || k.pause(time.Hour) != time.Hour {
		t.Errorf("held %t, %v, the term is %v, the pause %v", held, err, k.term, k.pause(time.Hour))
	}
	k.release()
}
