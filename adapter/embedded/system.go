package embedded

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"accordion/adapter"
	"accordion/core"
)

// MaxNodes is the largest number of nodes of the machine.
const MaxNodes = 1 << 16

// Options configure a System.
type Options struct {
	Nodes int           // nodes n1…nN, from 1 to MaxNodes
	Clock adapter.Clock // nil means the wall clock, which is virtual inside testing/synctest

	// Sweep is the interval, counted from New, at which limits and ends of reservations are
	// enforced. Slurm's is 30 s. 0 means that they are enforced exactly on time.
	Sweep time.Duration
	// Epilog is how long a job still holds its nodes after it has ended (adapter.Ending). 0 means that
	// its nodes become free when it ends.
	Epilog time.Duration
	// PassDelay is the time between an event and the scheduling pass that it causes. Slurm's default is about 3 s.
	PassDelay time.Duration
	// MinJobAge is how long Inspect still returns a job after the job has ended. 0 means 5 minutes, which is Slurm's default of MinJobAge.
	MinJobAge time.Duration

	// Step answers a job's request for the nodes of its next step. It replaces the connection between `accordion step` and the sidecar. nil
	// means that there is no sidecar. SetStep changes the function.
	Step StepFunc
	// Faults is called before each call of a method of adapter.BatchSystem, and returns the fault to simulate in that call. nil means no
	// faults.
	Faults func(Call) Fault
}

// System is a batch system in the process. Its methods may be called from several goroutines.
type System struct {
	clock   adapter.Clock
	options Options
	birth   time.Time
	wake    chan struct{}
	stop    context.CancelFunc
	context context.Context // the context of the jobs' scripts
	workers sync.WaitGroup

	mu           sync.Mutex
	now          time.Time // the time to which the state below was advanced; it never goes back
	closed       bool
	step         StepFunc
	nodes        []node
	index        map[string]int
	jobs         []*job // pending, running and ending jobs, in the order of submission
	over         []*job // jobs that have ended, in the order of their ends
	lost         []*job // jobs that a restart forgot
	reservations []*reservation
	lease        lease
	last         core.JobID
	passAt       time.Time // time of the next scheduling pass; zero if none is scheduled
}

var _ adapter.BatchSystem = (*System)(nil)

type node struct {
	name    string
	down    bool
	drained bool
	holder  *job
	since   time.Time // when the holder received the node, if there is a holder
}

func (n *node) usable() bool { return !n.down && !n.drained }

// New starts a batch system with idle nodes. Close ends it.
func New(o Options) (*System, error) {
	if o.Nodes < 1 || o.Nodes > MaxNodes {
		return nil, fmt.Errorf("embedded batch system: %d nodes; give 1 to %d", o.Nodes, MaxNodes)
	}
	if o.Sweep < 0 || o.Epilog < 0 || o.PassDelay < 0 || o.MinJobAge < 0 {
		return nil, errors.New("embedded batch system: Sweep, Epilog, PassDelay and MinJobAge must not be negative")
	}
	if o.Clock == nil {
		o.Clock = adapter.Wall{}
	}
	if o.MinJobAge == 0 {
		o.MinJobAge = 5 * time.Minute
	}
	s := &System{
		clock: o.Clock, options: o, step: o.Step,
		wake:  make(chan struct{}, 1),
		nodes: make([]node, o.Nodes), index: make(map[string]int, o.Nodes),
	}
	for i := range s.nodes {
		s.nodes[i].name = "n" + strconv.Itoa(i+1)
		s.index[s.nodes[i].name] = i
	}
	s.birth = s.clock.Now()
	s.now = s.birth
	s.context, s.stop = context.WithCancel(context.Background())
	s.workers.Go(s.run)
	return s, nil
}

// Close ends the batch system and waits until every script has returned. Jobs can still be called afterwards.
func (s *System) Close() {
	s.mu.Lock()
	s.closed = true // no more scripts are started
	s.stop()
	s.mu.Unlock()
	s.workers.Wait()
}

// SetStep replaces the function that answers requests for the nodes of the next step. f is nil if
// there is no sidecar.
func (s *System) SetStep(f StepFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.step = f
}

// run carries out events when they are due, until Close is called.
func (s *System) run() {
	for {
		s.mu.Lock()
		s.advance(s.clock.Now())
		at := s.next()
		wait := at.Sub(s.now)
		s.mu.Unlock()
		var due <-chan time.Time
		if !at.IsZero() {
			due = s.clock.After(wait)
		}
		select {
		case <-s.context.Done():
			return
		case <-s.wake:
		case <-due:
		}
	}
}

// enter locks the state and advances it to now.
func (s *System) enter() {
	s.mu.Lock()
	s.advance(s.clock.Now())
}

// leave carries out the events that are due now because the caller changed the state. Then it unlocks
// the state, and wakes run.
func (s *System) leave() {
	s.advance(s.now)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // run has not received the previous wake-up yet, so that it needs no other one
	}
}

// advance carries out all events that are due by `now`, in the order of their times.
func (s *System) advance(now time.Time) {
	for at := s.next(); !at.IsZero() && !at.After(now); at = s.next() {
		s.now = latest(s.now, at)
		s.fire()
	}
	s.now = latest(s.now, now)
}

// next returns the time of the next event, or the zero time if there is none. It computes this from the state each time, because a stored
// queue of events could differ from the state.
func (s *System) next() time.Time {
	next := s.passAt
	add := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, j := range s.jobs {
		switch j.state {
		case adapter.Pending:
			if j.waitsForBegin {
				add(j.begin)
			}
		case adapter.Running:
			add(j.endsAt)
			add(s.killAt(j))
		case adapter.Ending:
			add(j.freeAt)
		}
	}
	for _, r := range s.reservations {
		if !r.begun {
			add(r.start)
		}
		add(r.end)
	}
	return next
}

// fire carries out what is due at s.now.
func (s *System) fire() {
	for _, j := range append([]*job(nil), s.jobs...) {
		switch {
		case j.state == adapter.Pending && j.waitsForBegin && !j.begin.After(s.now):
			j.waitsForBegin = false
			s.callForPass()
		case j.state == adapter.Running && !j.endsAt.IsZero() && !j.endsAt.After(s.now):
			s.finish(j, "COMPLETED")
		case j.state == adapter.Running && due(s.killAt(j), s.now):
			s.finish(j, "TIMEOUT")
		case j.state == adapter.Ending && !j.freeAt.After(s.now):
			s.remove(j)
		}
	}
	s.turnReservations()
	if due(s.passAt, s.now) {
		s.passAt = time.Time{}
		s.pass()
	}
}

// callForPass schedules a scheduling pass, after the delay Options.PassDelay.
func (s *System) callForPass() {
	if s.passAt.IsZero() {
		s.passAt = s.now.Add(s.options.PassDelay)
	}
}

// sweepAfter returns the time of the first sweep at t or later.
func (s *System) sweepAfter(t time.Time) time.Time {
	every := s.options.Sweep
	if every == 0 || t.IsZero() {
		return t
	}
	if past := t.Sub(s.birth) % every; past > 0 {
		return t.Add(every - past)
	}
	return t
}

// killAt returns when a running job is ended by force. That is at the first sweep after the end of its
// time limit, or after the end of the reservation to which the job is still attached. killAt returns
// the zero time if there is neither.
func (s *System) killAt(j *job) time.Time {
	at := j.limitEnd()
	if r := s.reservation(j.reservation); r != nil && (at.IsZero() || r.end.Before(at)) {
		at = r.end
	}
	if !j.orphaned.IsZero() && (at.IsZero() || j.orphaned.Before(at)) {
		at = j.orphaned
	}
	return s.sweepAfter(at)
}

func due(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
