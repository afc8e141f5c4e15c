package actions

import (
	"errors"
	"sync"
	"time"

	"accordion/adapter"
)

// ErrNoLease is the error of a call that was not made, because the lease has run out or another
// sidecar holds it.
var ErrNoLease = errors.New("not begun: this sidecar does not hold the cluster's lease now")

// A Term is the time in which calls may be made. It begins with a renewal of the lease, and ends
// shortly before the lease runs out. The zero Term has ended. The loop sets the term, and every
// call reads it.
type Term struct {
	Clock adapter.Clock

	mu    sync.Mutex
	begun time.Time
	lasts time.Duration
}

// Renew starts the term at the instant `begun`, which is before the lease was requested.
func (t *Term) Renew(begun time.Time, lasts time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun, t.lasts = begun, lasts
}

// End ends the term.
func (t *Term) End() { t.Renew(time.Time{}, 0) }

// Left returns how long the term still lasts, and 0 or less if it has ended. Left uses both the
// clock and the monotonic time. After the machine slept, only the clock shows that time has passed.
// After the clock was set back, only the monotonic time shows it.
func (t *Term) Left() time.Duration {
	t.mu.Lock()
	begun, lasts := t.begun, t.lasts
	t.mu.Unlock()
	if begun.IsZero() {
		return 0
	}
	now := t.Clock.Now()
	return lasts - max(adapter.Elapsed(t.Clock, begun, now), now.Round(0).Sub(begun.Round(0)))
}
