package sidecar

import (
	"context"
	"errors"
	"testing"
	"time"

	"accordion/adapter"
)

// hand is a clock that is set by hand.
type hand struct{ at time.Time }

func (c *hand) Now() time.Time                     { return c.at }
func (*hand) After(time.Duration) <-chan time.Time { return nil }

// book is a batch system that grants every lease, or none.
type book struct{ refuses error }

func (b *book) TakeLease(context.Context, adapter.Claim) error  { return b.refuses }
func (b *book) RenewLease(context.Context, adapter.Claim) error { return b.refuses }
func (b *book) LeaveLease(context.Context, adapter.Holder, time.Duration) error {
	return b.refuses
}

type muteLog struct{}

func (muteLog) Info(string, ...any)                         {}
func (muteLog) Warn(string, ...any)                         {}
func (muteLog) Remark(string, string, map[string]any) error { return nil }

// The last quarter is for clocks that do not run alike, and for what an act that was given up may still do.
func TestNothingIsDoneInTheLastQuarterOfALease(t *testing.T) {
	clock, system := &hand{time.Unix(1000, 0)}, &book{}
	k := newLeaseKeeper(Lease{system, adapter.Claim{Length: time.Minute}}, muteLog{}, clock, 10*time.Second, func(f func()) { f() })
	if err := k.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		after  time.Duration
		renews error
		held   bool
	}{
		{44 * time.Second, errors.New("no answer"), true},
		{45 * time.Second, errors.New("no answer"), false},
		{51 * time.Second, nil, true}, // it is renewed, late
		{51*time.Second + 44*time.Second, errors.New("no answer"), true},
		{51*time.Second + 45*time.Second, errors.New("no answer"), false},
	} {
		clock.at, system.refuses = time.Unix(1000, 0).Add(c.after), c.renews
		if k.renewIfDue(t.Context()); k.renewing {
			if err := k.renewed(<-k.answers); err != nil {
				t.Fatal(err)
			}
		}
		if held, err := k.held(); held != c.held || err != nil {
			t.Errorf("after %v something may be done: %t, want %t; %v", c.after, held, c.held, err)
		}
		if left := k.term.Left(); (left > 0) != c.held {
			t.Errorf("after %v an act may go on for %v", c.after, left)
		}
	}
}
