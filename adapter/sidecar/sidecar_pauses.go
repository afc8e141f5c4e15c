package sidecar

import (
	"encoding/json"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
)

// standstill measures for how long the loop did not run although it should have, because the
// machine was busy, the process was stopped, or no sidecar ran. The batch system is not to blame
// for steps that are late for this reason.
type standstill struct {
	clock adapter.Clock
	jobs  *jobs

	since time.Time // when the loop should have continued at the latest
}

// expect starts a stretch of time that should last at most `lasts`.
func (s *standstill) expect(lasts time.Duration) { s.since = s.clock.Now().Add(lasts) }

// end ends the stretch. Steps that were due after its expected end have waited for the sidecar. If
// the clock was set during the stretch (set), its length is not known and nothing is recorded.
func (s *standstill) end(set bool) {
	if now := s.clock.Now(); !set && now.Sub(s.since) > time.Duration(managed.Tolerance)*time.Second {
		s.note(s.since.Unix(), now.Unix())
	}
}

// note adds the seconds of a standstill to each job whose next step was due before the end of the
// standstill.
func (s *standstill) note(from, to core.Time) {
	for _, r := range s.jobs.records {
		if r.Phase == managed.Running && !r.Final() && r.Due() < to {
			r.StandstillSeconds += to - max(from, r.Due())
		}
	}
}

// resume records as a standstill the time from the last status that a sidecar wrote until now.
func (s *standstill) resume(journal interface{ View() ([]byte, error) }) error {
	data, err := journal.View()
	if err != nil || data == nil {
		return err
	}
	var last view.Status
	if json.Unmarshal(data, &last) == nil && last.At > 0 { // otherwise another version of Accordion wrote the view
		s.note(last.At, s.clock.Now().Unix())
	}
	return nil
}
