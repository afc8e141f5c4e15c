package sched

import (
	"accordion/core"
	"accordion/core/profile"
)

// Viewer is a State that shows what is occupied from when on: by what runs, and by what waits where it is planned.
type Viewer interface {
	State
	// View is the occupation that a further job without a guard would be fitted into. It is read only, and good until the
	// State is told the next thing.
	View(now core.Time) *profile.Profile
}

var _ Viewer = (*repeated)(nil)

// View implements Viewer. Where jobs have guards it is no less than the view of the plan: what they take at one time or
// another.
func (s *repeated) View(now core.Time) *profile.Profile {
	s.plan(now)
	return s.outlook.Room(s.view, core.Job{})
}
