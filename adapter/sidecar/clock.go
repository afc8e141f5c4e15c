package sidecar

import (
	"time"

	"accordion/adapter"
)

// ticks looks at the clock. What is planned goes by the second in which it was last looked at.
type ticks struct {
	clock adapter.Clock
	last  time.Time
}

// look says by how much the clock was set since it was last looked at.
func (t *ticks) look() time.Duration {
	now, last := t.clock.Now(), t.last
	t.last = now
	if last.IsZero() {
		return 0
	}
	return adapter.SetBy(t.clock, last, now)
}
