package adapter

import (
	"context"
	"time"

	"accordion/core"
)

// Clock is the time the sidecar and the embedded batch system live in: the wall clock, or one that runs faster for a
// demonstration. Tests use the wall clock inside testing/synctest, where it is virtual.
type Clock interface {
	Now() time.Time
	After(d time.Duration) <-chan time.Time
}

// A Stopwatch is a Clock that can be set forward and back, and knows how much time really passed between two of its
// readings. Of the others' readings the difference counts, which for the wall clock is the monotonic one.
type Stopwatch interface {
	Clock
	Passed(from, to time.Time) time.Duration
}

// Wall is the ordinary clock.
type Wall struct{}

// Now returns the time of day.
func (Wall) Now() time.Time { return time.Now() }

// After returns a channel that receives the time when d has elapsed.
func (Wall) After(d time.Duration) <-chan time.Time { return time.After(d) }

// Quick is a clock that runs Factor times as fast as the wall clock, from Begin on.
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

// Wait lets so much of a clock's time go by; where ctx ends before, it gives its error.
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

// Instant is a planned second as an instant.
func Instant(second core.Time) time.Time { return time.Unix(second, 0) }

// Passed is the time between two readings of a clock, whether it was set or not.
func Passed(c Clock, from, to time.Time) time.Duration {
	if w, ok := c.(Stopwatch); ok {
		return w.Passed(from, to)
	}
	return to.Sub(from)
}

// jump is by how much a clock must have been set forward or back to be noticed: less is lateness.
const jump = 2 * time.Second

// SetBy says by how much a clock was set between two readings of it; zero for what is mere lateness. A machine that slept looks the same, and is
// treated so.
func SetBy(c Clock, last, now time.Time) time.Duration {
	by := now.Round(0).Sub(last.Round(0)) - Passed(c, last, now)
	if by.Abs() < jump {
		return 0
	}
	return by.Round(time.Second)
}
