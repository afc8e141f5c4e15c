package sidecar_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/actions"
	"accordion/adapter/embedded"
	"accordion/adapter/journal"
	"accordion/adapter/session"
	"accordion/adapter/status"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/core/sched"
	"accordion/shim/wire"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter/managed"
	"accordion/adapter/sidecar"
)

// world is an embedded batch system and its sidecar, in virtual time.
type world struct {
	*embedded.System
	t           *testing.T
	begin       time.Time
	settings    managed.Settings
	path        string // of the journal
	calls       chan session.Call
	killing     *killingSystem
	clock       adapter.Clock                         // of the sidecar; nil means the virtual clock
	meter       actions.Meter                         // nil if nothing is counted
	outer       adapter.BatchSystem                   // the batch system of the sidecar; nil means killing
	log         hclog.Logger                          // nil means no log
	parts       func(sidecar.PartsHost) sidecar.Parts // nil if no launchers are served
	subscriber  status.Subscriber                     // nil if there is none
	lease       sidecar.Lease                         // the zero Lease means that there is no lease
	wrapJournal func(actions.Journal) actions.Journal // wraps the journal of the next sidecar; nil if it is not wrapped

	sidecar *sidecar.Sidecar
	journal *journal.Journal
	stop    context.CancelFunc
	stopped chan error
}

// slurmish are the options of a batch system as slow as Slurm with its defaults.
var slurmish = embedded.Options{Nodes: 16, Sweep: 30 * time.Second, Epilog: 300 * time.Millisecond, PassDelay: 2 * time.Second}

func inWorld(t *testing.T, o embedded.Options, story func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, begin: time.Now(), path: filepath.Join(t.TempDir(), "journal.db"), calls: make(chan session.Call)}
		w.settings = managed.Settings{
			Cluster: "test", Interval: time.Second, Policy: sched.Repeated{}, StartLead: 4, Protect: 16, Guard: 30, Round: 45,
			Overrun: managed.Overrun{Share: 0.1, Least: 30, Grace: 10, Signal: "B:TERM"}, Deadline: 10 * time.Second,
			Silent: managed.Silent{Notice: 5, Signal: "B:URG"},
		}
		o.Step = w.ask
		system, err := embedded.New(o)
		if err != nil {
			t.Fatal(err)
		}
		w.System = system
		w.killing = &killingSystem{BatchSystem: system, at: -1}
		w.serve()
		story(w)
		w.halt()
		system.Close()
		w.audit()
	})
}

// eager lets early applications continue early from now on.
func (w *world) eager() {
	w.t.Helper()
	w.halt()
	w.settings.Advance = true
	w.serve()
}

// serve starts a sidecar with the world's journal.
func (w *world) serve() {
	w.t.Helper()
	j, err := journal.Open(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.killing.reset()
	var system adapter.BatchSystem = w.killing
	if w.outer != nil {
		system = w.outer
	}
	var pen actions.Journal = j
	if w.wrapJournal != nil {
		pen = w.wrapJournal(j)
	}
	sidecar := sidecar.New(sidecar.Options{Clock: w.clock, System: system, Journal: pen, Calls: w.calls, Meter: w.meter, Settings: w.settings, Log: w.log, Lease: w.lease, Parts: w.parts, Subscriber: w.subscriber})
	ctx, stop := context.WithCancel(context.Background())
	w.sidecar, w.journal, w.stop, w.stopped = sidecar, j, stop, make(chan error, 1)
	go func(stopped chan<- error) { stopped <- sidecar.Run(ctx) }(w.stopped)
	// Wait for the sidecar's first reading, so that the sidecar always sees a second later what the
	// test submits next.
	synctest.Wait()
}

// halt stops the sidecar as SIGTERM does.
func (w *world) halt() {
	w.t.Helper()
	w.stop()
	if err := <-w.stopped; err != nil {
		w.t.Errorf("the sidecar stopped with %v", err)
	}
	if err := w.journal.Close(); err != nil {
		w.t.Error(err)
	}
}

// restart starts a new sidecar after a kill -9 of the old one. Calls that the old one has under way
// no longer write into the journal.
func (w *world) restart() {
	w.t.Helper()
	if err := w.journal.Close(); err != nil {
		w.t.Error(err)
	}
	w.stop()
	w.killing.confirm()
	<-w.stopped
	w.serve()
}

// ask sends a question to the sidecar, as `accordion step` does. It asks again if the sidecar ends,
// as the shim does.
func (w *world) ask(ctx context.Context, uid uint32, r wire.Request) (wire.Reply, error) {
	for {
		answer, gone := make(chan wire.Reply, 1), make(chan struct{})
		call := session.Call{Request: r, UID: uid, Gone: gone, Answer: func(p wire.Reply) {
			select {
			case answer <- p:
			default:
			}
		}}
		lost := w.killing.killed()
		select {
		case w.calls <- call:
		case <-ctx.Done():
			return wire.Reply{}, ctx.Err()
		}
		select {
		case p := <-answer:
			if p.Status != wire.Busy {
				return p, nil
			}
		case <-lost:
			time.Sleep(time.Second) // the shim's pause before it asks again
		case <-ctx.Done():
			close(gone)
			return wire.Reply{}, ctx.Err()
		}
	}
}

// killingSystem is a batch system at which the sidecar is killed: at the call with the number `at`,
// before or after the call is carried out.
type killingSystem struct {
	adapter.BatchSystem
	mu        sync.Mutex // the sidecar makes calls in several goroutines
	at        int        // number of the call; negative if the sidecar is killed at no call
	after     bool
	count     int
	dead      chan struct{} // closed when the sidecar is to be killed
	confirmed chan struct{} // closed when the test has killed it
}

func (m *killingSystem) killAt(action int, after bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.after = action, after
}

func (m *killingSystem) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead, m.confirmed = make(chan struct{}), make(chan struct{})
}

func (m *killingSystem) confirm() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = -1
	close(m.confirmed)
}

func (m *killingSystem) killed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// `next` counts a call. `kills` is true if the sidecar is killed at this call, and `after` is true
// if it is killed only after the call.
func (m *killingSystem) next() (kills, after bool, dead, confirmed chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kills = m.count == m.at
	m.count++
	return kills, m.after, m.dead, m.confirmed
}

var errKilled = errors.New("killed")

// act makes a call. The call at which the sidecar is killed returns only after the sidecar was
// killed.
func (m *killingSystem) act(action func() error) error {
	kills, after, dead, confirmed := m.next()
	if !kills {
		return action()
	}
	if after {
		_ = action()
	}
	close(dead)
	<-confirmed
	return errKilled
}

func (m *killingSystem) Adopt(ctx context.Context, k adapter.Key) error {
	return m.act(func() error { return m.BatchSystem.Adopt(ctx, k) })
}
func (m *killingSystem) Reserve(ctx context.Context, r adapter.Reservation) error {
	return m.act(func() error { return m.BatchSystem.Reserve(ctx, r) })
}
func (m *killingSystem) Unreserve(ctx context.Context, name string) error {
	return m.act(func() error { return m.BatchSystem.Unreserve(ctx, name) })
}
func (m *killingSystem) Shape(ctx context.Context, k adapter.Key, s adapter.Shape) error {
	return m.act(func() error { return m.BatchSystem.Shape(ctx, k, s) })
}
func (m *killingSystem) Attach(ctx context.Context, k adapter.Key, r string) error {
	return m.act(func() error { return m.BatchSystem.Attach(ctx, k, r) })
}
func (m *killingSystem) Release(ctx context.Context, k adapter.Key) error {
	return m.act(func() error { return m.BatchSystem.Release(ctx, k) })
}
func (m *killingSystem) Detach(ctx context.Context, k adapter.Key) error {
	return m.act(func() error { return m.BatchSystem.Detach(ctx, k) })
}
func (m *killingSystem) Expand(ctx context.Context, j *adapter.Job, nodes []string, r string) (k adapter.Key, err error) {
	err = m.act(func() error { k, err = m.BatchSystem.Expand(ctx, j, nodes, r); return err })
	return k, err
}
func (m *killingSystem) Merge(ctx context.Context, j, e adapter.Key) error {
	return m.act(func() error { return m.BatchSystem.Merge(ctx, j, e) })
}
func (m *killingSystem) Shrink(ctx context.Context, k adapter.Key, keep []string) error {
	return m.act(func() error { return m.BatchSystem.Shrink(ctx, k, keep) })
}

// `at` waits until the given second of the world.
func (w *world) at(second int) {
	time.Sleep(time.Until(w.begin.Add(time.Duration(second) * time.Second)))
}

// submit submits a job. Its user is ada if the spec names none.
func (w *world) submit(spec embedded.JobSpec) adapter.Key {
	w.t.Helper()
	if spec.User == "" {
		spec.User, spec.UID = "ada", 1000
	}
	if spec.Limit == 0 {
		spec.Limit = 3600
	}
	key, err := w.Submit(spec)
	if err != nil {
		w.t.Fatal(err)
	}
	return key
}

// evolving submits an application that works for the duration of each step of its profile, or for
// the given times, and asks for the next step after each.
func (w *world) evolving(ep string, work ...time.Duration) adapter.Key {
	w.t.Helper()
	choices, err := adapter.ParseRequest("ep=" + ep)
	if err != nil {
		w.t.Fatal(err)
	}
	if work == nil {
		for _, step := range choices[0] {
			work = append(work, time.Duration(step.Duration)*time.Second-time.Second)
		}
	}
	return w.submit(embedded.JobSpec{Nodes: choices[0][0].Nodes, Comment: "ep=" + ep, Managed: true, Script: embedded.Phases(work...)})
}

// quiet waits until all jobs have ended, and fails the test if they have not at the given second.
func (w *world) quiet(second int) {
	w.t.Helper()
	ctx, cancel := context.WithDeadline(w.t.Context(), w.begin.Add(time.Duration(second)*time.Second))
	defer cancel()
	if err := w.Quiet(ctx); err != nil {
		w.t.Errorf("at second %d jobs are not over:\n%s", second, w.history())
	}
	time.Sleep(5 * time.Second) // the sidecar cleans up in these seconds
}

// record returns the batch system's record of the job.
func (w *world) record(key adapter.Key) embedded.Record {
	for _, r := range w.Jobs() {
		if r.Key == key {
			return r
		}
	}
	w.t.Fatalf("job %d is unknown", key.ID)
	return embedded.Record{}
}

// sizes returns how many nodes the job held and when, such as "2@4-24 5@24-44".
func (w *world) sizes(key adapter.Key) string {
	spans := w.record(key).Spans
	var cuts []time.Time
	for _, s := range spans {
		cuts = append(cuts, s.From, s.To)
	}
	slices.SortFunc(cuts, time.Time.Compare)
	cuts = slices.CompactFunc(cuts, time.Time.Equal)
	var b []string
	for i := 0; i+1 < len(cuts); i++ {
		n := 0
		for _, s := range spans {
			if !s.From.After(cuts[i]) && s.To.After(cuts[i]) {
				n++
			}
		}
		b = append(b, fmt.Sprintf("%d@%.0f-%.0f", n, cuts[i].Sub(w.begin).Seconds(), cuts[i+1].Sub(w.begin).Seconds()))
	}
	return strings.Join(b, " ")
}

// nodesAt returns the nodes that the job held at a second.
func (w *world) nodesAt(key adapter.Key, second int) string {
	at := w.begin.Add(time.Duration(second) * time.Second)
	var held []string
	for _, s := range w.record(key).Spans {
		if !s.From.After(at) && s.To.After(at) {
			held = append(held, s.Node)
		}
	}
	return hostlist.Compact(held)
}

// steps returns the numbers of nodes that the job held, such as "2 5 3".
func (w *world) steps(key adapter.Key) string {
	var b []string
	for _, f := range strings.Fields(w.sizes(key)) {
		n, _, _ := strings.Cut(f, "@")
		if len(b) == 0 || b[len(b)-1] != n {
			b = append(b, n)
		}
	}
	return strings.Join(b, " ")
}

func (w *world) shows(key adapter.Key, want string) {
	w.t.Helper()
	if got := w.sizes(key); got != want {
		w.t.Errorf("job %d held %q, want %q", key.ID, got, want)
	}
}

// history returns the sizes of all jobs, for failure messages.
func (w *world) history() string {
	var b strings.Builder
	for _, r := range w.Jobs() {
		fmt.Fprintf(&b, "%4d %-9s %-8s %s\n", r.ID, r.Kind, r.State, w.sizes(r.Key))
	}
	return b.String()
}

// audit checks the batch system's records of the whole test: no node is in two jobs, and no job
// receives a node again in the second in which it released that node.
func (w *world) audit() {
	w.t.Helper()
	type owned struct {
		embedded.Span
		job core.JobID
	}
	byNode := map[string][]owned{}
	for _, r := range w.Jobs() {
		for _, s := range r.Spans {
			byNode[s.Node] = append(byNode[s.Node], owned{Span: s, job: r.ID})
		}
	}
	for node, spans := range byNode {
		slices.SortFunc(spans, func(a, b owned) int { return a.From.Compare(b.From) })
		for i := 1; i < len(spans); i++ {
			if spans[i].From.Before(spans[i-1].To) {
				w.t.Errorf("node %s is in jobs %d and %d at once", node, spans[i-1].job, spans[i].job)
			}
		}
		left := map[core.JobID]time.Time{}
		for _, s := range spans {
			if back := left[s.job]; back.Unix() == s.From.Unix() && back.Before(s.From) { // otherwise the node stayed while the batch system was restarted
				w.t.Errorf("node %s left job %d at %v and came back to it at %v, in the same second", node, s.job, back.Sub(w.begin), s.From.Sub(w.begin))
			}
			left[s.job] = s.To
		}
	}
}

// clean fails the test if something that the sidecar made is left in the batch system.
func (w *world) clean() {
	w.t.Helper()
	snapshot, err := w.Observe(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, r := range snapshot.Reservations {
		w.t.Errorf("reservation %s is left over", r.Name)
	}
	for _, j := range snapshot.Jobs {
		if j.State != adapter.Done {
			w.t.Errorf("job %d (%s) is left over: %s", j.ID, j.Name, j.State)
		}
	}
}

// events returns the kinds of a job's events in the journal, such as "accepted starting started
// grew ended".
func (w *world) events(key adapter.Key) string {
	w.t.Helper()
	var kinds []string
	for e, err := range w.journal.JobEntries(int64(key.ID), 0) {
		if err != nil {
			w.t.Fatal(err)
		}
		if e.Kind == journal.KindEvent {
			kinds = append(kinds, e.Verb)
		}
	}
	return strings.Join(kinds, " ")
}

// journalled returns the whole journal, for failure messages.
func (w *world) journalled() string {
	var b strings.Builder
	for e, err := range w.journal.Entries(0) {
		if err != nil {
			return err.Error()
		}
		fmt.Fprintf(&b, "%7.3f job %d %s %s %v %s\n", e.At.Sub(w.begin).Seconds(), e.Job, e.Verb, e.Text, e.Args, e.Outcome)
	}
	return b.String()
}
