package application

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/shim/launcher/link"
	"accordion/shim/launcher/selector"
	"accordion/shim/wire/launcher"
)

// Options of Run.
type Options struct {
	Name     string // name of the application, for people
	Model    selector.Model
	Most     core.Time          // the longest walltime, in seconds; 0 means any
	Places   []Place            // where parts may run; if empty, any cluster is used, and Work runs on this host
	Commands map[string]Command // for the places with batch jobs, by cluster; the key is "" if there is only one cluster
	Work     []string           // command on this host between start and end, if no place has batch jobs
	Dial     func(context.Context) (net.Conn, error)
	Out, Err io.Writer // where lines for programs, and lines for the user, are written
	Environ  []string  // environment of the command on this host

	// Lasts, unless nil, replaces Work in experiments. It returns how many seconds of the sidecar's clock the application lasts on the
	// hosts that it got; the application does nothing in this time. Messages then name clusters by number.
	Lasts func([]moldable.Part) core.Time
	// Welcomed, unless nil, is called when the sidecar welcomes the application for the first time.
	Welcomed func()
}

// outage is how long a waiting application continues without a sidecar (docs/launch.md).
const outage = 2 * time.Minute

// farewell is how long a leaving launcher waits for the sidecar's answer.
const farewell = 5 * time.Second

// Run launches an application, waits for its end, and returns the exit status. If ctx ends, the application is withdrawn.
func Run(ctx context.Context, o Options) int {
	model, err := o.Model.Start(o.Most, o.Err)
	if err != nil {
		say(o.Err, err.Error())
		return 1
	}
	defer model.Close()
	// Submissions under way are completed even after an interrupt. They are ended when this call returns.
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	d := &driver{
		Options: o, model: model, working: working,
		launcher: NewLauncher(Settings{Most: o.Most, Places: o.Places}),
		events:   make(chan Event),
		expire:   time.NewTimer(time.Hour),
	}
	d.expire.Stop()
	d.open()
	defer d.close()
	return d.run(ctx)
}

// driver carries out the acts of a Launcher. The goroutine of run owns it.
type driver struct {
	Options
	launcher *Launcher
	model    selector.Selector
	working  context.Context
	link     *link.Link
	unlink   context.CancelFunc
	session  *link.Session              // nil while no sidecar is connected
	sent     map[int64]launcher.Message // unanswered messages, by number
	events   chan Event                 // events of submissions, and of the command on this host
	work     *work
	pace     float64 // seconds of the sidecar's clock per second of real time
	expire   *time.Timer
}

func (d *driver) close() {
	d.unlink()
	if d.work != nil {
		d.work.stop()
	}
}

func (d *driver) run(ctx context.Context) int {
	interrupted := ctx.Done()
	for {
		var e Event
		select {
		case happened, more := <-d.link.Events():
			if !more {
				return 1 // the last event has reported the reason
			}
			e = d.event(happened)
		case s := <-d.model.Answers():
			e = Selected{s}
		case e = <-d.events:
		case <-interrupted:
			interrupted = nil
			e = Interrupted{}
		case <-d.expire.C:
			e = Expired{}
		}
		for _, act := range d.launcher.Handle(e) {
			if exit, leave := act.(Exit); leave {
				return exit.Code
			}
			d.carry(act)
		}
	}
}

// open opens a link, for a new application or for this one again.
func (d *driver) open() {
	ctx, cancel := context.WithCancel(d.working)
	d.unlink = cancel
	d.session = nil
	d.link = link.Open(ctx, link.Options{Dial: d.Dial, Hello: d.launcher.Hello(d.Name), Outage: outage})
}

// event returns the launcher's event for an event of the link, or nil.
func (d *driver) event(e link.Event) Event {
	switch m := e.Message.(type) {
	case nil:
		return d.away(e)
	case *launcher.Welcome:
		d.session, d.sent = e.Session, map[int64]launcher.Message{}
		if d.pace == 0 && d.Welcomed != nil {
			d.Welcomed()
		}
		d.pace = max(1, m.Pace)
	case *launcher.Okay:
		return d.answer(m.To, nil)
	case *launcher.Refuse:
		return d.answer(m.To, m)
	}
	return Heard{e.Message}
}

// away handles the end of a connection or of the link.
func (d *driver) away(e link.Event) Event {
	d.session = nil
	if !e.Over {
		say(d.Err, fmt.Sprintf("the sidecar is away, and is tried again: %v", e.Err))
		return nil
	}
	var ended *link.EndedError
	var refused *link.RefusedError
	var version *link.VersionError
	final := errors.As(e.Err, &ended) || errors.As(e.Err, &refused) || errors.As(e.Err, &version)
	if !final && d.launcher.Runs() { // the application's jobs run without the sidecar
		d.reopen()
		return nil
	}
	return Lost{e.Err}
}

// reopen closes the link and opens another one.
func (d *driver) reopen() {
	d.unlink()
	for range d.link.Events() { // until the channel is closed
	}
	d.open()
}

func (d *driver) answer(to int64, r *launcher.Refuse) Event {
	sent := d.sent[to]
	delete(d.sent, to)
	if sent == nil && r != nil { // the refusal of a message that is no longer kept
		say(d.Err, refusal(r))
	}
	return Answered{To: sent, Refuse: r}
}

// carry carries out one act.
func (d *driver) carry(act Act) {
	switch a := act.(type) {
	case Send:
		d.send(a.Message)
	case Ask:
		d.link.Has(a.Sight.View)
		d.model.See(a.Sight)
	case Submit:
		go func() {
			job, err := submit(d.working, d.command(a.Cluster), a.Cluster, a.Application, d.Err)
			d.tell(Submitted{a.Cluster, job, err})
		}()
	case Print:
		fmt.Fprintln(d.Out, a.Line)
	case Say:
		say(d.Err, a.Line)
	case Work:
		d.begin(a)
	case Stop:
		if d.work != nil {
			go d.work.stop()
		}
	case Expect:
		d.expire.Reset(a.After)
	case Reconnect:
		say(d.Err, a.Why.Error())
		d.link.Has(0)
		d.reopen()
	}
}

// tell passes an event from another goroutine to the loop.
func (d *driver) tell(e Event) {
	select {
	case d.events <- e:
	case <-d.working.Done():
	}
}

// send sends a message to the sidecar. A message that is lost with its connection is sent again over the next one.
func (d *driver) send(m launcher.Message) {
	if d.session == nil {
		return
	}
	if seq, err := d.session.Send(m); err == nil {
		d.forget(seq)
		d.sent[seq] = m
	} else if !errors.Is(err, link.ErrAway) {
		say(d.Err, err.Error())
	}
}

// mostUnanswered is how many sent messages are kept to match refusals with them. Accepted requests get no answer, so they would be kept
// forever.
const mostUnanswered = 64

func (d *driver) forget(seq int64) {
	for old := range d.sent {
		if old <= seq-mostUnanswered {
			delete(d.sent, old)
		}
	}
}

func say(w io.Writer, line string) { fmt.Fprintln(w, "accordion:", line) }
