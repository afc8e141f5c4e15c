package adapter

import (
	"context"
	"time"

	"accordion/core"
)

// Clock is the clock that the sidecar and the embedded batch system use: the wall clock, or a faster clock for a demonstration. Tests use
// the wall clock inside testing/synctest, where time is virtual.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// SettableClock is a Clock for tests that can be set forward and back. Its method Passed returns how
// much time really passed between two of its readings. For any other clock the time passed is the
// difference of the readings, because readings of the wall clock include a monotonic time.
type SettableClock interface {
	Clock
	Passed(from, to time.Time) time.Duration
}

// Wall is the wall clock.
type Wall struct{}

// Now returns the time of day.
func (Wall) Now() time.Time { return time.Now() }

// After returns a channel that receives the time when d has elapsed.
func (Wall) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Quick is a clock that starts at Begin and runs Factor times as fast as the wall clock.
type Quick struct {
	Begin  time.Time
	Factor int
}

// Now returns the clock's time.
func (q Quick) Now() time.Time {
	return q.Begin.Add(time.Since(q.Begin) * time.Duration(q.Factor))
}

// After returns a channel that receives the time when d has elapsed on this clock.
func (q Quick) After(d time.Duration) <-chan time.Time {
	return time.After(d / time.Duration(q.Factor))
}

// Wait waits until d has elapsed on the clock. It returns the error of ctx if ctx ends first.
func Wait(ctx context.Context, c Clock, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-c.After(d):
		return nil
	}
}

// Instant returns a planned second as a time.Time.
func Instant(second core.Time) time.Time { return time.Unix(second, 0) }

// Elapsed returns the time that passed between two readings of a clock, even if the clock was set in between.
func Elapsed(c Clock, from, to time.Time) time.Duration {
	if w, ok := c.(SettableClock); ok {
		return w.Passed(from, to)
	}
	return to.Sub(from)
}

// jump is the smallest change of a clock that ClockJump reports. Smaller differences may come from a delay between two calls of the clock.
const jump = 2 * time.Second

// ClockJump returns by how much a clock was set between two readings of the clock, and 0 if the
// difference is only a delay. ClockJump cannot distinguish a clock that was set from a machine that
// slept.
func ClockJump(c Clock, last, now time.Time) time.Duration {
	by := now.Round(0).Sub(last.Round(0)) - Elapsed(c, last, now)
	if by.Abs() < jump {
		return 0
	}
	return by.Round(time.Second)
}
