package sidecar

import (
	"fmt"

	"accordion/adapter/managed"
	"accordion/adapter/session"
	"accordion/core"
	"accordion/shim/wire"
)

// receive takes a question of a shim. It refuses a shim that does not run as the job's owner or as
// root.
func (s *Sidecar) receive(call session.Call) {
	r := s.jobs.find(core.JobID(call.Request.Job))
	switch {
	case s.readings.snapshot == nil:
		call.Answer(wire.Reply{Status: wire.Busy, Why: "the sidecar has not read the batch system yet: ask again"})
		return
	case r == nil:
		call.Answer(wire.Reply{Status: wire.Refused, Why: fmt.Sprintf(
			"job %d is not a running job that Accordion manages on cluster %s: submit it with an evolution profile (#EP 2x20s,5x20s)", call.Request.Job, s.settings.Cluster)})
		return
	case call.UID != 0 && call.UID != r.UID:
		s.eventLog.Warn("request refused: not the owner of the job", "job", r.ID, "uid", call.UID, "pid", call.PID)
		call.Answer(wire.Reply{Status: wire.Refused, Why: fmt.Sprintf("job %d is not yours", r.ID)})
		return
	}
	r.Ask(managed.Question{Request: call.Request, Reply: call.Answer, Gone: call.Gone, At: s.eventLog.clock.Now()})
}
