package server

import "time"

// A peer may send `burst` frames in quick succession, and `sustained` frames a second in the long run. That is much more than a normal
// launcher needs, which sends one frame for each view, and answers pings.
const (
	sustained = 50
	burst     = 200
)

// allowance limits the frames of a peer. Its zero value allows a whole burst.
type allowance struct {
	spent float64 // number of frames of the burst that are used up
	at    time.Time
}

// take counts a frame, and reports whether the frame is allowed.
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
