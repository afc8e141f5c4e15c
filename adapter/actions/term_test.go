package actions

import (
	"testing"
	"time"
)

// watch is a clock whose monotonic time is independent of the time that it shows.
type watch struct {
	now    time.Time
	passed time.Duration // monotonic time since the beginning
}

func (w *watch) Now() time.Time                       { return w.now }
func (w *watch) After(time.Duration) <-chan time.Time { return nil }
func (w *watch) Passed(_, _ time.Time) time.Duration  { return w.passed }

func TestATermEndsByTheClockOrByMonotonicTimeWhicheverIsFirst(t *testing.T) {
	begin := time.Unix(1_800_000_000, 0)
	for _, c := range []struct {
		name          string
		clock, passed time.Duration // times since the term began
		left          time.Duration
	}{
		{"both go on", 10 * time.Second, 10 * time.Second, 35 * time.Second},
		{"the clock was set back", -time.Hour, 10 * time.Second, 35 * time.Second},
		{"the clock was set forward", time.Hour, 10 * time.Second, 45*time.Second - time.Hour},
		{"the machine slept", time.Hour, 0, 45*time.Second - time.Hour},
		{"it has ended, and the clock was set back", -time.Hour, time.Minute, -15 * time.Second},
	} {
		w := &watch{now: begin}
		term := Term{Clock: w}
		if left := term.Left(); left > 0 {
			t.Errorf("%s: before it begins %v are left", c.name, left)
		}
		term.Renew(begin, 45*time.Second)
		w.now, w.passed = begin.Add(c.clock), c.passed
		if left := term.Left(); left != c.left {
			t.Errorf("%s: %v are left, want %v", c.name, left, c.left)
		}
		term.End()
		if left := term.Left(); left > 0 {
			t.Errorf("%s: after its end %v are left", c.name, left)
		}
	}
}
