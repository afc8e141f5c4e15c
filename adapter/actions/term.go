package actions

import (
	"errors"
	"sync"
	"time"

	"accordion/adapter"
)

// ErrNoLease is an act that was not begun, because the lease has run out or is another's.
var ErrNoLease = errors.New("not begun: this sidecar does not hold the cluster's lease now")

// Term is for how long acts may be begun and go on: from a renewal of the lease to shortly before it runs out. The zero one has
// not begun. It is set by the loop, and asked by every act.
type Term struct {
	Clock adapter.Clock

	mu    sync.Mutex
	begun time.Time
	lasts time.Duration
}

// Renew has the term last for so long from begun on, which is an instant before the lease was asked for.
func (t *Term) Renew(begun time.Time, lasts time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun, t.lasts = begun, lasts
}

// End has it be over.
func (t *Term) End() { t.Renew(time.Time{}, 0) }

// Left is how long it still lasts; not above 0: it is over. A machine that slept, and whose stopwatch stood still, knows by its clock
// that time has passed; one whose clock was set back knows by its stopwatch.
func (t *Term) Left() time.Duration {
	t.mu.Lock()
	begun, lasts := t.begun, t.lasts
	t.mu.Unlock()
	if begun.IsZero() {
		return 0
	}
	now := t.Clock.Now()
	return lasts - max(adapter.Passed(t.Clock, begun, now), now.Round(0).Sub(begun.Round(0)))
}
