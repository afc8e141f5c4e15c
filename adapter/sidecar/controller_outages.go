package sidecar

import (
	"encoding/json"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/managed"
	"accordion/adapter/view"
	"accordion/core"
)

// outages records when the batch system did not answer. Readings show an outage: they fail, or show
// that the controller was started again.
type outages struct {
	managed.Outages
	eventLog *eventLog
}

// note evaluates a reading, which may have failed.
func (s *outages) note(one reading) error {
	if one.err != nil {
		s.Fail(one.begun.Unix())
		return nil
	}
	over, ended := s.Answer(one.begun.Unix(), s.eventLog.clock.Now().Unix(), one.snapshot.Booted)
	if !ended {
		return nil
	}
	text := fmt.Sprintf("the batch system did not answer from %s to %s, or was started again: what that cost jobs is added to their time",
		adapter.Instant(over.From).Format(time.TimeOnly), adapter.Instant(over.To).Format(time.TimeOnly))
	s.eventLog.Info(text)
	return s.eventLog.Remark("outage", text, map[string]any{"from": over.From, "to": over.To, "seconds": over.To - over.From})
}

// resume restores the outages that the last sidecar knew, from the view that it wrote last.
func (s *outages) resume(journal interface{ View() ([]byte, error) }) error {
	data, err := journal.View()
	if err != nil || data == nil {
		return err
	}
	var last view.Status
	if json.Unmarshal(data, &last) != nil { // another version of Accordion wrote the view
		return nil
	}
	for _, o := range last.Outages {
		s.Known = append(s.Known, managed.Outage(o))
	}
	s.Answered, s.Booted = last.At, last.Booted
	return nil
}

// view returns the outages as `accordion status` shows them.
func (s *outages) view() (known []view.Outage, booted core.Time) {
	for _, o := range s.Known {
		known = append(known, view.Outage(o))
	}
	return known, s.Booted
}

// lengthen requests a longer time limit for a job that outages have delayed, so that the batch
// system does not end the job because of the delay.
func (s *jobs) lengthen(r *managed.Job, now core.Time) {
	more := r.LimitExtension(now)
	if more == 0 || r.WantedLimit > 0 {
		return
	}
	r.LimitExtended += more
	r.WantedLimit, r.LimitAsked, r.Unsaved = r.Seen.Limit+more, max(r.LimitAsked, r.Limit)+more, true
}
