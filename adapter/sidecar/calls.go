package sidecar

import (
	"fmt"
	"time"

	"accordion/adapter/managed"
	"accordion/adapter/session"
	"accordion/core"
	"accordion/shim/wire"
)

// hear takes in what a shim asks. Nothing it says is believed before it is known to speak for the job's owner.
func (s *Sidecar) hear(call session.Call) {
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
		s.notes.Warn("refused: speaks for another user's job", "job", r.ID, "uid", call.UID, "pid", call.PID)
		call.Answer(wire.Reply{Status: wire.Refused, Why: fmt.Sprintf("job %d is not yours", r.ID)})
		return
	}
	switch over := call.Request.Step; {
	case over != 0 && over <= r.Step: // asked again after the answer was lost
		s.jobs.answerAgain(r, over)
		call.Answer(r.Reply(wire.Resized, ""))
		return
	case over > r.Step+1:
		call.Answer(r.Reply(wire.Refused, fmt.Sprintf("step %d cannot be over: job %d is in step %d", over, r.ID, r.Step+1)))
		return
	case r.Final():
		call.Answer(r.Reply(wire.Over, "the profile has no further step"))
		return
	}
	if r.Phase != managed.Starting { // else when it is seen to run: which nodes it has, and which runs its script, is not known before
		if why := r.Choose(call.Request); why != "" {
			call.Answer(r.Reply(wire.Refused, why))
			return
		}
	}
	at := s.notes.clock.Now()
	if r.Asks != nil {
		at = r.Asks.At // the same boundary, asked again
		r.Asks.Reply(r.Reply(wire.Late, "asked again by another process of the job"))
	}
	r.Asks = &managed.Question{Request: call.Request, Reply: call.Answer, Gone: call.Gone, At: at}
	if call.Request.Waits > 0 {
		r.Asks.Until = s.notes.clock.Now().Add(time.Duration(call.Request.Waits) * time.Second)
	}
}

// patience is for how many seconds a shim asks a sidecar that has gone away.
const patience core.Time = 120

// answerAgain is for an application that hears only now that its present step has begun, for the sidecar that began it died before it
// said so: it is late by so much the later. Once: whoever asks again after that was told.
func (s *jobs) answerAgain(r *managed.Job, over int) {
	if over == r.Step && !r.Heard && r.Resized > 0 {
		r.Owe(min(s.notes.clock.Now().Unix()-r.Resized, patience))
		r.Heard, r.Dirty = true, true
	}
}
