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

// Options are what a Sidecar is made of.
type Options struct {
	System     adapter.BatchSystem
	Journal    actions.Journal
	Calls      <-chan session.Call   // from the jobs' shims; nil: none will come
	Clock      adapter.Clock         // nil: the wall clock
	Log        hclog.Logger          // nil: no log
	Meter      actions.Meter         // nil: nothing is counted
	Lease      Lease                 // without a Leaser nobody else can serve the batch system
	Parts      func(PartsHost) Parts // schedules the parts of applications; nil: no launchers are served
	Subscriber status.Subscriber     // who looks at it in a browser; nil: nobody
	Settings   managed.Settings
}

// Sidecar plans and resizes the managed jobs of one batch system. It is a loop over parts, each of which has its own state.
type Sidecar struct {
	settings  managed.Settings
	calls     <-chan session.Call
	changes   <-chan struct{} // from a Herald; nil: it tells nothing
	asked     chan struct{}   // whether the loop is alive
	resets    chan reset
	meter     actions.Meter
	publisher *status.Publisher

	ticks        ticks
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

// New makes a sidecar. It does nothing until Run.
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
	s := &Sidecar{settings: o.Settings, calls: o.Calls, asked: make(chan struct{}), resets: make(chan reset), meter: o.Meter, ticks: ticks{clock: o.Clock}}
	if herald, ok := o.System.(adapter.ChangeNotifier); ok {
		s.changes = herald.Changes()
	}
	acts := &actions.Acts{
		System: o.System, Journal: o.Journal, Meter: o.Meter, Clock: o.Clock, Log: o.Log, Cluster: o.Settings.Cluster, Deadline: o.Settings.Deadline,
		Gate: fair.NewGate(actsAtOnce, 2, o.Clock.Now),
	}
	s.eventLog = &eventLog{journal: o.Journal, logger: o.Log, clock: o.Clock, cluster: o.Settings.Cluster, told: map[adapter.Key]string{}}
	s.workers = &workers{acts: acts, finished: make(chan result, 64)}
	s.lease = newLease(o.Lease, s.eventLog, o.Clock, o.Settings.Deadline, s.workers.Go)
	acts.Term = s.lease.Term
	s.readings = &readings{eventLog: s.eventLog, workers: s.workers, arrived: make(chan reading, 1), told: map[string]bool{}}
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
	s.turns.pacer, _ = o.System.(adapter.RateLimiter)
	s.reservations.parts, s.reservations.turns = s.parts, s.turns
	s.gate = newGate(acts, o.Settings.All, o.Clock, s.workers.beside)
	s.pacing = &pacing{eventLog: s.eventLog, readings: s.readings, jobs: s.jobs, parts: s.parts, turns: s.turns, settings: o.Settings}
	s.standstill = &standstill{clock: o.Clock, jobs: s.jobs}
	s.outages = &outages{eventLog: s.eventLog}
	s.publisher = &status.Publisher{
		Journal: o.Journal, Meter: o.Meter, Clock: o.Clock, Settings: o.Settings, Event: s.eventLog.event, Subscriber: o.Subscriber,
		LastLogged: func(key adapter.Key) string { return s.eventLog.told[key] }, GoneSince: s.nodes.goneSince, Outages: s.outages.view,
		Usage: func() view.Usage { return s.jobs.usage.Usage },
	}
	return s
}

// Run observes, plans and acts until ctx ends; then it waits for what is under way and returns nil. An error means that
// the journal can be neither read nor written: without it nothing may be done; or, an *adapter.Leased, that another sidecar
// serves the batch system.
func (s *Sidecar) Run(ctx context.Context) error {
	if err := s.lease.Take(ctx); err != nil {
		if ctx.Err() != nil { // told to end while it asked: the batch system may have granted it all the same
			s.lease.Leave()
			return nil
		}
		return err
	}
	defer s.lease.Leave()
	if err := s.recover(); err != nil {
		return err
	}
	s.workers.acts.Ends = ctx.Done()
	calls, stop := context.WithCancel(context.WithoutCancel(ctx)) // an action under way is finished, not torn
	defer stop()
	defer s.workers.Wait()
	for {
		s.lease.Tend(calls)
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
		case <-s.ticks.clock.After(s.lease.Pause(pause)):
			woken = true
		case <-s.changes: // what there is to know of it, only a reading tells
			s.readings.stale = true
			continue
		case <-s.asked:
			continue
		case r := <-s.resets:
			news = func() error { return s.reset(r) }
		case <-s.parts.Ordered():
		case r := <-s.readings.arrived:
			news = func() error { return s.absorb(r) }
		case r := <-s.lease.Answered:
			news = func() error { return s.lease.Hear(r) }
		case c := <-s.workers.finished:
			news = func() error { return s.finishAll(c) }
		case call := <-s.calls:
			news = func() error { s.hear(call); return nil }
		}
		set, err := s.keepTime() // before anything is written down by the new time
		s.standstill.end(set)
		s.standstill.expect(0) // news and plans take no time worth mentioning
		if err == nil {
			err = news()
		}
		if err == nil && !(woken && reads && s.pacing.due()) { // the plan is made of the reading that begins now
			err = s.cycle(calls)
		}
		s.standstill.end(set)
		if err != nil {
			return fmt.Errorf("cluster %s: the sidecar stops; running jobs run on: %w", s.settings.Cluster, err)
		}
	}
}

// Alive returns nil when the loop has looked up from its work, and an error when ctx ends before: it hangs, or Run is not, or not yet, at
// work. It may be called from any goroutine.
func (s *Sidecar) Alive(ctx context.Context) error {
	select {
	case s.asked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A reset asks the loop to forget what a user's jobs left unused.
type reset struct {
	user string
	done chan<- bool // receives whether there was anything; it has room for that
}

// ResetUnused forgets what a user's jobs left unused, and reports whether there was anything. It may be called from any goroutine.
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

// reset forgets what a user's jobs left unused, and records that in the journal.
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

// recover reads what the journal remembers. What was under way when the sidecar died is closed as interrupted: the
// first reading shows what became of it.
func (s *Sidecar) recover() error {
	if err := s.jobs.restore(); err != nil {
		return err
	}
	if err := s.jobs.recall(); err != nil {
		return err
	}
	if ager, ok := s.workers.acts.System.(adapter.Ager); ok {
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
		if err := s.eventLog.journal.Resolve(e.ID, s.ticks.clock.Now(), "interrupted: the sidecar ended before the answer"); err != nil {
			return err
		}
	}
	s.eventLog.Info("ready", "managed", len(s.jobs.records), "interrupted", len(open))
	return s.eventLog.Remark("ready", "the sidecar begins", map[string]any{"managed": len(s.jobs.records), "interrupted": len(open)})
}

// keepTime looks whether the clock was set. Applications work by the time that passes, not by the clock: the planned seconds of what
// runs move with it. The batch system's limits do not: what is over by its clock, it ends.
func (s *Sidecar) keepTime() (set bool, err error) {
	by := s.ticks.look()
	if by == 0 {
		return false, nil
	}
	if err := s.jobs.shift(by); err != nil {
		return true, err
	}
	s.outages.Shift(int64(by / time.Second))
	s.workers.trapped, s.readings.at, s.readings.slow = time.Time{}, s.ticks.last, 0
	s.nodes.forget()
	s.reservations.anew()
	s.lease.Anew()
	s.parts.Anew()
	s.readings.refresh()
	text := fmt.Sprintf("the clock was set by %v: what is planned for running jobs moves with it", by)
	s.eventLog.Warn(text)
	return true, s.eventLog.Remark("clock", text, map[string]any{"seconds": by.Seconds()})
}

// absorb takes in a reading: the batch system is right about what runs and what it holds.
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
	s.orphans.dismiss(here)
	s.readings.noteOdd()
	return s.jobs.remove(here, r.snapshot)
}

// cycle plans and acts on the newest reading.
func (s *Sidecar) cycle(ctx context.Context) error {
	if _, err := s.keepTime(); err != nil { // again: writing the news down takes time, and the plan goes by its second
		return err
	}
	if s.readings.snapshot == nil {
		return nil
	}
	begin := s.ticks.clock.Now()
	s.jobs.usage.Limit = s.settings.Unused.Pool * core.Time(len(s.readings.snapshot.Nodes))
	v := plan.Make(s.input())
	v.Apply()
	for _, n := range v.Said {
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
	s.meter.Cycle(s.ticks.clock.Now().Sub(begin), s.readings.snapshot.At, s.jobs.phases(), len(v.Queue))
	return nil
}

// input is what a plan is made of. Its second is that in which keepTime looked last, for a clock that is set just after it
// must not end what runs.
func (s *Sidecar) input() plan.Input {
	return plan.Input{
		Now: s.ticks.last.Unix(), Instant: s.ticks.clock.Now(), Snapshot: s.readings.snapshot, Jobs: s.jobs.sorted(),
		Parts:        s.parts.Look(s.ticks.last.Unix(), s.readings.snapshot),
		OutOfService: s.nodes.outOfService, Fresh: s.jobs.fresh, Settled: s.readings.shows(s.jobs.shrunk), Settings: s.settings,
		OverLimit: func(user string) bool { return s.jobs.usage.Over(user, s.ticks.last.Unix()) },
	}
}

// act does what the plan needs and the batch system does not have yet: at most one operation a job at a time.
func (s *Sidecar) act(ctx context.Context, v *plan.World) error {
	if s.readings.failures >= blind { // nobody knows what is true: what is done now may be wrong, and loads what is in trouble
		return s.jobs.saveDirty()
	}
	if held, err := s.lease.Held(); err != nil || !held {
		return errors.Join(err, s.jobs.saveDirty())
	}
	defer func() { s.jobs.awaited = v.Awaited }()
	var resizes []*managed.Job
	s.tasks.begin()
	for _, r := range inOrder(s.jobs.sorted(), v.Queue) {
		if !s.jobs.fresh(r) || r.Seen == nil || s.ticks.clock.Now().Before(r.Retry) || !s.jobs.settled(r) {
			s.tasks.note(r, v.Now+s.settings.StartLead, s.ticks.clock.Now())
			continue
		}
		r.Halt(v.Now)
		r.Excuse(s.outages.Outages, v.Now)
		s.jobs.lengthen(r, v.Now)
		r.Listen(s.ticks.clock.Now(), v.Now)
		d := decide.About(r, s.situation(v))
		if d.Do != nil && d.Do.Resize {
			resizes = append(resizes, r)
			continue
		}
		if starts := d.Do != nil && d.Do.Starts; starts && s.tasks.waits(r, s.ticks.clock.Now()) {
			r.Blocked = "an earlier task of its array, which starts first"
			continue
		} else if !starts {
			s.tasks.note(r, v.Now+s.settings.StartLead, s.ticks.clock.Now())
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
	s.orphans.sweep(ctx, v.Strays, func(j *adapter.Job) bool { return s.jobs.find(j.Expands) != nil })
	s.nodes.nudge(ctx, v)
	s.nodes.wake(ctx, v)
	s.gate.Tend(ctx, v.Passes())
	return s.jobs.saveDirty()
}
