package sim

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/session"
	"accordion/adapter/sidecar"
	"accordion/core/ep"
	"accordion/core/policy"
	"accordion/shim/wire"
)

// deadline is how long the sidecar waits for the answer to a call.
const deadline = 5 * time.Second

// settings returns the settings of the nth process of the sidecar. Durations are short, because only
// the order of events matters.
func (s *scenario) settings(nth int) managed.Settings {
	planner, err := policy.Live(s.policy, ep.Algorithm{Limit: ep.NoExpansion})
	if err == nil {
		planner, err = policy.WithSizes(planner, s.sizes[(nth-1)%len(s.sizes)])
	}
	if err != nil {
		panic(err) // not reached: the names of policies and rules are known
	}
	return managed.Settings{
		Cluster: "sim", Interval: s.interval, Rest: s.rest, Policy: planner, StartLead: 4, Protect: 16, Guard: 30, Round: 45,
		Overrun: managed.Overrun{Share: 0.1, Least: 30, Grace: 10, Signal: "B:TERM"}, Deadline: deadline,
		Advance: s.advance, Silent: managed.Silent{Notice: 5, Signal: "B:URG"},
	}
}

// world is a running simulation of a scenario.
type world struct {
	scenario *scenario
	dice     dice
	system   *embedded.System
	begin    time.Time
	calls    chan session.Call
	served   bool // whether a sidecar serves the batch system
	journal  readableJournal
	parts    interface {
		New(sidecar.PartsHost) sidecar.Parts
	} // nil if there are no parts of applications

	ordered <-chan struct{} // closed when there are no more orders for parts
	crew    sync.WaitGroup

	mu       sync.Mutex
	process  *process
	counts   map[string]int
	faults   []string    // names of the faults that happened
	trace    []traceLine // nil unless tracing is set
	tracing  bool
	wrong    []string
	apps     map[adapter.Key]*app
	keys     map[string]adapter.Key
	restarts []time.Time // restarts of the batch system
	orphans  []orphan    // reservations of sidecars that died
	stints   []lifetime  // when processes of the sidecar ran
	quiet    bool        // the batch system does not answer
	lasted   time.Duration
}

// outcome is the result of a simulation.
type outcome struct {
	wrong  []string
	faults []string
	trace  []traceLine
	starts map[string]time.Duration // starts of ordinary jobs
	lives  string                   // which jobs held which nodes, and when

	orphans  []orphan
	ordinary map[string]bool // names of managed jobs that their users released before the sidecar could hold them
	lasted   time.Duration   // virtual time
}

// traceLine is one line of the trace.
type traceLine struct {
	at   time.Duration
	text string
}

func (l traceLine) String() string { return fmt.Sprintf("%9.3f %s", l.at.Seconds(), l.text) }

// simulate simulates the scenario in virtual time. If managed is false, there are no managed jobs and no sidecar.
func simulate(t *testing.T, s *scenario, managed, tracing bool) (out outcome) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(s, tracing)
		var err error
		if w.system, err = w.machine(); err != nil {
			t.Fatal(err)
		}
		if s.sqlite {
			j, err := journal.Open(filepath.Join(t.TempDir(), "journal.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			w.journal = j
		}
		w.runScenario(managed)
		out = outcome{wrong: w.wrong, faults: w.faults, starts: map[string]time.Duration{}, ordinary: map[string]bool{}, lasted: time.Since(w.begin)}
		for _, r := range w.system.Jobs() {
			if a := w.apps[r.Key]; a != nil && !r.Start.IsZero() {
				out.starts[a.name] = r.Start.Sub(w.begin)
				if a.free > 0 && managed && w.escaped(r.Key) {
					out.ordinary[a.name] = true
				}
			}
			if tracing {
				out.lives += w.lifeOf(r)
			}
		}
		out.trace, out.orphans = w.trace, w.orphans
	})
	return out
}

// newWorld returns a simulation that has not begun.
func newWorld(s *scenario, tracing bool) *world {
	book := newMemory()
	book.quick = s.brief || s.seed%8 > 0
	return &world{
		scenario: s, dice: dice(s.seed), begin: time.Now(), calls: make(chan session.Call), journal: book, tracing: tracing,
		counts: map[string]int{}, apps: map[adapter.Key]*app{}, keys: map[string]adapter.Key{},
	}
}

// machine returns a batch system for the scenario.
func (w *world) machine() (*embedded.System, error) {
	s := w.scenario
	return embedded.New(embedded.Options{Nodes: s.nodes, Sweep: s.sweep, Epilog: s.epilog, PassDelay: s.think, Step: w.ask})
}

// runScenario runs the sidecars, the users and the events, waits until everything has ended, and then makes the checks.
func (w *world) runScenario(managed bool) {
	w.served = managed
	lives, stop := context.WithCancel(context.Background())
	if managed {
		w.crew.Go(func() { w.live(lives) })
	}
	for i := range w.scenario.apps {
		if a := &w.scenario.apps[i]; managed || a.request == "" || w.scenario.ordinary[a.name] {
			w.crew.Go(func() { w.runUser(a) })
		}
	}
	for _, e := range w.scenario.events {
		if managed || e.what != "kill" {
			w.crew.Go(func() { w.apply(e) })
		}
	}
	if w.scenario.stranger && managed {
		w.crew.Go(w.pester)
	}
	w.until(w.scenario.calm)
	w.settle(managed)
	stop()
	w.crew.Wait()
	w.system.Close()
	w.lasted = time.Since(w.begin)
	w.judge(managed)
}

// until waits until the time `at` of the scenario.
func (w *world) until(at time.Duration) { time.Sleep(time.Until(w.begin.Add(at))) }

// settleTime is how long a scenario may continue after its faults have ended. A managed job may run for
// the duration of the longest profile plus its overrun, and may wait for several other jobs before
// that.
const settleTime = 1200 * time.Second

// cleanupTime is how long things that the sidecar made may remain after the end of the last job.
const cleanupTime = 30 * time.Second

// settle waits until nothing of the scenario is left.
func (w *world) settle(managed bool) {
	since := time.Now()
	busy := since // the last time at which a job existed
	for ; ; time.Sleep(time.Second) {
		jobs, rest := w.left(managed)
		if jobs != "" {
			busy = time.Now()
		}
		switch {
		case jobs == "" && rest == "":
			return
		case time.Since(since) > settleTime || time.Since(busy) > cleanupTime:
			w.violation("%v after the last fault this is left over: %s", time.Since(since), jobs+rest)
			return
		}
	}
}

// count returns how often it was called with the name, including this call.
func (w *world) count(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[name]++
	return w.counts[name]
}

// note adds a line to the trace.
func (w *world) note(format string, args ...any) {
	if !w.tracing {
		return
	}
	l := traceLine{time.Since(w.begin), fmt.Sprintf(format, args...)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, l)
}

// violation records a failed check.
func (w *world) violation(format string, args ...any) {
	line := fmt.Sprintf("at %.3f s: ", time.Since(w.begin).Seconds()) + fmt.Sprintf(format, args...)
	w.note("WRONG %s", line)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) < 20 && !slices.Contains(w.wrong, line) {
		w.wrong = append(w.wrong, line)
	}
}

// goesWrong draws whether a fault occurs at the nth event with the name, with a probability of `rate`
// in `outOf`. After the end of the faults it always returns false.
func (w *world) goesWrong(rate, outOf int, name string, nth int) bool {
	if rate == 0 || time.Since(w.begin) >= w.scenario.calm || w.dice.below(outOf, name, nth) >= rate {
		return false
	}
	id := fmt.Sprint(name, " #", nth)
	if w.scenario.without[id] {
		return false
	}
	w.note("FAULT %s", id)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, id)
	return true
}

// fatal draws whether the sidecar dies at the nth event with the name.
func (w *world) fatal(name string, nth int) bool {
	return w.goesWrong(w.scenario.deaths, 10000, name, nth)
}

// silent reports whether the batch system is down.
func (w *world) silent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.quiet
}

// live runs one process of the sidecar after another, until ctx ends.
func (w *world) live(ctx context.Context) {
	for nth := 1; ctx.Err() == nil; nth++ {
		l := newLife()
		w.mu.Lock()
		w.process = l
		w.mu.Unlock()
		w.note("a sidecar begins")
		w.endOrphans()
		begun := time.Now()
		err := w.run(ctx, l, nth)
		w.mu.Lock()
		w.stints = append(w.stints, lifetime{begun, time.Now()})
		w.mu.Unlock()
		if !l.over() {
			if err != nil {
				w.violation("the sidecar stopped: %v", err)
			}
			l.die()
			continue
		}
		w.note("the sidecar is dead")
		w.orphan()
		away := w.dice.span(0, 15*time.Second, "away", nth)
		select {
		case <-ctx.Done():
		case <-time.After(away):
		}
	}
}

// run runs the nth process of the sidecar, until it is killed or ctx ends.
func (w *world) run(ctx context.Context, l *process, nth int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var system adapter.BatchSystem = faultyLink{w.system, w, l}
	if w.scenario.sabotage != nil {
		system = w.scenario.sabotage(system)
	}
	o := sidecar.Options{System: system, Journal: faultyJournal{w.journal, w, l}, Calls: w.calls, Settings: w.scenario.settings(nth)}
	if w.parts != nil {
		o.Parts = w.parts.New
	}
	sidecar := sidecar.New(o)
	ended := make(chan struct{})
	go func() {
		select {
		case <-l.dead:
			cancel()
		case <-ended:
		}
	}()
	defer close(ended)
	return sidecar.Run(ctx)
}

// ask sends a request of `accordion step` to the sidecar. If the sidecar dies, it sends the request to the next process, as the shim does.
func (w *world) ask(ctx context.Context, uid uint32, r wire.Request) (wire.Reply, error) {
	for {
		w.mu.Lock()
		l := w.process
		w.mu.Unlock()
		answer, gone := make(chan wire.Reply, 1), make(chan struct{})
		call := session.Call{Request: r, UID: uid, Gone: gone, Answer: func(p wire.Reply) {
			if l.over() {
				return
			}
			select {
			case answer <- p:
				w.judgeReply(r, p)
			default:
			}
		}}
		var dead <-chan struct{}
		if l != nil {
			dead = l.dead
		}
		select {
		case w.calls <- call:
		case <-dead:
		case <-ctx.Done():
			return wire.Reply{}, ctx.Err()
		}
		select {
		case p := <-answer:
			if p.Status != wire.Busy {
				return p, nil
			}
		case <-dead:
		case <-ctx.Done():
			close(gone)
			return wire.Reply{}, ctx.Err()
		}
		pause := w.dice.span(time.Second, 2*time.Second, "shim", w.count(fmt.Sprint("shim ", r.Job)))
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return wire.Reply{}, ctx.Err()
		}
	}
}
