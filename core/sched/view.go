package sched

import (
	"accordion/core"
	"accordion/core/profile"
)

// Viewer is a State that shows the planned occupation of the machine over time, by running and waiting jobs.
type Viewer interface {
	State
	// View returns the occupation into which another job without a guard would be fitted. The result is read only,
	// and valid until the State changes.
	View(now core.Time) *profile.Profile
}

var _ Viewer = (*repeated)(nil)

// View implements Viewer. If jobs have guards, the occupation includes all nodes that such a job takes at any
// possible time.
func (s *repeated) View(now core.Time) *profile.Profile {
	s.plan(now)
	return s.guards.Room(s.view, core.Job{})
}
