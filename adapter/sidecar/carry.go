package sidecar

import (
	"context"
	"time"

	"accordion/adapter/actions"
	"accordion/adapter/decide"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/shim/wire"
)

// situation returns everything on which decisions depend now.
func (s *Sidecar) situation(v *plan.World) decide.Situation {
	return decide.Situation{
		Now: s.time.clock.Now(), World: v, Trapped: s.workers.trapped, Outages: s.outages.Outages, Reserved: s.reservations.reserved, Tending: s.reservations.busy,
		Awaited: s.jobs.awaited,
	}
}

// carryOut carries out a decision. It writes the changed record and the events first, and then
// starts the operation. If `done` is not nil, it is called when the calls have ended.
func (s *Sidecar) carryOut(ctx context.Context, v *plan.World, r *managed.Job, d decide.Decision, done func()) error {
	if r.Phase != managed.Ending {
		r.WaitReason = d.Waits
	}
	if d.Obstacle != managed.Nobody {
		r.WaitFor(d.Obstacle, v.Now)
	}
	if d.Limit != "" && d.Limit != r.LimitMet {
		s.meter.Limited(d.Limit)
	}
	r.LimitMet = d.Limit
	if d.For != 0 {
		v.Awaited[d.For] = r.UID
	}
	if !d.Again.IsZero() {
		r.RetryAt = d.Again
	}
	if d.Notice != "" {
		s.eventLog.notice(r.Key, d.Notice)
	}
	if err := s.jobs.change(r, d.Changes, d.Events); err != nil {
		return err
	}
	if d.Reserves != nil {
		s.reservations.take(*d.Reserves)
	}
	v.Take(d.Takes, r.ID)
	if d.Do != nil {
		s.workers.begin(ctx, r, d.Do, done)
	}
	if d.AtOnce != nil {
		return s.jobs.apply(r, *d.AtOnce)
	}
	return nil
}

// finishAll takes the result c, and all other results that have arrived. One plan is then made for
// all results.
func (s *Sidecar) finishAll(c result) error {
	for {
		if err := s.finish(c); err != nil {
			return err
		}
		select {
		case c = <-s.workers.finished:
		default:
			return nil
		}
	}
}

// finish takes the result of calls.
func (s *Sidecar) finish(c result) error {
	if broken := actions.Broken(c.err); broken != nil {
		return broken
	}
	r, op := c.job, c.operation
	if r == nil {
		c.over(c.err)
		return nil
	}
	s.workers.ended(r, op)
	if op.Talk { // the newest reading is still valid
		s.eventLog.active()
	} else {
		s.jobs.touch(r)
		s.readings.refresh()
	}
	switch {
	case s.jobs.records[r.Key] != r: // the job has ended in the meantime
		return nil
	case c.err != nil:
		o := decide.Failed(r, op, c.got, c.err, s.readings.snapshot.Nodes, s.eventLog.clock.Now())
		if o.Trapped > 0 {
			s.workers.trapped = s.jobs.later(o.Trapped)
		}
		return s.jobs.apply(r, o)
	}
	r.RetryAt, r.RefusedNodes, r.FrozenSince, r.Failures = time.Time{}, nil, 0, 0
	return s.jobs.apply(r, decide.Succeeded(r, op, c.got, s.settings, s.eventLog.clock.Now()))
}

// apply carries out the outcome of an operation.
func (s *jobs) apply(r *managed.Job, o decide.Outcome) error {
	for _, text := range o.Notices {
		s.eventLog.notice(r.Key, text)
	}
	if o.GaveBack {
		s.shrunk = s.readings.begun
	}
	if o.Retry > 0 {
		r.RetryAt = s.later(o.Retry)
	}
	if err := s.change(r, o.Changes, o.Events); err != nil {
		return err
	}
	if o.Reply != nil {
		if o.Reply.Status == wire.Resized {
			r.StepTold = r.Question != nil
		}
		r.Answer(o.Reply.Status, o.Reply.Why)
	}
	if o.Grew != nil {
		s.meter.Grew(o.Grew.Late, o.Grew.Cause)
	}
	return nil
}

// change makes changes to a job, and writes the job's events. If the job's record changes, record
// and events are written together.
func (s *jobs) change(r *managed.Job, changes []managed.Change, events []decide.Event) error {
	if r.Apply(changes) {
		return s.save(r, events...)
	}
	return s.eventLog.events(r, events)
}
