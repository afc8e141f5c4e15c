package sidecar

import (
	"time"

	"accordion/adapter"
)

// A timekeeper detects that the clock was set. Plans are made for the second in which jump was last
// called.
type timekeeper struct {
	clock adapter.Clock
	last  time.Time // when jump was last called
}

// jump returns how far the clock was stepped since the last call, or 0 if it was not.
func (t *timekeeper) jump() time.Duration {
	now, last := t.clock.Now(), t.last
	t.last = now
	if last.IsZero() {
		return 0
	}
	return adapter.ClockJump(t.clock, last, now)
}
