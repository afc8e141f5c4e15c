package sidecar

import (
	"encoding/json"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
)

// standstill measures when the loop should have been at work and was not: the machine was busy, the
// process was stopped, or no sidecar ran. The batch system is not the cause when a step is late for
// that reason.
type standstill struct {
	clock adapter.Clock
	jobs  *jobs

	since time.Time // when it should have looked up at the latest
}

// expect begins a stretch that should last at most lasts.
func (s *standstill) expect(lasts time.Duration) { s.since = s.clock.Now().Add(lasts) }

// end ends that stretch. Steps that were due after its expected end have waited for the sidecar. A
// clock that was set says nothing.
func (s *standstill) end(set bool) {
	if now := s.clock.Now(); !set && now.Sub(s.since) > time.Duration(managed.Tolerance)*time.Second {
		s.note(s.since.Unix(), now.Unix())
	}
}

// note adds the seconds of a standstill to all jobs whose next step was due by its end.
func (s *standstill) note(from, to core.Time) {
	for _, r := range s.jobs.records {
		if r.Phase == managed.Running && !r.Final() && r.Due() < to {
			r.Missed += to - max(from, r.Due())
		}
	}
}

// resume notes what was due between the last view that a sidecar wrote and now.
func (s *standstill) resume(journal interface{ View() ([]byte, error) }) error {
	data, err := journal.View()
	if err != nil || data == nil {
		return err
	}
	var last view.Status
	if json.Unmarshal(data, &last) == nil && last.At > 0 { // another version's says nothing
		s.note(last.At, s.clock.Now().Unix())
	}
	return nil
}
