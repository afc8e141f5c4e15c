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

// wall is the clock of the bubble.
type wall struct{}

func (wall) Now() time.Time                         { return time.Now() }
func (wall) After(d time.Duration) <-chan time.Time { return time.After(d) }

// A desk represents a batch system: it answers as the test says, and keeps what it was asked.
type desk struct {
	take, renew, leave func() error
	asked              []string
	left               time.Duration // that the last call had
	claim              adapter.Claim
}

func (d *desk) ask(ctx context.Context, name string, answer func() error) error {
	d.asked = append(d.asked, name)
	if end, ok := ctx.Deadline(); ok {
		d.left = time.Until(end)
	}
	if answer == nil {
		return nil
	}
	return answer()
}

func (d *desk) TakeLease(ctx context.Context, c adapter.Claim) error {
	d.claim = c
	return d.ask(ctx, "take", d.take)
}

func (d *desk) RenewLease(ctx context.Context, c adapter.Claim) error {
	d.claim = c
	return d.ask(ctx, "renew", d.renew)
}

func (d *desk) LeaveLease(ctx context.Context, h adapter.Holder, keep time.Duration) error {
	d.claim.Holder = h
	return d.ask(ctx, fmt.Sprintf("leave %s for %v", h.ID, keep), d.leave)
}

// pad is what was written down, each note's kind and first words.
type pad struct {
	written []string
	fails   error
}

func (p *pad) Info(text string, _ ...any) { p.written = append(p.written, "info "+text) }
func (p *pad) Warn(text string, _ ...any) { p.written = append(p.written, "warn "+text) }
func (p *pad) Remark(kind, text string, _ map[string]any) error {
	p.written = append(p.written, "journal "+kind)
	return p.fails
}

// has fails the test unless the notes since it was last asked begin so.
func (p *pad) has(t *testing.T, want ...string) {
	t.Helper()
	if !slices.EqualFunc(p.written, want, strings.HasPrefix) {
		t.Errorf("written: %q, want %q", p.written, want)
	}
	p.written = nil
}

// keeping runs a test on a keeper of a lease of a minute, whose calls have ten seconds.
func keeping(t *testing.T, do func(t *testing.T, k *leaseKeeper, d *desk, p *pad)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d, p := &desk{}, &pad{}
		claim := adapter.Claim{Holder: adapter.Holder{ID: "me"}, Length: time.Minute, Over: true}
		do(t, newLeaseKeeper(Lease{d, claim}, p, wall{}, 10*time.Second, func(f func()) { go f() }), d, p)
	})
}

func TestALeaseIsRenewedAfterAThirdAndAfterAFailureInATwelfth(t *testing.T) {
	keeping(t, func(t *testing.T, k *leaseKeeper, d *desk, p *pad) {
		if err := k.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		if d.left != 10*time.Second {
			t.Errorf("a call has %v, want its deadline", d.left)
		}
		// renewed returns after how long a renewal is asked for.
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
		if d.claim.Over { // that was for the sidecar before it
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
		p.has(t, "warn the lease was not renewed")
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
		d := &desk{}
		k := newLeaseKeeper(Lease{d, adapter.Claim{Length: 12 * time.Second}}, &pad{}, wall{}, 10*time.Second, nil)
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
	keeping(t, func(t *testing.T, k *leaseKeeper, d *desk, p *pad) {
		d.take = func() error { return other(time.Second) }
		leased := (*adapter.LeaseHeldError)(nil)
		if err := k.take(t.Context()); !errors.As(err, &leased) || len(d.asked) != 1 || k.term.Left() > 0 {
			t.Errorf("it lasts: %v after %v", err, d.asked)
		}
		d.take = func() error { return errors.New("no answer") }
		if err := k.take(t.Context()); err == nil || len(d.asked) != 2 {
			t.Errorf("another error: %v after %v", err, d.asked)
		}
		p.has(t)
	})
	keeping(t, func(t *testing.T, k *leaseKeeper, d *desk, p *pad) {
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
		p.has(t, "info waits until the batch system drops a lease")
	})
	keeping(t, func(t *testing.T, k *leaseKeeper, d *desk, p *pad) {
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

func TestALeaseThatIsAnothersEndsTheSidecar(t *testing.T) {
	keeping(t, func(t *testing.T, k *leaseKeeper, d *desk, p *pad) {
		if err := k.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		lost := &adapter.LeaseHeldError{Holder: adapter.Holder{ID: "another"}}
		if err := k.renewed(renewal{err: fmt.Errorf("renewing: %w", lost)}); !errors.Is(err, error(lost)) || k.term.Left() > 0 {
			t.Errorf("%v, %v left", err, k.term.Left())
		}
	})
}

func TestWhenTheLeaseIsHeldAndWhenNotIsWrittenDownOnce(t *testing.T) {
	keeping(t, func(t *testing.T, k *leaseKeeper, d *desk, p *pad) {
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
		p.has(t)
		time.Sleep(45 * time.Second)
		held(false)
		p.has(t, "warn the lease could not be renewed in time", "journal unleased")
		held(false)
		p.has(t)
		k.granted(time.Now())
		held(true)
		p.has(t, "info the lease is held again", "journal leased")
		held(true)
		p.has(t)
		p.fails = errors.New("the disk is full")
		time.Sleep(45 * time.Second)
		held(false)
		k.granted(time.Now())
		held(true)
	})
}

func TestALeaseIsLeftWithItsLengthForWhatStays(t *testing.T) {
	keeping(t, func(t *testing.T, k *leaseKeeper, d *desk, p *pad) {
		if err := k.take(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.asked = nil
		k.release()
		if !slices.Equal(d.asked, []string{"leave me for 1m0s"}) || k.term.Left() > 0 || d.left != 10*time.Second {
			t.Errorf("%v, %v left, the call had %v", d.asked, k.term.Left(), d.left)
		}
		p.has(t)
		d.leave = func() error { return errors.New("no answer") }
		k.release()
		p.has(t, "warn the lease could not be given up: it ends by itself within 1m0s")
	})
}

func TestWithoutALeaserEverythingMayBeDone(t *testing.T) {
	k := newLeaseKeeper(Lease{}, nil, wall{}, time.Second, nil)
	if err := k.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.renewIfDue(t.Context())
	if held, err := k.held(); !held || err != nil || k.term != nil || k.pause(time.Hour) != time.Hour {
		t.Errorf("held %t, %v, the term is %v, the pause %v", held, err, k.term, k.pause(time.Hour))
	}
	k.release()
}
