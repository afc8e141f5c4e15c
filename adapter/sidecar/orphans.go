package sidecar

import (
	"context"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// orphans ends expanders that belong to no growth under way. An orphan is left by a merge that came
// too late, by a sidecar that ended during a growth, or by a parent that has ended.
type orphans struct {
	eventLog *eventLog
	readings *readings
	workers  *workers

	ended map[adapter.Key]ended
}

// ended is an orphan for which the call to end it was made.
type ended struct {
	busy  bool
	at    managed.Epoch
	retry time.Time // the instant from which the orphan is ended again if it still exists
}

// endAgain is the pause until the batch system is asked again to end an expander.
const endAgain = 3 * time.Second

// sweep ends orphans. `owned` reports whether the parent of an orphan is a managed job that runs.
func (s *orphans) sweep(ctx context.Context, found []*adapter.Job, owned func(*adapter.Job) bool) {
	now := s.eventLog.clock.Now
	for _, j := range found {
		key := j.Key
		if e, told := s.ended[key]; told && (e.busy || !s.readings.shows(e.at) || now().Before(e.retry)) {
			continue
		}
		s.ended[key] = ended{busy: true}
		if owned(j) {
			s.eventLog.notice(key, fmt.Sprintf("expander of job %d is left over: ended", j.Expands))
		} else { // some batch systems leave expanders to the sidecar when their parent ends
			s.eventLog.logger.Debug("an expander has outlived its parent: ended", "cluster", s.eventLog.cluster, "job", j.Expands, "expander", j.ID)
		}
		s.workers.background(func() error { return s.workers.caller.End(ctx, key, "left-over expander") }, func(error) {
			s.ended[key] = ended{at: s.readings.begun, retry: now().Add(endAgain)}
		})
	}
}

// forget forgets the orphans that the reading does not show any more.
func (s *orphans) forget(here map[adapter.Key]bool) {
	for key, e := range s.ended {
		if !here[key] && !e.busy {
			delete(s.ended, key)
		}
	}
}
