package sidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/decide"
	"accordion/adapter/fair"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/session"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/core"
)

// Options has everything that New needs to create a Sidecar.
type Options struct {
	System     adapter.BatchSystem
	Journal    actions.Journal
	Calls      <-chan session.Call   // calls from the jobs' shims; nil if there are none
	Clock      adapter.Clock         // nil means the wall clock
	Log        hclog.Logger          // nil means no log
	Meter      actions.Meter         // nil if nothing is counted
	Lease      Lease                 // if it has no Leaser, the caller makes sure that no other sidecar serves the batch system
	Parts      func(PartsHost) Parts // schedules the parts of applications; nil if no launchers are served
	Subscriber status.Subscriber     // receives what browsers show; nil if there is none
	Settings   managed.Settings
}

// A Sidecar schedules and resizes the managed jobs of one batch system.
type Sidecar struct {
	settings  managed.Settings
	calls     <-chan session.Call
	changes   <-chan struct{} // changes reported by an adapter.ChangeNotifier; nil if the batch system is not one
	asked     chan struct{}   // Alive sends, and the loop receives
	resets    chan reset
	meter     actions.Meter
	publisher *status.Publisher

	time         timekeeper
	eventLog     *eventLog
	workers      *workers
	lease        *leaseKeeper
	readings     *readings
	jobs         *jobs
	nodes        *nodes
	reservations *reservations
	orphans      *orphans
	parts        Parts
	pacing       *pacing
	standstill   *standstill
	turns        *turns
	tasks        taskOrder
	outages      *outages
	gate         *gateKeeper
}

// New returns a sidecar, which does nothing until Run is called.
func New(o Options) *Sidecar {
	if o.Clock == nil {
		o.Clock = adapter.Wall{}
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	if o.Meter == nil {
		o.Meter = actions.NoMeter{}
	}
	s := &Sidecar{settings: o.Settings, calls: o.Calls, asked: make(chan struct{}), resets: make(chan reset), meter: o.Meter, time: timekeeper{clock: o.Clock}}
	if notifier, ok := o.System.(adapter.ChangeNotifier); ok {
		s.changes = notifier.Changes()
	}
	caller := &actions.Caller{
		System: o.System, Journal: o.Journal, Meter: o.Meter, Clock: o.Clock, Log: o.Log, Cluster: o.Settings.Cluster, Deadline: o.Settings.Deadline,
		Gate: fair.NewGate(callsAtOnce, 2, o.Clock.Now),
	}
	s.eventLog = &eventLog{journal: o.Journal, logger: o.Log, clock: o.Clock, cluster: o.Settings.Cluster, lastNotice: map[adapter.Key]string{}}
	s.workers = &workers{caller: caller, finished: make(chan result, 64)}
	s.lease = newLeaseKeeper(o.Lease, s.eventLog, o.Clock, o.Settings.Deadline, s.workers.Go)
	caller.Term = s.lease.term
	s.readings = &readings{eventLog: s.eventLog, workers: s.workers, arrived: make(chan reading, 1), remarksOnce: map[string]bool{}}
	s.jobs = &jobs{eventLog: s.eventLog, readings: s.readings, meter: o.Meter, settings: o.Settings, launchers: o.Parts != nil, records: map[adapter.Key]*managed.Job{}, usage: view.NewUsageLedger(o.Settings.Unused.HalfLife, nil)}
	s.nodes = &nodes{
		eventLog: s.eventLog, jobs: s.jobs, workers: s.workers,
		idle: map[string]time.Time{}, lost: map[string]time.Time{}, away: map[string]time.Time{}, woken: map[string]time.Time{},
	}
	s.reservations = &reservations{
		eventLog: s.eventLog, readings: s.readings, jobs: s.jobs, workers: s.workers,
		wants: map[string]adapter.Reservation{}, tending: map[string]tended{},
	}
	s.orphans = &orphans{eventLog: s.eventLog, readings: s.readings, workers: s.workers, ended: map[adapter.Key]ended{}}
	s.parts = noParts{}
	if o.Parts != nil {
		s.parts = o.Parts(s.partsHost())
	}
	s.turns = &turns{clock: o.Clock}
	s.turns.limiter, _ = o.System.(adapter.RateLimiter)
	s.reservations.parts, s.reservations.turns = s.parts, s.turns
	s.gate = newGateKeeper(caller, o.Settings.All, o.Clock, s.workers.background)
	s.pacing = &pacing{eventLog: s.eventLog, readings: s.readings, jobs: s.jobs, parts: s.parts, turns: s.turns, settings: o.Settings}
	s.standstill = &standstill{clock: o.Clock, jobs: s.jobs}
	s.outages = &outages{eventLog: s.eventLog}
	s.publisher = &status.Publisher{
		Journal: o.Journal, Meter: o.Meter, Clock: o.Clock, Settings: o.Settings, Event: s.eventLog.event, Subscriber: o.Subscriber,
		LastLogged: func(key adapter.Key) string { return s.eventLog.lastNotice[key] }, GoneSince: s.nodes.goneSince, Outages: s.outages.view,
		Usage: func() view.Usage { return s.jobs.usage.Usage },
	}
	return s
}

// Run observes, plans and acts until ctx ends. Then it waits for calls that are under way, and
// returns nil. It returns an error if the journal cannot be read or written, and an
// *adapter.LeaseHeldError if another sidecar serves the batch system.
func (s *Sidecar) Run(ctx context.Context) error {
	if err := s.lease.take(ctx); err != nil {
		if ctx.Err() != nil { // the batch system may have granted the lease anyway
			s.lease.release()
			return nil
		}
		return err
	}
	defer s.lease.release()
	if err := s.recover(); err != nil {
		return err
	}
	s.workers.caller.Ends = ctx.Done()
	calls, stop := context.WithCancel(context.WithoutCancel(ctx)) // a call under way is not canceled
	defer stop()
	defer s.workers.Wait()
	for {
		s.lease.renewIfDue(calls)
		if s.pacing.due() {
			s.readings.begin(calls)
		}
		news := func() error { return nil }
		pause, reads := s.pacing.pause()
		s.standstill.expect(pause)
		woken := false
		select {
		case <-ctx.Done():
			return nil
		case <-s.time.clock.After(s.lease.pause(pause)):
			woken = true
		case <-s.changes: // the next reading shows what changed
			s.readings.stale = true
			continue
		case <-s.asked:
			continue
		case r := <-s.resets:
			news = func() error { return s.reset(r) }
		case <-s.parts.Ordered():
		case r := <-s.readings.arrived:
			news = func() error { return s.absorb(r) }
		case r := <-s.lease.answers:
			news = func() error { return s.lease.renewed(r) }
		case c := <-s.workers.finished:
			news = func() error { return s.finishAll(c) }
		case call := <-s.calls:
			news = func() error { s.receive(call); return nil }
		}
		set, err := s.keepTime() // the clock is checked before anything is written with the new time
		s.standstill.end(set)
		s.standstill.expect(0) // evaluating results and planning should take no time
		if err == nil {
			err = news()
		}
		if err == nil && !(woken && reads && s.pacing.due()) { // otherwise a reading begins now, and the plan is made after it
			err = s.cycle(calls)
		}
		s.standstill.end(set)
		if err != nil {
			return fmt.Errorf("cluster %s: the sidecar stops; running jobs run on: %w", s.settings.Cluster, err)
		}
	}
}

// Alive returns nil when the loop receives its call. It returns an error if ctx ends first, because
// the loop hangs or Run is not under way. It may be called from any goroutine.
func (s *Sidecar) Alive(ctx context.Context) error {
	select {
	case s.asked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A reset makes the loop forget the unused node-seconds of a user's jobs.
type reset struct {
	user string
	done chan<- bool // receives whether there was anything to forget; has room for one value
}

// ResetUnused makes the loop forget the unused node-seconds of a user's jobs, and reports whether
// there were any. It may be called from any goroutine.
func (s *Sidecar) ResetUnused(ctx context.Context, user string) (bool, error) {
	done := make(chan bool, 1)
	select {
	case s.resets <- reset{user, done}:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	select {
	case had := <-done:
		return had, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// reset removes the count of a user's unused node-seconds, and records that in the journal.
func (s *Sidecar) reset(r reset) error {
	had := s.jobs.usage.Reset(r.user)
	r.done <- had
	if !had {
		return nil
	}
	text := fmt.Sprintf("an administrator reset what jobs of %s left unused", r.user)
	s.eventLog.Info(text)
	return s.eventLog.Remark("limits reset", text, map[string]any{"user": r.user})
}

// recover reads the journal. It closes the intents of calls that were under way when the last
// sidecar ended: the first reading shows whether they were carried out.
func (s *Sidecar) recover() error {
	if err := s.jobs.restore(); err != nil {
		return err
	}
	if err := s.jobs.recall(); err != nil {
		return err
	}
	if ager, ok := s.workers.caller.System.(adapter.Ager); ok {
		for _, r := range s.jobs.sorted() {
			ager.Recall(r.Key, r.CouldRun)
		}
	}
	if err := s.standstill.resume(s.eventLog.journal); err != nil {
		return err
	}
	if err := s.outages.resume(s.eventLog.journal); err != nil {
		return err
	}
	open, err := s.eventLog.journal.Unfinished()
	if err != nil {
		return err
	}
	for _, e := range open {
		if err := s.eventLog.journal.Resolve(e.ID, s.time.clock.Now(), "interrupted: the sidecar ended before the answer"); err != nil {
			return err
		}
	}
	s.eventLog.Info("ready", "managed", len(s.jobs.records), "interrupted", len(open))
	return s.eventLog.Remark("ready", "the sidecar begins", map[string]any{"managed": len(s.jobs.records), "interrupted": len(open)})
}

// keepTime adapts to a clock that was set, and reports whether it was. The planned seconds of
// running jobs move with the clock, because an application runs for a certain time and not until a
// certain second. The batch system's limits do not move.
func (s *Sidecar) keepTime() (set bool, err error) {
	by := s.time.jump()
	if by == 0 {
		return false, nil
	}
	if err := s.jobs.shift(by); err != nil {
		return true, err
	}
	s.outages.Shift(int64(by / time.Second))
	s.workers.trapped, s.readings.at, s.readings.slow = time.Time{}, s.time.last, 0
	s.nodes.forget()
	s.reservations.clockSet()
	s.lease.renewNow()
	s.parts.ClockSet()
	s.readings.refresh()
	text := fmt.Sprintf("the clock was set by %v: what is planned for running jobs moves with it", by)
	s.eventLog.Warn(text)
	return true, s.eventLog.Remark("clock", text, map[string]any{"seconds": by.Seconds()})
}

// absorb updates the sidecar's state from a reading. If the two differ about which jobs run and on
// which nodes, the reading is right.
func (s *Sidecar) absorb(r reading) error {
	if err := s.outages.note(r); err != nil {
		return err
	}
	if tells, err := s.readings.take(r); err != nil || !tells {
		return err
	}
	s.nodes.note(r.snapshot)
	here, err := s.jobs.absorb(r.snapshot)
	if err != nil {
		return err
	}
	s.orphans.forget(here)
	s.readings.logRemarks()
	return s.jobs.dropMissing(here, r.snapshot)
}

// cycle plans with the newest reading, and makes the calls that the plan needs.
func (s *Sidecar) cycle(ctx context.Context) error {
	if _, err := s.keepTime(); err != nil { // the clock is checked again, because writing takes time and the plan is for this second
		return err
	}
	if s.readings.snapshot == nil {
		return nil
	}
	begin := s.time.clock.Now()
	s.jobs.usage.Limit = s.settings.Unused.Pool * core.Time(len(s.readings.snapshot.Nodes))
	v := plan.Make(s.input())
	v.Apply()
	for _, n := range v.Notes {
		log := s.eventLog.Info
		if n.Warns {
			log = s.eventLog.Warn
		}
		log(n.Text, append([]any{"job", n.Job}, n.Fields...)...)
	}
	for _, part := range []func() error{
		func() error { return s.publisher.CheckPromises(v) },
		func() error { return s.publisher.AnnounceStarts(v) },
		func() error { return s.act(ctx, v) },
		func() error { return s.publisher.Publish(v) },
	} {
		if err := part(); err != nil {
			return err
		}
	}
	s.parts.Show(v)
	s.meter.Unused(s.jobs.unused, len(s.jobs.usage.UsersOver(v.Now)))
	s.jobs.unused = 0
	s.meter.Cycle(s.time.clock.Now().Sub(begin), s.readings.snapshot.At, s.jobs.phases(), len(v.Queue))
	return nil
}

// input returns the input of a plan. The plan is for the second in which keepTime was last called,
// because a clock that is set after that must not end running jobs.
func (s *Sidecar) input() plan.Input {
	return plan.Input{
		Now: s.time.last.Unix(), Instant: s.time.clock.Now(), Snapshot: s.readings.snapshot, Jobs: s.jobs.sorted(),
		Parts:        s.parts.Look(s.time.last.Unix(), s.readings.snapshot),
		OutOfService: s.nodes.outOfService, Fresh: s.jobs.fresh, Settled: s.readings.shows(s.jobs.shrunk), Settings: s.settings,
		OverLimit: func(user string) bool { return s.jobs.usage.Over(user, s.time.last.Unix()) },
	}
}

// act makes the calls that are needed to carry out the plan and whose results the batch system does
// not show yet. Each job has at most one operation at a time.
func (s *Sidecar) act(ctx context.Context, v *plan.World) error {
	if s.readings.failures >= maxFailures { // the newest reading is too old to act on
		return s.jobs.saveDirty()
	}
	if held, err := s.lease.held(); err != nil || !held {
		return errors.Join(err, s.jobs.saveDirty())
	}
	defer func() { s.jobs.awaited = v.Awaited }()
	var resizes []*managed.Job
	s.tasks.begin()
	for _, r := range inOrder(s.jobs.sorted(), v.Queue) {
		if !s.jobs.fresh(r) || r.Seen == nil || s.time.clock.Now().Before(r.RetryAt) || !s.jobs.settled(r) {
			s.tasks.note(r, v.Now+s.settings.StartLead, s.time.clock.Now())
			continue
		}
		r.CountSuspension(v.Now)
		r.ApplyOutages(s.outages.Outages, v.Now)
		s.jobs.lengthen(r, v.Now)
		r.UpdateDialog(s.time.clock.Now(), v.Now)
		d := decide.About(r, s.situation(v))
		if d.Do != nil && d.Do.Resize {
			resizes = append(resizes, r)
			continue
		}
		if starts := d.Do != nil && d.Do.Starts; starts && s.tasks.waits(r, s.time.clock.Now()) {
			r.WaitReason = "an earlier task of its array, which starts first"
			continue
		} else if !starts {
			s.tasks.note(r, v.Now+s.settings.StartLead, s.time.clock.Now())
		}
		if err := s.carryOut(fair.For(ctx, r.UID), v, r, d, nil); err != nil {
			return err
		}
	}
	if err := s.resize(ctx, v, resizes); err != nil {
		return err
	}
	if err := s.parts.Carry(ctx, v); err != nil {
		return err
	}
	s.reservations.tend(ctx, v)
	s.orphans.sweep(ctx, v.OrphanExpanders, func(j *adapter.Job) bool { return s.jobs.find(j.Expands) != nil })
	s.nodes.repair(ctx, v)
	s.nodes.wake(ctx, v)
	s.gate.set(ctx, v.StartsAtOnce())
	return s.jobs.saveDirty()
}
