package sidecar

import (
	"time"

	"accordion/adapter"
)

// jump is by how much the clock must have been set forward or back to be noticed: less is lateness.
const jump = 2 * time.Second

// ticks looks at the clock. What is planned goes by the second in which it was last looked at.
type ticks struct {
	clock adapter.Clock
	last  time.Time
}

// look says by how much the clock was set since it was last looked at; zero for what is mere lateness. A machine that slept looks the
// same, and is treated so.
func (t *ticks) look() time.Duration {
	now, last := t.clock.Now(), t.last
	t.last = now
	if last.IsZero() {
		return 0
	}
	by := now.Round(0).Sub(last.Round(0)) - adapter.Passed(t.clock, last, now)
	if by.Abs() < jump {
		return 0
	}
	return by.Round(time.Second)
}
