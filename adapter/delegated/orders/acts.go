package orders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/fair"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/core/hostlist"
)

// abandoned is the number of seconds after which the batch system itself deletes the reservation of a prepared part if no job runs in it.
// So the reservation disappears even if all sidecars are dead.
const abandoned core.Time = 60

// endAgain is the pause before the sidecar again ends a job that still exists although it was ended.
const endAgain = 40 * time.Second

// do starts a goroutine that makes the calls of the entry's step.
func (k *Keeper) do(ctx context.Context, e *entry, v *plan.World) {
	acts, done := k.actsOf(ctx, e, v)
	if acts == nil {
		return
	}
	e.busy = true
	e.memory.Unsure = e.memory.Unsure || e.step.Verb == Start
	k.Beside(acts, func(err error) {
		e.memory.Unsure = !e.unsure.IsZero()
		_, begun := k.Epochs()
		e.busy, e.writing, e.touched = false, nil, begun
		k.Refresh()
		if err == nil {
			e.fails, e.memory.Frozen = 0, 0
			done()
			k.again(e)
			return
		}
		k.failed(e, err)
	})
}

// again delays a step that is repeated although it already succeeded. Each repetition waits longer, because the batch system may never
// show the effect of the step.
func (k *Keeper) again(e *entry) {
	if e.step.Verb != e.lastVerb {
		e.lastVerb, e.repeats = e.step.Verb, 0
		return
	}
	if later := k.Clock.Now().Add(time.Second << min(e.repeats, 4)); later.After(e.retry) {
		e.retry = later
	}
	e.repeats++
}

// actsOf returns the calls of a step, and a function that records their success.
func (k *Keeper) actsOf(ctx context.Context, e *entry, v *plan.World) (acts func() error, done func()) {
	nothing := func() {}
	if e.step.Verb == Prepare {
		return k.prepare(ctx, e, v)
	}
	if e.step.Verb == Ask {
		return k.ask(ctx, e)
	}
	if e.job == nil {
		return nil, nil
	}
	ctx = fair.For(ctx, e.job.UID)
	key, why := e.job.Key, e.step.Why
	switch e.step.Verb {
	case Adopt:
		return func() error { return k.Acts.Adopt(ctx, key) }, nothing
	case Start:
		name := managed.PartReservation(e.order.Application)
		return func() error { return k.Acts.Launch(ctx, key, name) }, nothing
	case Hold:
		return func() error { return k.Acts.Hold(ctx, key) }, nothing
	case Detach:
		return func() error { return k.Acts.Detach(ctx, key) }, nothing
	case End:
		return func() error { return k.Acts.End(ctx, key, why) }, func() {
			e.memory.Failed, e.retry = true, k.Clock.Now().Add(endAgain)
		}
	}
	return nil, nil
}

// ask asks the batch system how the job of a part ended, if readings no longer show the job. If the batch system does not know the job
// any more, the part does not count as failed. If the job has not ended, ask is called again.
func (k *Keeper) ask(ctx context.Context, e *entry) (acts func() error, done func()) {
	gone, why, alive := e.memory.Gone, "", false
	return func() error {
			ctx, cancel := context.WithTimeout(ctx, k.Acts.Deadline)
			defer cancel()
			j, err := k.Acts.System.Inspect(ctx, gone)
			if errors.Is(err, adapter.ErrGone) {
				return nil
			}
			if err == nil {
				why, alive = j.Why, j.State == adapter.Running || j.State == adapter.Pending
			}
			return err
		}, func() {
			if alive { // the job still exists: the readings or the user directory were late
				e.memory.Ended = 0
				return
			}
			e.memory.Failed = e.memory.Failed || failed(why)
			e.memory.Gone = adapter.Key{}
		}
}

// prepare reserves nodes for a part, and sets its job's size and time limit. If the batch system itself makes the jobs of parts, prepare
// first lets it make the job.
func (k *Keeper) prepare(ctx context.Context, e *entry, v *plan.World) (acts func() error, done func()) {
	o, nodes, settings := e.order, e.step.Nodes, k.Settings
	var key adapter.Key
	if e.job != nil {
		key, ctx = e.job.Key, fair.For(ctx, e.job.UID)
	}
	r := adapter.Reservation{
		Name: managed.PartReservation(o.Application), Nodes: nodes, Start: v.Now, User: o.User, Idle: abandoned,
		End: v.Now + settings.StartLead + o.Limit + settings.Guard + plan.Expiry,
	}
	shape := adapter.Shape{Nodes: o.Hosts, On: nodes, Limit: o.Limit}
	v.Take(nodes, e.plan.ID)
	k.Take(r)
	e.writing, e.wrote, e.at = nodes, o.Try, v.Now
	maker, makes := k.Acts.System.(adapter.JobSubmitter)
	return func() (err error) {
			if key.ID == 0 {
				if !makes {
					return errors.New("this batch system makes no jobs: submit one, held, with launch=")
				}
				if key, err = k.Acts.Make(ctx, maker, o.Application, o.User, o.Hosts, o.Limit); err != nil {
					return err
				}
			}
			return k.Acts.Prepare(ctx, key, r, shape)
		}, func() {
			k.Take(r) // again, because a reading that began during the call may not show the reservation
			e.memory.Prepared, e.memory.Nodes = o.Try, nodes
		}
}

// failed records that calls for an entry failed. The next reading will show what was done.
func (k *Keeper) failed(e *entry, err error) {
	e.fails++
	e.retry = k.Clock.Now().Add(time.Second << min(e.fails-1, 4))
	if errors.Is(err, adapter.ErrFrozen) && !errors.Is(err, adapter.ErrTrap) {
		now := k.Clock.Now()
		e.memory.Frozen = cmp.Or(e.memory.Frozen, now.Unix())
		e.memory.Stiff = managed.LongFrozen(e.memory.Frozen, now)
	}
	if e.step.Verb == Start && errors.Is(err, context.DeadlineExceeded) {
		e.unsure, e.settled, e.memory.Unsure = k.Clock.Now().Add(managed.LateCall), 0, true
	}
	refuses := errors.Is(err, adapter.ErrBusy) || errors.Is(err, adapter.ErrLimit) || errors.Is(err, adapter.ErrFrozen)
	if e.step.Verb == Prepare || e.step.Verb == Start && refuses {
		e.memory.Refused, e.memory.Why = e.order.Try, err.Error()
		e.retry = time.Time{}
	}
}

// planOf updates the part as the plan sees it (e.plan), and reports whether the plan must contain the part.
func (k *Keeper) planOf(e *entry, now core.Time) bool {
	o := e.order
	was := e.plan
	e.plan = managed.Job{Plan: managed.Plan{NamedBefore: was.NamedBefore, Course: was.Course}, Reading: managed.Reading{Seen: k.seen(e)}}
	e.plan.Key, e.plan.User, e.plan.Request = e.plan.Seen.Key, o.User, fmt.Sprintf("launch=%d", o.Application)
	e.plan.Part = &managed.Part{Application: o.Application, Rank: o.Rank, Margin: max(0, o.Limit-o.Walltime), Unmade: e.job == nil}
	e.plan.Choices = []core.EP{{{Duration: max(o.Walltime, 1), Nodes: max(o.Hosts, 1)}}}
	pending := e.job == nil && o.Job == 0 || e.job != nil && e.job.State == adapter.Pending
	running := e.job != nil && e.job.State == adapter.Running
	if t := (try{o: o, s: Observation{Job: e.job}, m: e.memory}); t.unsure() {
		if r, there := k.Reserved(managed.PartReservation(o.Application)); there && k.idle(r.Nodes) {
			e.hold(managed.Starting, r.Nodes, now, now+core.Time(managed.LateCall/time.Second))
			return true
		}
	}
	switch o.Want {
	case mailbox.Wait:
		e.plan.Part.Begin, e.plan.Part.Ahead, e.plan.Phase = o.At, true, managed.Waiting
		return pending && o.At < core.Forever
	case mailbox.Prepare:
		switch nodes := k.reservedFor(e); {
		case e.memory.Refused == o.Try || running:
			return false
		case nodes != nil:
			e.hold(managed.Starting, nodes, e.at, e.at+o.Limit)
			return true
		}
		e.plan.Phase = managed.Waiting
		return pending
	case mailbox.Start, mailbox.Run:
		switch nodes := k.reservedFor(e); {
		case running:
			e.hold(managed.Running, e.job.Nodes, e.job.Started, max(o.By, e.job.Started+1))
			return true
		case pending && nodes != nil && e.memory.Refused != o.Try:
			e.hold(managed.Starting, nodes, now, max(o.By, now+1))
			return true
		}
	case mailbox.Ghost:
		t := try{o: o, s: Observation{Job: e.job}, m: e.memory}
		if r, there := k.Reserved(managed.GhostReservation(o.Application)); there {
			t.s.Ghost = &r
		}
		if nodes := t.ghostNodes(); nodes != nil && o.Until > now {
			e.hold(managed.Ending, nodes, now, o.Until)
			return true
		}
	}
	return false
}

// idle reports whether all of the nodes are idle in the newest reading. If they are, no other job began there before this sidecar knew of
// the part.
func (k *Keeper) idle(nodes []string) bool {
	return !slices.ContainsFunc(k.nodes, func(n adapter.Node) bool { return !n.Idle && slices.Contains(nodes, n.Name) })
}

// hold makes the part occupy the nodes in the plan, in the interval [`from`, `until`).
func (e *entry) hold(phase managed.Phase, nodes []string, from, until core.Time) {
	p := &e.plan
	p.Phase, p.Decided, p.Nodes, p.Planned, p.Began = phase, true, nodes, from, from
	p.Choices[0][0].Nodes = len(nodes)
	p.Promise, p.PlannedEnd, p.StepCalls = []core.Time{until}, until, managed.StepCallsNever
}

// reservedFor returns the nodes that are reserved for the part's start in the present try, or are just being reserved. It returns none if
// the reservation is of an earlier try, because other jobs may have its nodes now. A late call of the earlier try may have replaced the
// reservation of the present try.
func (k *Keeper) reservedFor(e *entry) []string {
	if e.writing != nil && e.wrote == e.order.Try {
		return e.writing
	}
	r, there := k.Reserved(managed.PartReservation(e.order.Application))
	prepared := e.memory.Prepared == e.order.Try
	if !there || prepared && !managed.SameNodes(r.Nodes, e.memory.Nodes) || !prepared && e.order.Want == mailbox.Prepare {
		return nil
	}
	return r.Nodes
}

// made plus the application's number is the ID that a job has in the plan before the batch system makes the job.
const made core.JobID = 1 << 40

// seen returns the part's job for the plan, or a substitute if the job does not exist yet.
func (k *Keeper) seen(e *entry) *adapter.Job {
	if e.job != nil {
		return e.job
	}
	return &adapter.Job{
		Key:  adapter.Key{ID: made + core.JobID(e.order.Application), Submitted: e.order.Rank},
		User: e.order.User, State: adapter.Pending, Held: true, Want: e.order.Hosts, Limit: e.order.Limit, Mark: adapter.LaunchMark(e.order.Application),
	}
}

// names returns node names as a host list.
func names(nodes []string) string { return hostlist.Compact(nodes) }
