package sidecar

import (
	"context"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
)

// orphans are expanders that belong to nothing under way: left by a merge that lost its race, by a sidecar that died in a growth, by
// a parent that is over. It remembers those that were ended.
type orphans struct {
	eventLog *eventLog
	readings *readings
	workers  *workers

	ended map[adapter.Key]ended
}

// ended is a left-over expander that was ended, or is being ended.
type ended struct {
	busy  bool
	at    managed.Epoch
	retry time.Time // where it is still there, it is ended again from then on
}

// sweepAgain is what a batch system may take to end an expander before it is told again.
const sweepAgain = 3 * time.Second

// sweep ends them. Whether the parent of one is ours and runs, owned says.
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
		} else { // some batch systems leave them to us when their parent ends
			s.eventLog.logger.Debug("an expander has outlived its parent: ended", "cluster", s.eventLog.cluster, "job", j.Expands, "expander", j.ID)
		}
		s.workers.beside(func() error { return s.workers.acts.End(ctx, key, "left-over expander") }, func(error) {
			s.ended[key] = ended{at: s.readings.begun, retry: now().Add(sweepAgain)}
		})
	}
}

// dismiss drops those that are no more.
func (s *orphans) dismiss(here map[adapter.Key]bool) {
	for key, e := range s.ended {
		if !here[key] && !e.busy {
			delete(s.ended, key)
		}
	}
}
