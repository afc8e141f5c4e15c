package sidecar

import (
	"fmt"
	"time"

	"accordion/adapter"
)

// jump is by how much the clock must have been set forward or back to be noticed: less is lateness.
const jump = 2 * time.Second

// keepTime looks whether the clock was set since it was last looked at. Applications work by the time that passes, not by
// the clock: the planned seconds of what runs move with it. The batch system's limits do not: what is over by its clock, it
// ends. A machine that slept looks the same, and is treated so.
func (s *Sidecar) keepTime() error {
	now, last := s.clock.Now(), s.ticked
	s.ticked = now
	if last.IsZero() {
		return nil
	}
	by := now.Round(0).Sub(last.Round(0)) - adapter.Passed(s.clock, last, now)
	if by.Abs() < jump {
		return nil
	}
	by = by.Round(time.Second)
	for _, r := range s.sorted() {
		r.Shift(int64(by / time.Second))
		r.Retry = time.Time{}
		if err := s.save(r); err != nil {
			return err
		}
	}
	s.trapped, s.nudged, s.read, s.slow = time.Time{}, time.Time{}, now, 0
	for name, t := range s.tending {
		t.retry = time.Time{}
		s.tending[name] = t
	}
	clear(s.idle)
	clear(s.lost)
	clear(s.away)
	s.refresh()
	text := fmt.Sprintf("the clock was set by %v: what is planned for running jobs moves with it", by)
	s.log.Warn(text, "cluster", s.settings.Cluster)
	return s.remark("clock", text, map[string]any{"seconds": by.Seconds()})
}
