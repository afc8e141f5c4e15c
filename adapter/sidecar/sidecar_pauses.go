package sidecar

import (
	"encoding/json"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
)

// standstill measures for how long the loop did not run when it should have: the machine was busy, the
// process was stopped, or no sidecar ran. Steps that are late for this reason were not delayed by the
// batch system.
type standstill struct {
	clock adapter.Clock
	jobs  *jobs

	since time.Time // when the loop should have gone on at the latest
}

// expect starts a stretch that should last at most lasts.
func (s *standstill) expect(lasts time.Duration) { s.since = s.clock.Now().Add(lasts) }

// end ends the stretch. Steps that were due after its expected end have waited for the sidecar. set
// reports that the clock was set: then nothing is known.
func (s *standstill) end(set bool) {
	if now := s.clock.Now(); !set && now.Sub(s.since) > time.Duration(managed.Tolerance)*time.Second {
		s.note(s.since.Unix(), now.Unix())
	}
}

// note adds the seconds of a standstill to the jobs whose next step was due before its end.
func (s *standstill) note(from, to core.Time) {
	for _, r := range s.jobs.records {
		if r.Phase == managed.Running && !r.Final() && r.Due() < to {
			r.StandstillSeconds += to - max(from, r.Due())
		}
	}
}

// resume notes the time from the last view that a sidecar wrote until now as a standstill.
func (s *standstill) resume(journal interface{ View() ([]byte, error) }) error {
	data, err := journal.View()
	if err != nil || data == nil {
		return err
	}
	var last view.Status
	if json.Unmarshal(data, &last) == nil && last.At > 0 { // else the view of another version
		s.note(last.At, s.clock.Now().Unix())
	}
	return nil
}
