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

// world is an embedded batch system with a sidecar beside it, in a bubble of virtual time.
type world struct {
	*embedded.System
	t          *testing.T
	begin      time.Time
	settings   managed.Settings
	path       string // of the journal
	calls      chan session.Call
	mortal     *mortal
	clock      adapter.Clock                         // of the sidecar; nil: the bubble's
	meter      actions.Meter                         // nil: nothing is counted
	outer      adapter.BatchSystem                   // what the sidecar is given instead; nil: mortal
	log        hclog.Logger                          // nil: nowhere
	parts      func(sidecar.PartsHost) sidecar.Parts // nil: no launchers are served
	subscriber status.Subscriber                     // nil: nobody looks
	lease      sidecar.Lease                         // the zero one: there is none
	pen        func(actions.Journal) actions.Journal // what the next sidecar writes with; nil: the journal itself

	sidecar *sidecar.Sidecar
	journal *journal.Journal
	stop    context.CancelFunc
	stopped chan error
}

// slurmish are the settings of a batch system as slow as Slurm with its defaults.
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
		w.mortal = &mortal{BatchSystem: system, at: -1}
		w.serve()
		story(w)
		w.halt()
		system.Close()
		w.audit()
	})
}

// eager lets early applications go on early from here on.
func (w *world) eager() {
	w.t.Helper()
	w.halt()
	w.settings.Advance = true
	w.serve()
}

// serve starts a sidecar on the world's journal.
func (w *world) serve() {
	w.t.Helper()
	j, err := journal.Open(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mortal.revive()
	var system adapter.BatchSystem = w.mortal
	if w.outer != nil {
		system = w.outer
	}
	var pen actions.Journal = j
	if w.pen != nil {
		pen = w.pen(j)
	}
	sidecar := sidecar.New(sidecar.Options{Clock: w.clock, System: system, Journal: pen, Calls: w.calls, Meter: w.meter, Settings: w.settings, Log: w.log, Lease: w.lease, Parts: w.parts, Subscriber: w.subscriber})
	ctx, stop := context.WithCancel(context.Background())
	w.sidecar, w.journal, w.stop, w.stopped = sidecar, j, stop, make(chan error, 1)
	go func(stopped chan<- error) { stopped <- sidecar.Run(ctx) }(w.stopped)
	// Its first look is over before the story goes on: what a story submits next is seen a second later, always.
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

// restart is what follows a kill -9: nothing that was under way reaches the journal any more.
func (w *world) restart() {
	w.t.Helper()
	if err := w.journal.Close(); err != nil {
		w.t.Error(err)
	}
	w.stop()
	w.mortal.bury()
	<-w.stopped
	w.serve()
}

// ask is the way from `accordion step` to the sidecar: it asks again when the sidecar goes away, as the shim does.
func (w *world) ask(ctx context.Context, uid uint32, r wire.Request) (wire.Reply, error) {
	for {
		answer, gone := make(chan wire.Reply, 1), make(chan struct{})
		call := session.Call{Request: r, UID: uid, Gone: gone, Answer: func(p wire.Reply) {
			select {
			case answer <- p:
			default:
			}
		}}
		lost := w.mortal.death()
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

// mortal is a way to the batch system on which the sidecar can die: at its at-th action, before or after it is done.
type mortal struct {
	adapter.BatchSystem
	mu    sync.Mutex // the sidecar acts in several goroutines
	at    int        // count of the action to die at; negative: never
	after bool
	count int
	dead  chan struct{} // closed when it dies
	grave chan struct{} // closed when the test has taken note
}

func (m *mortal) dieAt(action int, after bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.after = action, after
}

func (m *mortal) revive() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead, m.grave = make(chan struct{}), make(chan struct{})
}

func (m *mortal) bury() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = -1
	close(m.grave)
}

func (m *mortal) death() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.dead
}

// fatal counts an action; for the one to die at, it says how.
func (m *mortal) fatal() (dies, after bool, dead, grave chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	dies = m.count == m.at
	m.count++
	return dies, m.after, m.dead, m.grave
}

var errDead = errors.New("killed")

// act is one action: the fatal one never returns to the sidecar as long as that lives.
func (m *mortal) act(action func() error) error {
	dies, after, dead, grave := m.fatal()
	if !dies {
		return action()
	}
	if after {
		_ = action()
	}
	close(dead)
	<-grave
	return errDead
}

func (m *mortal) Adopt(ctx context.Context, k adapter.Key) error {
	return m.act(func() error { return m.BatchSystem.Adopt(ctx, k) })
}
func (m *mortal) Reserve(ctx context.Context, r adapter.Reservation) error {
	return m.act(func() error { return m.BatchSystem.Reserve(ctx, r) })
}
func (m *mortal) Unreserve(ctx context.Context, name string) error {
	return m.act(func() error { return m.BatchSystem.Unreserve(ctx, name) })
}
func (m *mortal) Shape(ctx context.Context, k adapter.Key, s adapter.Shape) error {
	return m.act(func() error { return m.BatchSystem.Shape(ctx, k, s) })
}
func (m *mortal) Attach(ctx context.Context, k adapter.Key, r string) error {
	return m.act(func() error { return m.BatchSystem.Attach(ctx, k, r) })
}
func (m *mortal) Release(ctx context.Context, k adapter.Key) error {
	return m.act(func() error { return m.BatchSystem.Release(ctx, k) })
}
func (m *mortal) Detach(ctx context.Context, k adapter.Key) error {
	return m.act(func() error { return m.BatchSystem.Detach(ctx, k) })
}
func (m *mortal) Expand(ctx context.Context, j *adapter.Job, nodes []string, r string) (k adapter.Key, err error) {
	err = m.act(func() error { k, err = m.BatchSystem.Expand(ctx, j, nodes, r); return err })
	return k, err
}
func (m *mortal) Merge(ctx context.Context, j, e adapter.Key) error {
	return m.act(func() error { return m.BatchSystem.Merge(ctx, j, e) })
}
func (m *mortal) Shrink(ctx context.Context, k adapter.Key, keep []string) error {
	return m.act(func() error { return m.BatchSystem.Shrink(ctx, k, keep) })
}

// at waits until the given second of the world.
func (w *world) at(second int) {
	time.Sleep(time.Until(w.begin.Add(time.Duration(second) * time.Second)))
}

// submit puts a job into the queue, of user ada unless it says otherwise.
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

// evolving submits an application that works as long as its profile says, and asks between its steps.
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

// quiet waits until every job is over, at most so many seconds.
func (w *world) quiet(second int) {
	w.t.Helper()
	ctx, cancel := context.WithDeadline(w.t.Context(), w.begin.Add(time.Duration(second)*time.Second))
	defer cancel()
	if err := w.Quiet(ctx); err != nil {
		w.t.Errorf("at second %d jobs are not over:\n%s", second, w.history())
	}
	time.Sleep(5 * time.Second) // the sidecar clears up in the seconds after
}

// record is the whole life of a job.
func (w *world) record(key adapter.Key) embedded.Record {
	for _, r := range w.Jobs() {
		if r.Key == key {
			return r
		}
	}
	w.t.Fatalf("job %d is unknown", key.ID)
	return embedded.Record{}
}

// sizes is what the job held, as "2@4-24 5@24-44": nodes, from second to second.
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

// nodesAt is the job's nodes at a second.
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

// steps is only the sizes of sizes: "2 5 3".
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

// history is every job's sizes, for a failing test.
func (w *world) history() string {
	var b strings.Builder
	for _, r := range w.Jobs() {
		fmt.Fprintf(&b, "%4d %-9s %-8s %s\n", r.ID, r.Kind, r.State, w.sizes(r.Key))
	}
	return b.String()
}

// audit judges the whole story from the batch system's own records: no node in two jobs, none back in a job in the
// second in which it left it.
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
			if back := left[s.job]; back.Unix() == s.From.Unix() && back.Before(s.From) { // else it stayed, and the batch system restarted
				w.t.Errorf("node %s left job %d at %v and came back to it at %v, in the same second", node, s.job, back.Sub(w.begin), s.From.Sub(w.begin))
			}
			left[s.job] = s.To
		}
	}
}

// clean says that nothing of ours is left in the batch system.
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

// events is the journal's events of one job, by kind: "accepted starting started grew ended".
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

// journalled is the whole journal, for a failing test.
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
