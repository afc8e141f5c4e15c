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

// Succeeded returns what follows when all calls of op succeeded. `got` is what they returned.
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

// `with` returns the outcome with one more change.
func (o Outcome) with(c managed.Change) Outcome {
	o.Changes = append(slices.Clip(o.Changes), c)
	return o
}

// afterResize returns what follows from a resize. Either the next step begins, or the job has
// regained the nodes of a resize that the batch system had forgotten.
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
	afterBusy = 250 * time.Millisecond // the batch system is in the middle of another change
	// afterReserved is the pause if a reservation of others has the nodes. The next reading shows
	// that reservation, and then the plan avoids its nodes.
	afterReserved = 5 * time.Second
	afterTrap     = 5 * time.Second // a resize would go wrong now, and no job is resized during this pause
	// afterLimit is the pause if a limit forbids the call, or the partition takes no jobs. The next
	// reading shows which limit it is. A retry can succeed only after the use under that limit has
	// changed.
	afterLimit = 10 * time.Second
	afterOther = time.Second
)

// pauseAfter returns the pause after a number of failures in a row. A call that fails for a moment
// is soon repeated, and a call that always fails does not keep the batch system busy.
func pauseAfter(failures int) time.Duration {
	return 3 * time.Second << min(max(failures-3, 0), 5)
}

// Failed returns what follows when a call of op failed: the operation is tried again. Nothing is
// lost, because the next reading shows the state of the batch system. `nodes` is the pool.
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
	case got.Launched && r.Phase == managed.Starting: // only a reading shows whether the job starts; until then no other job gets its nodes
		return o.with(managed.StartUnsure{Until: now.Add(managed.LateCall)})
	case c.Failures > 1:
		reject := managed.SentBack{Why: managed.ShortReason(err.Error()), At: now.Unix(), Kinds: managed.KindsOf(nodes)}
		o.Events = []Event{Rejected(reject.Why, r.Rejected.Times+1)}
		return o.with(reject)
	}
	return o.with(managed.BackToQueue{})
}
