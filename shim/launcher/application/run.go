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

// Options of one call of Run.
type Options struct {
	Name     string // of the application, for whoever looks
	Model    selector.Model
	Most     core.Time          // the largest walltime, seconds; 0: any
	Places   []Place            // where its parts may run; none: wherever there is a cluster, for an application whose work is on this host
	Commands map[string]Command // by cluster, for those places that are of batch jobs; "": of the only one
	Work     []string           // what runs on this host between start and end, where no place is of batch jobs
	Dial     func(context.Context) (net.Conn, error)
	Out, Err io.Writer // lines for programs, and for the user
	Environ  []string  // of the work on this host

	// Lasts, unless nil, is in place of Work: an application of an experiment does nothing for so many seconds of the sidecar's clock, which
	// depend on what it got. Clusters are known by their numbers in messages.
	Lasts func([]moldable.Part) core.Time
	// Welcomed, unless nil, is called when the sidecar welcomes the application for the first time.
	Welcomed func()
}

// outage is how long an application that waits does without a sidecar; docs/launch.md says so.
const outage = 2 * time.Minute

// farewell is how long a launcher that leaves waits for the sidecar's answer.
const farewell = 5 * time.Second

// Run launches an application and stays until it is over. It returns the exit status. The end of the context interrupts: the
// application is withdrawn.
func Run(ctx context.Context, o Options) int {
	model, err := o.Model.Start(o.Most, o.Err)
	if err != nil {
		say(o.Err, err.Error())
		return 1
	}
	defer model.Close()
	// What is under way is seen through, whatever the user wants: it ends with this call.
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

// driver carries out what a Launcher wants. One goroutine, that of run, owns it.
type driver struct {
	Options
	launcher *Launcher
	model    selector.Selector
	working  context.Context
	link     *link.Link
	unlink   context.CancelFunc
	session  *link.Session              // nil: the sidecar is away
	sent     map[int64]launcher.Message // what has no answer yet, by its number
	events   chan Event                 // of submissions and of the work on this host
	work     *work
	pace     float64 // seconds of the sidecar's clock a second
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
				return 1 // its last event said why
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

// open makes a link, for a new application or for this one again.
func (d *driver) open() {
	ctx, cancel := context.WithCancel(d.working)
	d.unlink = cancel
	d.session = nil
	d.link = link.Open(ctx, link.Options{Dial: d.Dial, Hello: d.launcher.Hello(d.Name), Outage: outage})
}

// event is what an event of the link means; nil when it means nothing to the launcher.
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

// away: a connection is gone, or the link is over.
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
	if !final && d.launcher.Runs() { // its jobs run, whoever looks
		d.reopen()
		return nil
	}
	return Lost{e.Err}
}

// reopen gives a link up, and comes back over another.
func (d *driver) reopen() {
	d.unlink()
	for range d.link.Events() { // until it is over
	}
	d.open()
}

func (d *driver) answer(to int64, r *launcher.Refuse) Event {
	sent := d.sent[to]
	delete(d.sent, to)
	if sent == nil && r != nil { // of nothing in particular, or of what needs no answer
		say(d.Err, refusal(r))
	}
	return Answered{To: sent, Refuse: r}
}

// carry carries one act out.
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

// tell is for goroutines beside the loop.
func (d *driver) tell(e Event) {
	select {
	case d.events <- e:
	case <-d.working.Done():
	}
}

// send gives a message to the sidecar. What is lost with a connection is said again over the next.
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

// mostUnanswered bounds how many messages are kept to understand a refusal: requests that are good have no answer of their own.
const mostUnanswered = 64

func (d *driver) forget(seq int64) {
	for old := range d.sent {
		if old <= seq-mostUnanswered {
			delete(d.sent, old)
		}
	}
}

func say(w io.Writer, line string) { fmt.Fprintln(w, "accordion:", line) }
