package decide

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/managed"
	"accordion/shim/wire"
)

// Succeeded returns what follows when all calls of a job's operation succeeded, with what they returned.
func Succeeded(r *managed.Job, op *Operation, got actions.Result, settings managed.Settings, now time.Time) Outcome {
	switch c := op.Calls[len(op.Calls)-1].(type) {
	case actions.Launch:
		return op.Then.with(managed.Released{At: now})
	case actions.Grow, actions.Shrink:
		return afterResize(r, op, got, settings, now)
	case actions.ReadVoice:
		voice := managed.StepCallsMade
		if got.Silent && r.Question == nil {
			voice = managed.StepCallsNever
		}
		return op.Then.with(managed.StepCallsKnown{StepCalls: voice})
	case actions.ReadPrograms:
		return op.Then.with(managed.ProgramsSeen{Programs: got.Programs, At: now.Unix()})
	case actions.Publish:
		return afterPublish(op, c, got, now)
	}
	return op.Then
}

// with returns the outcome with one more change.
func (o Outcome) with(c managed.Change) Outcome {
	o.Changes = append(slices.Clip(o.Changes), c)
	return o
}

// afterResize returns what follows from a resize: the next step begins, or the job has what the batch system forgot again.
func afterResize(r *managed.Job, op *Operation, got actions.Result, settings managed.Settings, now time.Time) Outcome {
	held := []managed.Change{managed.NodesHeld{Nodes: op.Nodes, Parts: got.Parts, At: now.Unix()}}
	if !op.Next {
		return Outcome{
			Changes: append(held, managed.ResizeRepeated{At: now.Unix()}),
			Events:  []Event{{"resized", fmt.Sprintf("to %d nodes again", len(op.Nodes)), map[string]any{"nodes": nodesOf(op.Nodes)}}},
		}
	}
	o := NextStep(r, op.Nodes, settings, nil, now)
	o.Changes, o.GaveBack = append(held, o.Changes...), op.Shrink
	return o
}

// Pauses after a call that the batch system refused.
const (
	afterBusy = 250 * time.Millisecond // it is in the middle of something
	// afterReserved: a reservation of others was in the way. The next reading shows it, and then the plan goes around it.
	afterReserved = 5 * time.Second
	afterTrap     = 5 * time.Second // a resize would go wrong now; no job is resized for so long
	// afterLimit: a limit refused the call, or the partition takes no jobs. A reading says by then which limit it is, and what is used of
	// it has to change first.
	afterLimit = 10 * time.Second
	afterOther = time.Second
)

// pauseAfter returns the pause after a number of failures in a row: what fails for a moment is soon tried again, and what always fails does
// not keep the batch system busy.
func pauseAfter(failures int) time.Duration {
	return 3 * time.Second << min(max(failures-3, 0), 5)
}

// Failed returns what follows when a call of a job's operation failed: the operation is tried again. Nothing is lost, because the next
// reading shows what the batch system has. nodes is the pool.
func Failed(r *managed.Job, op *Operation, got actions.Result, err error, nodes []adapter.Node, now time.Time) Outcome {
	o := Outcome{Retry: afterOther}
	c := managed.CallFailed{Blocked: err.Error(), Failures: r.Failures, Frozen: r.FrozenSince, Refused: r.RefusedNodes}
	switch {
	case errors.Is(err, adapter.ErrReserved):
		o.Retry = afterReserved
	case errors.Is(err, adapter.ErrBusy):
		o.Retry, c.Refused = afterBusy, r.NextNodes
	case errors.Is(err, adapter.ErrFrozen):
		if o.Retry = managed.RetryFrozen; c.Frozen == 0 {
			c.Frozen = now.Unix()
		}
	case errors.Is(err, adapter.ErrTrap):
		o.Trapped = afterTrap
	case errors.Is(err, adapter.ErrLimit), errors.Is(err, adapter.ErrShut):
		o.Retry = afterLimit
	case !errors.Is(err, adapter.ErrGone):
		c.Failures++
		o.Retry = pauseAfter(c.Failures)
	}
	if managed.LongFrozen(c.Frozen, now) {
		c.Blocked = fmt.Sprintf("the batch system does not let this job be changed; if that stays so, cancel it and submit it again (%v)", err)
		o.Reply = &Reply{wire.Late, c.Blocked}
		if errors.Is(err, adapter.ErrFrozen) {
			o.Retry, c.SetAside = managed.RetryLongFrozen, true
			o.Notices = []string{fmt.Sprintf("since %s %s", adapter.Instant(c.Frozen).Format(time.TimeOnly), c.Blocked)}
		}
	}
	o.Notices = append(o.Notices, fmt.Sprintf("%s failed, will be tried again: %v", op.Verb, err))
	o.Changes = []managed.Change{c}
	switch {
	case op.Next:
		return o.with(managed.ResizeFailed{})
	case !op.Starts:
		return o
	case got.Launched && r.Phase == managed.Starting: // only a reading shows whether it starts: until then no other job gets its nodes
		return o.with(managed.StartUnsure{Until: now.Add(managed.LateCall)})
	case c.Failures > 1:
		reject := managed.SentBack{Why: managed.ShortReason(err.Error()), At: now.Unix(), Kinds: managed.KindsOf(nodes)}
		o.Events = []Event{Rejected(reject.Why, r.Rejected.Times+1)}
		return o.with(reject)
	}
	return o.with(managed.BackToQueue{})
}
