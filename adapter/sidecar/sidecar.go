package sidecar

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/act"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/plan"
	"accordion/adapter/session"
	"accordion/adapter/show"
	"accordion/core"
)

// Options are what a Sidecar is made of.
type Options struct {
	System   adapter.BatchSystem
	Journal  act.Journal
	Calls    <-chan session.Call // from the jobs' shims; nil: none will come
	Clock    adapter.Clock       // nil: the wall clock
	Log      hclog.Logger        // nil: no log
	Meter    act.Meter           // nil: nothing is counted
	Settings managed.Settings
}

// Sidecar plans and resizes the managed jobs of one batch system.
type Sidecar struct {
	acts     *act.Acts
	show     *show.Show
	journal  act.Journal
	calls    <-chan session.Call
	changes  <-chan struct{} // from a Herald; nil: it tells nothing
	clock    adapter.Clock
	log      hclog.Logger
	meter    act.Meter
	settings managed.Settings

	ticked   time.Time // when the clock was last looked at
	records  map[adapter.Key]*managed.Job
	snapshot *adapter.Snapshot // the newest reading; nil until the first
	taken    int               // its number
	before   time.Time         // when the one before it began
	reading  bool              // one is under way
	begun    int               // readings begun so far
	read     time.Time         // when the last began
	stirred  time.Time         // when something last happened to a managed job, or was done
	stale    bool              // something was done since: the next reading is wanted soon
	slow     time.Duration     // what the last reading took
	crawls   bool              // the batch system was slow, as last said
	failures int               // readings that failed in a row
	told     map[adapter.Key]string
	odd      map[adapter.Key]string         // what the last reading could not tell of jobs
	strays   map[adapter.Key]ended          // left-over expanders, as far as they were ended
	shrunk   int                            // readings begun when a job last gave nodes back
	wants    map[string]adapter.Reservation // what the plan needs, by name
	tending  map[string]tended              // what was last done to each reservation
	idle     map[string]time.Time           // since when the batch system shows each node as idle
	lost     map[string]time.Time           // since when it shows each as in use while no job holds it
	away     map[string]time.Time           // since when it shows each as not usable
	woken    map[string]time.Time           // when each node was last told to boot
	nudged   time.Time                      // when a stuck node was last looked after
	awaited  map[core.JobID]bool            // managed jobs whose nodes were waited for in the last cycle
	resizes  int                            // under way
	trapped  time.Time                      // no resize before: the batch system said it would go wrong
	readings chan reading
	finished chan conclusion
	crew     sync.WaitGroup
}

type reading struct {
	number   int
	snapshot *adapter.Snapshot
	took     time.Duration
	err      error
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
		o.Meter = act.Deaf{}
	}
	var changes <-chan struct{}
	if herald, ok := o.System.(adapter.Herald); ok {
		changes = herald.Changes()
	}
	s := &Sidecar{
		acts: &act.Acts{
			System: o.System, Journal: o.Journal, Meter: o.Meter, Clock: o.Clock, Log: o.Log, Cluster: o.Settings.Cluster, Deadline: o.Settings.Deadline,
		},
		changes: changes, meter: o.Meter, journal: o.Journal, calls: o.Calls, clock: o.Clock, log: o.Log, settings: o.Settings,
		records: map[adapter.Key]*managed.Job{}, told: map[adapter.Key]string{}, wants: map[string]adapter.Reservation{},
		tending: map[string]tended{}, idle: map[string]time.Time{}, lost: map[string]time.Time{}, away: map[string]time.Time{}, woken: map[string]time.Time{}, strays: map[adapter.Key]ended{},
		readings: make(chan reading, 1), finished: make(chan conclusion, 64),
	}
	s.show = &show.Show{
		Journal: o.Journal, Meter: o.Meter, Clock: o.Clock, Settings: o.Settings, Event: s.event,
		Told: func(key adapter.Key) string { return s.told[key] }, GoneSince: s.goneSince,
	}
	return s
}

// Run observes, plans and acts until ctx ends; then it waits for what is under way and returns nil. An error means that
// the journal can be neither read nor written: without it nothing may be done.
func (s *Sidecar) Run(ctx context.Context) error {
	if err := s.recover(); err != nil {
		return err
	}
	s.acts.Ends = ctx.Done()
	calls, stop := context.WithCancel(context.WithoutCancel(ctx)) // an action under way is finished, not torn
	defer stop()
	defer s.crew.Wait()
	for {
		s.observe(calls)
		news := func() error { return nil }
		select {
		case <-ctx.Done():
			return nil
		case <-s.clock.After(s.pause()):
		case <-s.changes: // what there is to know of it, only a reading tells
			s.stale = true
			continue
		case r := <-s.readings:
			news = func() error { return s.absorb(r) }
		case c := <-s.finished:
			news = func() error { return s.conclude(c) }
		case call := <-s.calls:
			news = func() error { s.hear(call); return nil }
		}
		err := s.keepTime() // before anything is written down by the new time
		if err == nil {
			err = news()
		}
		if err == nil {
			err = s.cycle(calls)
		}
		if err != nil {
			return fmt.Errorf("cluster %s: the sidecar stops; running jobs run on: %w", s.settings.Cluster, err)
		}
	}
}

// cycle plans and acts on the newest reading.
func (s *Sidecar) cycle(ctx context.Context) error {
	if err := s.keepTime(); err != nil { // again: writing the news down takes time, and the plan goes by its second
		return err
	}
	if s.snapshot == nil {
		return nil
	}
	begin := s.clock.Now()
	v := plan.Make(s.input())
	s.say(v.Said)
	for _, part := range []func() error{
		func() error { return s.show.Account(v) },
		func() error { return s.show.Estimate(v) },
		func() error { return s.act(ctx, v) },
		func() error { return s.show.Write(v) },
	} {
		if err := part(); err != nil {
			return err
		}
	}
	phases := map[string]int{}
	for _, r := range s.records {
		phases[r.Shown()]++
	}
	s.meter.Cycle(s.clock.Now().Sub(begin), s.snapshot.At, phases, len(v.Queue))
	return nil
}

// input is what a plan is made of. Its second is that in which keepTime looked last, for a clock that is set just after it
// must not end what runs.
func (s *Sidecar) input() plan.Input {
	return plan.Input{
		Now: s.ticked.Unix(), Instant: s.clock.Now(), Snapshot: s.snapshot, Jobs: s.sorted(), OutOfService: s.outOfService, Fresh: s.fresh,
		Settled: s.newer(s.shrunk), Settings: s.settings,
	}
}

// absence is how long a node that cannot be used is taken to be back soon: after a start of slurmctld no node is known
// for some seconds, and no promise must move for that. Nothing is put on it meanwhile.
const absence = 30 * time.Second

// outOfService says whether the plan does without a node: it has been away for longer than a moment.
func (s *Sidecar) outOfService(n adapter.Node) bool {
	return !n.Usable && !s.clock.Now().Before(s.away[n.Name].Add(absence))
}

// say logs what the planner has to say.
func (s *Sidecar) say(notes []plan.Note) {
	for _, n := range notes {
		log := s.log.Info
		if n.Warns {
			log = s.log.Warn
		}
		log(n.Text, append([]any{"cluster", s.settings.Cluster, "job", n.Job}, n.Fields...)...)
	}
}

// recover reads what the journal remembers. What was under way when the sidecar died is closed as interrupted: the
// first reading shows what became of it.
func (s *Sidecar) recover() error {
	records, err := s.journal.Records()
	if err != nil {
		return err
	}
	for _, stored := range records {
		r, err := managed.Restore(stored.Data)
		if err != nil {
			return err
		}
		s.records[r.Key] = r
	}
	open, err := s.journal.Unfinished()
	if err != nil {
		return err
	}
	for _, e := range open {
		if err := s.journal.Resolve(e.ID, s.clock.Now(), "interrupted: the sidecar ended before the answer"); err != nil {
			return err
		}
	}
	s.log.Info("ready", "cluster", s.settings.Cluster, "managed", len(s.records), "interrupted", len(open))
	return s.remark("ready", "the sidecar begins", map[string]any{"managed": len(s.records), "interrupted": len(open)})
}

// remark writes into the journal what concerns no single job, and explains why others came late.
func (s *Sidecar) remark(kind, text string, fields map[string]any) error {
	return s.journal.Event(journal.Event{At: s.clock.Now(), Kind: kind, Text: text, Fields: fields})
}

// event tells operators and the journal what happened to a job.
func (s *Sidecar) event(r *managed.Job, kind, text string, fields map[string]any) error {
	if kind != "planned" && kind != "replanned" {
		s.stir()
	}
	args := []any{"cluster", s.settings.Cluster, "job", r.ID}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		v := fields[k]
		if f, ok := v.(float64); ok { // a Unix second would be written with an exponent
			v = fmt.Sprintf("%.3f", f)
		}
		args = append(args, k, v)
	}
	s.log.Info(kind+": "+text, args...)
	return s.journal.Event(journal.Event{
		At: s.clock.Now(), Job: int64(r.ID), Submitted: r.Submitted, Kind: kind, Text: text, Fields: fields,
	})
}

// notice logs what concerns no managed job, or is not worth an entry in the journal, once for each text.
func (s *Sidecar) notice(key adapter.Key, text string) {
	if s.told[key] == text {
		return
	}
	s.told[key] = text
	s.log.Warn(text, "cluster", s.settings.Cluster, "job", key.ID)
}
