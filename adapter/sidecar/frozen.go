package sidecar

import (
	"fmt"
	"time"

	"accordion/core"
)

// A job that the batch system does not change (ErrFrozen) is tried again for a while; then it is set aside: it has no
// place in the plan, so that nothing is kept free for it, and is tried again now and then.
const (
	thawing   core.Time = 30 // seconds until a job is set aside
	tryFrozen           = 5 * time.Second
	tryStiff            = time.Minute
)

// stiffness tells its user of a job that is set aside, and why.
func stiffness(why error) string {
	return fmt.Sprintf("the batch system does not let this job be changed; if that stays so, cancel it and submit it again (%v)", why)
}

// freeze notes that the batch system did not change the job, and says when it is tried again.
func (s *Sidecar) freeze(r *record, why error) time.Duration {
	if now := s.clock.Now().Unix(); r.frozen == 0 {
		r.frozen = now
	}
	if !s.stiff(r) {
		return tryFrozen
	}
	r.course = nil
	s.notice(r.Key, fmt.Sprintf("since %s %s", seconds(r.frozen).Format(time.TimeOnly), stiffness(why)))
	return tryStiff
}

// stiff says whether the job could not be changed for long.
func (s *Sidecar) stiff(r *record) bool {
	return r.frozen > 0 && s.clock.Now().Unix() >= r.frozen+thawing
}

// setAside says whether the job is to have no place in the plan now.
func (s *Sidecar) setAside(r *record) bool { return s.stiff(r) && s.clock.Now().Before(r.retry) }
