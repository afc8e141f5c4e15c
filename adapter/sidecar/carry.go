package sidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/decide"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core"
	"accordion/shim/wire"
)

// situation is what decisions go by now.
func (s *Sidecar) situation(v *plan.World) decide.Situation {
	return decide.Situation{
		Now: s.ticks.clock.Now(), World: v, Trapped: s.workers.trapped, Outages: s.outages.Outages, Reserved: s.reservations.reserved, Tending: s.reservations.busy,
		Awaited: func(id core.JobID) bool { _, awaited := s.jobs.awaited[id]; return awaited },
	}
}

// carryOut does what was decided about a job: what changes is durable first, then told, then done.
func (s *Sidecar) carryOut(ctx context.Context, v *plan.World, r *managed.Job, d decide.Decision) error {
	if r.Phase != managed.Ending {
		r.Blocked = d.Waits
	}
	if d.Obstacle != managed.Nobody {
		r.WaitFor(d.Obstacle, v.Now)
	}
	if d.Limit != "" && d.Limit != r.MetLimit {
		s.meter.Limited(d.Limit)
	}
	r.MetLimit = d.Limit
	if d.For != 0 {
		v.Awaited[d.For] = r.UID
	}
	if !d.Again.IsZero() {
		r.Retry = d.Again
	}
	if d.Notice != "" {
		s.eventLog.notice(r.Key, d.Notice)
	}
	if d.Change != nil {
		d.Change(r)
		if err := s.jobs.save(r, d.Events...); err != nil {
			return err
		}
	} else if err := s.eventLog.events(r, d.Events); err != nil {
		return err
	}
	if d.Reserves != nil {
		s.reservations.take(*d.Reserves)
	}
	v.Take(d.Takes, r.ID)
	if d.Do != nil {
		s.workers.begin(ctx, r, d.Do)
	}
	if d.Done != nil {
		return s.jobs.apply(r, d.Done(s.eventLog.clock.Now()))
	}
	return nil
}

// finishAll takes in how acts ended: these, and all that have ended meanwhile. One plan is enough for all of them, where many were begun
// at once.
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

// finish takes in how acts ended.
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
	if op.Talk { // what has to be done next need not wait for another reading
		s.eventLog.stir()
	} else {
		s.jobs.touch(r)
		s.readings.refresh()
	}
	switch {
	case s.jobs.records[r.Key] != r: // over meanwhile
		return nil
	case c.err != nil:
		return s.failed(r, op, c.err)
	}
	r.Retry, r.Refused, r.Frozen, r.Failures = time.Time{}, nil, 0, 0
	if op.Done == nil {
		return nil
	}
	return s.jobs.apply(r, op.Done(s.eventLog.clock.Now()))
}

// apply carries out what follows from an operation.
func (s *jobs) apply(r *managed.Job, o decide.Outcome) error {
	if o.Notice != "" {
		s.eventLog.notice(r.Key, o.Notice)
	}
	if o.GaveBack {
		s.shrunk = s.readings.begun
	}
	if o.Retry > 0 {
		r.Retry = s.later(o.Retry)
	}
	if o.Save {
		if err := s.save(r, o.Events...); err != nil {
			return err
		}
	} else if err := s.eventLog.events(r, o.Events); err != nil {
		return err
	}
	if o.Reply != nil {
		r.Heard = r.Asks != nil
		r.Answer(o.Reply.Status, o.Reply.Why)
	}
	if o.Grew != nil {
		s.meter.Grew(o.Grew.Late, o.Grew.Cause)
	}
	return nil
}

// failed keeps the job for another try. Nothing was lost: what the batch system has, the next reading shows.
func (s *Sidecar) failed(r *managed.Job, op *decide.Operation, err error) error {
	pause := time.Second
	switch {
	case errors.Is(err, adapter.ErrReserved):
		pause = reserved
	case errors.Is(err, adapter.ErrBusy):
		pause = hurry
	case errors.Is(err, adapter.ErrFrozen):
		pause = s.jobs.freeze(r, err)
	case errors.Is(err, adapter.ErrTrap):
		s.workers.trapped = s.jobs.later(5 * time.Second)
	case errors.Is(err, adapter.ErrLimit), errors.Is(err, adapter.ErrShut):
		pause = limited
	case !errors.Is(err, adapter.ErrGone):
		r.Failures++
		pause = backoff(r.Failures)
	}
	r.Retry = s.jobs.later(pause)
	if errors.Is(err, adapter.ErrBusy) && !errors.Is(err, adapter.ErrReserved) {
		r.Refused = r.NextNodes
	}
	if r.Blocked = err.Error(); r.Stiff(s.eventLog.clock.Now()) {
		r.Blocked = stiffness(err)
		r.Answer(wire.Late, r.Blocked)
	}
	s.eventLog.notice(r.Key, fmt.Sprintf("%s failed, will be tried again: %v", op.Verb, err))
	if op.Undo == nil {
		return nil
	}
	if op.Undo(r); r.Phase == managed.Starting {
		r.Straggles = s.jobs.later(managed.Straggles)
	} else if op.Starts && r.Failures > 1 {
		return s.jobs.reject(r, err)
	}
	return s.jobs.save(r)
}

// reject sets aside a job of which the batch system has refused several starts in a row.
func (s *jobs) reject(r *managed.Job, why error) error {
	r.Reject(why.Error(), s.eventLog.clock.Now().Unix(), managed.KindsOf(s.readings.snapshot.Nodes))
	return s.save(r, decide.Rejected(r.Rejected.Said, r.Rejected.Times))
}

// backoff is the pause after so many failures in a row: what fails for a moment is soon tried again, and what always fails does not
// keep the batch system busy.
func backoff(failures int) time.Duration {
	return 3 * time.Second << min(max(failures-3, 0), 5)
}

// reserved is the pause after a reservation of others was in the way: the next reading shows it, and then the plan goes around it.
const reserved = 5 * time.Second

// limited is the pause after the batch system refused something by a limit, or because the partition takes no jobs. A reading says by then which one it is, and what is used
// of it has to change first.
const limited = 10 * time.Second
