package server

import "time"

// How many frames a peer may send: so many a second in the long run, so many at once. A good launcher sends one a view, and answers
// pings.
const (
	sustained = 50
	burst     = 200
)

// allowance is what a peer may still send. Its zero value is a whole burst.
type allowance struct {
	spent float64 // frames of the burst
	at    time.Time
}

// take says whether one more frame is allowed.
func (a *allowance) take(now time.Time) bool {
	if !a.at.IsZero() {
		a.spent = max(0, a.spent-sustained*max(0, now.Sub(a.at).Seconds()))
	}
	a.at = now
	if a.spent+1 > burst {
		return false
	}
	a.spent++
	return true
}
