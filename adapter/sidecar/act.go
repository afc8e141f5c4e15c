package sidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/act"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/core/hostlist"
	"accordion/shim/wire"
)

// blind is how many readings must fail in a row before nothing more is done: one may fail for many reasons.
const blind = 2

// act does what the plan needs and the batch system does not have yet: at most one operation a job at a time.
func (s *Sidecar) act(ctx context.Context, v *plan.World) error {
	if s.failures >= blind { // nobody knows what is true: what is done now may be wrong, and loads what is in trouble
		return s.saveDirty()
	}
	defer func() { s.awaited = v.Awaited }()
	for _, r := range s.sorted() {
		if !s.fresh(r) || r.Seen == nil || s.clock.Now().Before(r.Retry) {
			continue
		}
		if err := s.decide(ctx, v, r); err != nil {
			return err
		}
	}
	if err := s.tend(ctx, v); err != nil {
		return err
	}
	s.sweep(ctx, v)
	s.nudge(ctx, v)
	s.wake(ctx, v)
	return s.saveDirty()
}

// decide begins the one operation that a job needs now, if any.
func (s *Sidecar) decide(ctx context.Context, v *plan.World, r *managed.Job) error {
	switch r.Phase {
	case managed.Waiting:
		return s.decideWaiting(ctx, v, r)
	case managed.Starting:
		return s.decideStarting(ctx, v, r)
	case managed.Running:
		return s.decideRunning(ctx, v, r)
	default: // ending: the first try failed, or we died in it
		return s.End(ctx, r, r.Why)
	}
}

func (s *Sidecar) decideWaiting(ctx context.Context, v *plan.World, r *managed.Job) error {
	r.Blocked = ""
	if why := v.Impossible(r); why != "" {
		s.begin(ctx, r, "refuse", func(ctx context.Context) error { return s.acts.Refuse(ctx, r.Key, why) }, nil)
		return s.event(r, "refused", why, nil)
	}
	if r.Seen.Mark == "" || r.Seen.HeldByUser || !r.Seen.Held {
		s.begin(ctx, r, "adopt", func(ctx context.Context) error { return s.acts.Adopt(ctx, r.Key) }, nil)
		return nil
	}
	c := r.Course
	switch {
	case r.Seen.Blocked:
		r.Blocked = r.Seen.Why
	case c == nil:
		r.Blocked = "no place in the plan"
	case c.Err != nil:
		r.Blocked = c.Err.Error()
	case c.Start > v.Now+s.settings.StartLead:
		r.Blocked = "nodes"
	case !r.Seen.MostNow.Allows(c.EP[0].Nodes):
		r.Blocked = r.Seen.MostNow.Why
	default:
		if free, who := v.Free(c.Added(0)); !free {
			r.Blocked = who.String()
			if who.Kind == managed.LateShrinker {
				v.Awaited[who.Job] = true
			}
			return nil
		}
		if s.anyAsleep(c.Added(0)) {
			r.Blocked = booting
			return nil
		}
		return s.start(ctx, v, r)
	}
	return nil
}

// begin runs an operation beside the loop; conclude hears how it ended, and then calls done.
func (s *Sidecar) begin(ctx context.Context, r *managed.Job, name string, work func(context.Context) error, done func() error) {
	r.Busy = name
	s.crew.Go(func() {
		s.finished <- conclusion{record: r, name: name, err: work(ctx), done: done}
	})
}

// conclusion is how an operation ended.
type conclusion struct {
	record *managed.Job // nil: a reservation's
	name   string
	err    error
	done   func() error
}

// talk says whether the operation was between the sidecar and the job alone: what the batch system shows is as true as
// before, and what has to be done next need not wait for another reading.
func (c conclusion) talk() bool { return c.name == "listen" || c.name == "publish" || c.name == "warn" }

// conclude takes in how an operation ended.
func (s *Sidecar) conclude(c conclusion) error {
	if broken := act.Broken(c.err); broken != nil {
		return broken
	}
	r := c.record
	if r == nil {
		return c.done()
	}
	r.Busy = ""
	if c.name == "resize" {
		s.resizes--
	}
	if c.talk() {
		s.stir()
	} else {
		s.touch(r)
		s.refresh()
	}
	if s.records[r.Key] != r {
		return nil // over meanwhile
	}
	if c.err == nil {
		r.Retry, r.Refused, r.Frozen, r.Failures = time.Time{}, nil, 0, 0
		if c.done == nil {
			return nil
		}
		return c.done()
	}
	return s.failed(r, c)
}

// failed keeps the job for another try. Nothing was lost: what the batch system has, the next reading shows.
func (s *Sidecar) failed(r *managed.Job, c conclusion) error {
	pause := time.Second
	switch {
	case errors.Is(c.err, adapter.ErrBusy):
		pause = hurry
	case errors.Is(c.err, adapter.ErrFrozen):
		pause = s.freeze(r, c.err)
	case errors.Is(c.err, adapter.ErrTrap):
		s.trapped = s.later(5 * time.Second)
	case errors.Is(c.err, adapter.ErrLimit):
		pause = limited
	case !errors.Is(c.err, adapter.ErrGone):
		r.Failures++
		pause = backoff(r.Failures)
	}
	r.Retry = s.later(pause)
	if errors.Is(c.err, adapter.ErrBusy) {
		r.Refused = r.NextNodes
	}
	if r.Blocked = c.err.Error(); r.Stiff(s.clock.Now()) {
		r.Blocked = stiffness(c.err)
		r.Answer(wire.Late, r.Blocked)
	}
	s.notice(r.Key, fmt.Sprintf("%s failed, will be tried again: %v", c.name, c.err))
	if r.Phase == managed.Starting && c.name == "start" {
		r.BackToQueue()
		return s.save(r)
	}
	if r.Resizing() {
		r.Target, r.NextNodes = r.Step, nil
		return s.save(r)
	}
	return nil
}

// backoff is the pause after so many failures in a row: what fails for a moment is soon tried again, and what always fails does not
// keep the batch system busy.
func backoff(failures int) time.Duration {
	return 3 * time.Second << min(max(failures-3, 0), 5)
}

// booting is what a job waits for whose nodes were powered down.
const booting = "nodes that boot"

// limited is the pause after the batch system refused something by a limit: a reading says by then which one it is, and what is used
// of it has to change first.
const limited = 10 * time.Second

// save makes a record durable.
func (s *Sidecar) save(r *managed.Job) error {
	data, err := r.Encode()
	if err != nil {
		return err
	}
	r.Dirty = false
	return s.journal.Put(journal.Record{Job: int64(r.ID), Submitted: r.Submitted, Data: data})
}

func (s *Sidecar) saveDirty() error {
	for _, r := range s.sorted() {
		if r.Dirty {
			if err := s.save(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// ended is a left-over expander that was ended, or is being ended.
type ended struct {
	busy  bool
	begun int       // readings that had begun by then
	retry time.Time // where it is still there, it is ended again from then on
}

// sweepAgain is what a batch system may take to end an expander before it is told again.
const sweepAgain = 3 * time.Second

// sweep ends expanders that belong to nothing under way: a merge that lost its race, a sidecar that died in a growth, a parent
// that is over.
func (s *Sidecar) sweep(ctx context.Context, v *plan.World) {
	for _, j := range v.Strays {
		key := j.Key
		if e, told := s.strays[key]; told && (e.busy || !s.newer(e.begun) || s.clock.Now().Before(e.retry)) {
			continue
		}
		s.strays[key] = ended{busy: true}
		if s.find(j.Expands) != nil {
			s.notice(key, fmt.Sprintf("expander of job %d is left over: ended", j.Expands))
		} else { // some batch systems leave them to us when their parent ends
			s.log.Debug("an expander has outlived its parent: ended", "cluster", s.settings.Cluster, "job", j.Expands, "expander", j.ID)
		}
		s.crew.Go(func() {
			s.finished <- conclusion{name: "sweep", err: s.acts.End(ctx, key, "left-over expander"), done: func() error {
				s.strays[key] = ended{begun: s.begun, retry: s.later(sweepAgain)}
				return nil
			}}
		})
	}
}

// names writes node names as a host list.
func names(nodes []string) string { return hostlist.Compact(nodes) }
