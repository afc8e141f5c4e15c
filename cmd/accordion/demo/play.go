package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/embedded"
	"accordion/adapter/journal"
	"accordion/adapter/managed"
	"accordion/adapter/session"
	"accordion/adapter/sidecar"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/adapter/web"
	"accordion/cmd/accordion/chart"
	"accordion/cmd/accordion/live"
	"accordion/core/ep"
	"accordion/core/sched"
	"accordion/shim/wire"
	"accordion/traces/gantt"
)

// Options are the parameters of a demo.
type Options struct {
	Jobs  []Job
	Nodes int           // size of the machine
	Speed int           // as a multiple of real time; used if Clock is nil
	Clock adapter.Clock // nil means a clock with Speed, which stops while the machine is busy with other work
	Show  io.Writer     // where to show the demo while it runs; nil means nowhere
	Log   hclog.Logger  // of the sidecar; nil if there is none
	Web   net.Listener  // where browsers can watch the demo; nil means nowhere

	// Journal is the file of the sidecar's journal; "" means a temporary file.
	Journal string
}

// MaxSpeed is the maximum Speed. Above it, the sidecar's own work would take minutes of the cluster's time.
const MaxSpeed = 600

// frame is the interval between two pictures, in wall time.
const frame = 150 * time.Millisecond

// running is a running demo.
type running struct {
	options Options
	clock   adapter.Clock
	begin   time.Time
	system  *embedded.System
	journal *journal.Journal
	calls   chan session.Call
}

// Play runs the workload until its last job has ended, and returns the chart.
func Play(ctx context.Context, o Options) (g gantt.Chart, err error) {
	if err := o.Check(); err != nil {
		return g, err
	}
	if o.Journal == "" {
		folder, err := os.MkdirTemp("", "accordion-demo-")
		if err != nil {
			return g, fmt.Errorf("create a folder for the demo's journal: %w", err)
		}
		defer os.RemoveAll(folder)
		o.Journal = filepath.Join(folder, "journal.db")
	}
	st := &running{options: o, clock: o.Clock, calls: make(chan session.Call)}
	if st.clock == nil {
		clock := newSteadyClock(time.Now(), o.Speed)
		ctx, stop := context.WithCancel(context.Background()) // the embedded batch system waits for its sidecar until it is closed
		defer stop()
		go clock.run(ctx)
		st.clock = clock
	}
	if st.journal, err = journal.Open(o.Journal); err != nil {
		return g, err
	}
	defer func() { err = errors.Join(err, st.journal.Close()) }()
	st.begin = st.clock.Now()
	st.system, err = embedded.New(embedded.Options{
		Nodes: o.Nodes, Clock: st.clock, Step: st.ask,
		Sweep: sweep, Epilog: 2 * time.Second, PassDelay: time.Second,
	})
	if err != nil {
		return g, err
	}
	defer st.system.Close()
	if err := st.play(ctx); err != nil {
		if ctx.Err() != nil {
			err = st.interrupted(ctx.Err())
		}
		return g, err
	}
	return st.chart()
}

// InterruptedError is the error of a demo whose context ended before its last job did.
type InterruptedError struct {
	Ended, Jobs int // number of ended jobs, and of all jobs
	err         error
}

// Error implements error.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("interrupted: %d of %d jobs have ended", e.Ended, e.Jobs)
}

// Unwrap returns why the context ended.
func (e *InterruptedError) Unwrap() error { return e.err }

// interrupted returns an InterruptedError with the number of ended jobs.
func (st *running) interrupted(why error) error {
	e := &InterruptedError{Jobs: len(st.options.Jobs), err: why}
	for _, r := range st.system.Jobs() {
		if r.Kind != "expander" && !r.End.IsZero() {
			e.Ended++
		}
	}
	return e
}

// sweep is the interval at which the demo's batch system enforces limits. So an ordinary job may exceed its limit by up to this time.
const sweep = 5 * time.Second

// Check returns what is wrong with the options.
func (o Options) Check() error {
	if o.Clock == nil && (o.Speed < 1 || o.Speed > MaxSpeed) {
		return fmt.Errorf("speed %d: give 1 to %d times the wall clock's", o.Speed, MaxSpeed)
	}
	for _, j := range o.Jobs {
		if j.Nodes() > o.Nodes {
			return fmt.Errorf("job %s wants %d nodes, the machine has %d", j.Name, j.Nodes(), o.Nodes)
		}
	}
	return nil
}

// play runs the sidecar, the users and the picture until the last job has ended.
func (st *running) play(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var server *web.Server
	var subscriber status.Subscriber
	if st.options.Web != nil {
		server = web.New(web.Options{Journal: st.journal, Clock: st.clock.Now, Pace: st.options.Speed, PID: os.Getpid()})
		subscriber = server
	}
	sidecar := sidecar.New(sidecar.Options{
		Subscriber: subscriber,
		System:     st.system, Journal: st.journal, Calls: st.calls, Clock: st.clock, Log: st.options.Log,
		Settings: managed.Settings{
			Cluster: "demo", Interval: 5 * time.Second, Policy: sched.Repeated{Limit: ep.Twice, Compact: true}, StartLead: 3, Protect: 16, Guard: int64(sweep / time.Second),
			Advance: true, Deadline: 5 * time.Minute,
			// Larger than the defaults, because one job of the bundled workload exceeds its limit and is meant to end by itself.
			Overrun: managed.Overrun{Share: 0.25, Least: 180, Grace: 120},
		},
	})
	var crew sync.WaitGroup
	var sidecarErr, showErr error
	crew.Go(func() {
		defer stop() // without the sidecar the jobs would wait forever
		sidecarErr = sidecar.Run(ctx)
	})
	crew.Go(func() { showErr = st.show(ctx) })
	var webErr error
	if server != nil {
		crew.Go(func() { webErr = server.Serve(ctx, st.options.Web) })
	}
	err := st.users(ctx)
	if err == nil {
		err = st.system.Quiet(ctx)
	}
	if err == nil { // the sidecar cleans up after the last job
		err = adapter.Wait(ctx, st.clock, 10*time.Second)
	}
	stop()
	crew.Wait()
	if sidecarErr != nil {
		return sidecarErr
	}
	return errors.Join(err, showErr, webErr)
}

// users submits each job of the workload at its time.
func (st *running) users(ctx context.Context) error {
	uids := map[string]uint32{}
	for _, j := range st.options.Jobs {
		at := st.begin.Add(time.Duration(j.At) * time.Second)
		if err := adapter.Wait(ctx, st.clock, at.Sub(st.clock.Now())); err != nil {
			return err
		}
		if uids[j.User] == 0 {
			uids[j.User] = uint32(1001 + len(uids))
		}
		if _, err := st.system.Submit(j.spec(uids[j.User])); err != nil {
			return err
		}
	}
	return nil
}

// ask sends a job's request to the sidecar, as the session's socket does on a cluster.
func (st *running) ask(ctx context.Context, uid uint32, r wire.Request) (wire.Reply, error) {
	for {
		answer, gone := make(chan wire.Reply, 1), make(chan struct{})
		call := session.Call{Request: r, UID: uid, Gone: gone, Answer: func(p wire.Reply) {
			select {
			case answer <- p:
			default: // the request is already answered
			}
		}}
		select {
		case st.calls <- call:
		case <-ctx.Done():
			return wire.Reply{}, ctx.Err()
		}
		select {
		case p := <-answer:
			if p.Status != wire.Busy {
				return p, nil
			}
			if err := adapter.Wait(ctx, st.clock, time.Second); err != nil {
				return wire.Reply{}, err
			}
		case <-ctx.Done():
			close(gone)
			return wire.Reply{}, ctx.Err()
		}
	}
}

// show draws the batch system until the demo ends, and once at the end.
func (st *running) show(ctx context.Context) error {
	if st.options.Show == nil {
		return nil
	}
	title := fmt.Sprintf("Accordion on %d nodes, %d times as fast", st.options.Nodes, st.options.Speed)
	screen := live.New(st.options.Show, live.Options{Title: title, Begin: st.begin, Column: 40 * time.Second})
	defer screen.Close()
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for over := false; ; {
		snapshot, err := st.system.Observe(context.WithoutCancel(ctx))
		if err != nil {
			return err
		}
		view, err := st.view()
		if err != nil {
			return err
		}
		if err := screen.Show(snapshot, view); err != nil || over {
			return err
		}
		select {
		case <-ctx.Done():
			over = true
		case <-tick.C:
		}
	}
}

func (st *running) view() (view view.Status, err error) {
	data, err := st.journal.View()
	if err != nil || data == nil {
		return view, err
	}
	return view, json.Unmarshal(data, &view)
}

// chart returns the chart of the batch system's records, with the promises of the journal.
func (st *running) chart() (gantt.Chart, error) {
	b := chart.New()
	for _, r := range st.system.Jobs() {
		if r.MergedInto != (adapter.Key{}) {
			continue // a merged expander, whose nodes belong to the parent job since the merge
		}
		b.Job(r.Key, gantt.Job{Name: r.Name, User: r.User, Submit: r.Submit, Outcome: r.Why})
		for _, s := range r.Spans {
			b.Hold(r.Key, gantt.Hold{Node: s.Node, From: s.From, To: s.To})
		}
	}
	for e, err := range st.journal.Entries(0) {
		if err != nil {
			return gantt.Chart{}, err
		}
		b.Note(e)
	}
	g := b.Chart()
	g.Title = "Accordion: jobs that grow and shrink"
	g.Note = fmt.Sprintf("The sidecar on its embedded batch system of %d nodes. A job is one colour; an evolving job is one outlined staircase. Point at a job to see its steps.", st.options.Nodes)
	g.Nodes = nil
	snapshot, err := st.system.Observe(context.Background())
	if err != nil {
		return g, err
	}
	for _, n := range snapshot.Nodes {
		g.Nodes = append(g.Nodes, n.Name)
	}
	return g, nil
}
