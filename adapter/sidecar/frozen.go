package sidecar

import (
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// stiffness tells its user of a job that is set aside, and why.
func stiffness(why error) string {
	return fmt.Sprintf("the batch system does not let this job be changed; if that stays so, cancel it and submit it again (%v)", why)
}

// freeze notes that the batch system did not change the job, and says when it is tried again.
func (s *jobs) freeze(r *managed.Job, why error) time.Duration {
	if now := s.notes.clock.Now().Unix(); r.Frozen == 0 {
		r.Frozen = now
	}
	if !r.Stiff(s.notes.clock.Now()) {
		return managed.TryFrozen
	}
	r.Course = nil
	s.notes.notice(r.Key, fmt.Sprintf("since %s %s", adapter.Instant(r.Frozen).Format(time.TimeOnly), stiffness(why)))
	return managed.TryStiff
}
