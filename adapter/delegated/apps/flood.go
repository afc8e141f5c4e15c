package apps

import (
	"slices"

	"accordion/core"
)

// A launcher that is too quick so many times in so many seconds is closed.
const (
	MostFloods  = 20
	floodWindow = 10
)

// Flood is how often a launcher asked unasked in a session.
type Flood struct {
	free   core.Time   // from when it may
	lately []core.Time // when it was too much
}

// Allow lets one request a second through.
func (f *Flood) Allow(now core.Time) bool {
	if now >= f.free {
		f.free = now + 1
		return true
	}
	f.lately = append(slices.DeleteFunc(f.lately, func(t core.Time) bool { return t <= now-floodWindow }), now)
	return false
}

// Over says whether it was too much too often.
func (f *Flood) Over() bool { return len(f.lately) >= MostFloods }
