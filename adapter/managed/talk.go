package managed

import (
	"fmt"
	"time"

	"accordion/adapter/hostfile"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/shim/wire"
)

// A Question is the request of an application that waits at the end of its step.
type Question struct {
	Request wire.Request
	Reply   func(wire.Reply)
	Gone    <-chan struct{} // closed when the shim disconnected
	At      time.Time       // when the question was first asked
	Until   time.Time       // when the shim gives up; zero if it never does
}

// Ask answers a question of the job's shim immediately, or keeps the question until the next step
// begins.
func (r *Job) Ask(q Question) {
	switch over := q.Request.Step; {
	case over != 0 && over <= r.Step: // the shim asks again, because the answer was lost
		r.answerAgain(over, q.At)
		q.Reply(r.Reply(wire.Resized, ""))
		return
	case over > r.Step+1:
		q.Reply(r.Reply(wire.Refused, fmt.Sprintf("step %d cannot be over: job %d is in step %d", over, r.ID, r.Step+1)))
		return
	case r.Final():
		q.Reply(r.Reply(wire.Over, "the profile has no further step"))
		return
	}
	if r.Phase != Starting { // the nodes of a starting job are not known before a reading shows that it runs, so it cannot choose nodes yet
		if why := r.OrderForShrink(q.Request); why != "" {
			q.Reply(r.Reply(wire.Refused, why))
			return
		}
	}
	if q.Request.Waits > 0 {
		q.Until = q.At.Add(time.Duration(q.Request.Waits) * time.Second)
	}
	if r.Question != nil {
		q.At = r.Question.At // the shim asks again about the same step
		r.Question.Reply(r.Reply(wire.Late, "asked again by another process of the job"))
	}
	r.Question = &q
}

// shimPatience is for how many seconds a shim tries to reach a sidecar that does not answer.
const shimPatience core.Time = 120

// answerAgain excuses the delay of an application that is informed only now that its present step
// began, because the sidecar died before it answered. answerAgain excuses one delay per step.
func (r *Job) answerAgain(over int, now time.Time) {
	if over == r.Step && !r.StepTold && r.ResizedAt > 0 {
		r.SetSidecarDelay(min(now.Unix()-r.ResizedAt, shimPatience))
		r.StepTold, r.Unsaved = true, true
	}
}

// UpdateDialog updates a running job: whether its question is still open, whether it is late, and
// whether it calls `accordion step` at all.
func (r *Job) UpdateDialog(now time.Time, second core.Time) {
	if r.Phase != Running || r.Attached {
		return
	}
	r.DropQuestion(now)
	r.Late = second > r.LateFrom() && (r.Final() || r.Question == nil && r.StepCalls != StepCallsNever)
	if len(r.EP()) > 1 && r.StepCalls == StepCallsUnknown && r.Question != nil {
		r.StepCalls, r.Unsaved = StepCallsMade, true
	}
}

// DropQuestion drops a question whose shim disconnected or gave up. The application continues its
// step.
func (r *Job) DropQuestion(now time.Time) {
	if r.Question == nil {
		return
	}
	select {
	case <-r.Question.Gone:
		r.Question = nil
		return
	default:
	}
	if !r.Question.Until.IsZero() && !now.Before(r.Question.Until) {
		r.Answer(wire.Late, "not yet: "+r.WaitReason)
	}
}

// Answer answers the waiting application, if there is one.
func (r *Job) Answer(status wire.Status, why string) {
	if r.Question != nil {
		r.Question.Reply(r.Reply(status, why))
		r.Question = nil
	}
}

// Reply returns an answer to the application, with the nodes and the step of the job.
func (r *Job) Reply(status wire.Status, why string) wire.Reply {
	p := wire.Reply{Status: status, Why: why, Nodes: hostlist.Compact(r.Nodes), Count: len(r.Nodes), Step: r.Step + 1, Steps: len(r.EP()), Generation: r.Generation}
	if len(r.Promise) > r.Step {
		p.Until = r.Due()
	}
	for _, part := range r.Parts {
		p.Allocations = append(p.Allocations, wire.Allocation{Job: int64(part.Job), Nodes: hostlist.Compact(part.Nodes)})
	}
	return p
}

// Hosts returns the text of the job's hosts file: a header, the allocations if there are several,
// then one node per line, the batch host first.
func (r *Job) Hosts(nodes []string, step, generation int) string {
	from := r.Began
	if step > 0 {
		from = r.Promise[step-1]
	}
	return hostfile.File{
		Generation: generation, Step: step + 1, Steps: len(r.EP()), From: from, Until: r.Promise[step], Nodes: nodes, Parts: r.Parts,
	}.Text()
}
