package application

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"accordion/core"
	"accordion/shim/wire/launcher"
)

// Options of one call of Run.
type Options struct {
	Name     string // of the application, for whoever looks
	Model    Model
	Most     core.Time          // the largest walltime, seconds; 0: any
	Places   []Place            // where its parts may run; none: wherever there is a cluster, for an application whose work is on this host
	Commands map[string]Command // by cluster, for those places that are of batch jobs
	Work     []string           // what runs on this host between start and end, where no place is of batch jobs
	Connect  Connect
	Out, Err io.Writer // lines for programs, and for the user
	Environ  []string  // of the work on this host
	Patience Patience
}

// Patience is how long a launcher waits for what. The zero value stands for Ordinary.
type Patience struct {
	First    time.Duration // for a sidecar that has never answered
	Outage   time.Duration // for one that was there, while the application waits; one that runs is waited for without end
	Farewell time.Duration // for the answer when it leaves
	Pause    time.Duration // between two tries to connect, at first; it doubles up to MostPause
	Most     time.Duration
}

// Ordinary is what docs/launch.md says.
var Ordinary = Patience{First: 10 * time.Second, Outage: 2 * time.Minute, Farewell: 5 * time.Second, Pause: 100 * time.Millisecond, Most: 2 * time.Second}

// Run launches an application and stays until it is over. It returns the exit status. The end of the context interrupts: the
// application is withdrawn.
func Run(ctx context.Context, o Options) int {
	if o.Patience == (Patience{}) {
		o.Patience = Ordinary
	}
	selector, err := o.Model.Selector(o.Most, o.Err)
	if err != nil {
		say(o.Err, err.Error())
		return 1
	}
	defer selector.Close()
	// What is under way is seen through, whatever the user wants: it ends with this call.
	working, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	d := &driver{
		Options: o, selector: selector, working: working,
		launcher:  NewLauncher(Settings{Most: o.Most, Places: o.Places}),
		events:    make(chan Event),
		connected: make(chan connection),
		expire:    time.NewTimer(time.Hour),
	}
	d.expire.Stop()
	defer d.close()
	return d.run(ctx)
}

// driver carries out what a Launcher wants. One goroutine, that of run, owns it.
type driver struct {
	Options
	launcher  *Launcher
	selector  Selector
	working   context.Context
	link      Link // nil: there is none at present
	messages  <-chan launcher.Message
	sent      map[int64]launcher.Message // what has no answer yet, by its number
	connected chan connection
	missing   time.Time  // since when there is no link
	met       bool       // there was one
	events    chan Event // of submissions and of the work on this host
	work      *work
	expire    *time.Timer
}

// connection is the outcome of a try to connect.
type connection struct {
	link    Link
	welcome *launcher.Welcome
	err     error
}

func (d *driver) close() {
	if d.link != nil {
		d.link.Close()
	}
	if d.work != nil {
		d.work.stop()
	}
}

func (d *driver) run(ctx context.Context) int {
	interrupted := ctx.Done()
	d.reconnect(0)
	pause := d.Patience.Pause
	for {
		var e Event
		select {
		case c := <-d.connected:
			e = d.settle(c)
			if e == nil {
				d.reconnect(pause)
				pause = min(2*pause, d.Patience.Most)
			} else {
				pause = d.Patience.Pause
			}
		case m, more := <-d.messages:
			if !more {
				d.broken(errors.New("the connection is over"))
				continue
			}
			e = d.event(m)
		case s := <-d.selector.Answers():
			e = s
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

// event is what a message means: answers name what they answer by its number.
func (d *driver) event(m launcher.Message) Event {
	switch m := m.(type) {
	case *launcher.Okay:
		return d.answer(m.To, nil)
	case *launcher.Refuse:
		return d.answer(m.To, m)
	}
	return Heard{m}
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
		d.selector.See(a.Sight)
	case Submit:
		go func() {
			job, err := submit(d.working, d.Commands[a.Cluster], a.Cluster, a.Application, d.Err)
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
		d.expire.Reset(d.Patience.Farewell)
	case Reconnect:
		d.broken(a.Why)
	}
}

// tell is for goroutines beside the loop.
func (d *driver) tell(e Event) {
	select {
	case d.events <- e:
	case <-d.working.Done():
	}
}

// send gives a message to the link. What is lost with it is said again when another is there.
func (d *driver) send(m launcher.Message) {
	if d.link == nil {
		return
	}
	seq, err := d.link.Send(m)
	if err == nil {
		d.forget(seq)
		d.sent[seq] = m
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

// reconnect tries to connect, after a pause.
func (d *driver) reconnect(pause time.Duration) {
	if d.missing.IsZero() {
		d.missing = time.Now()
	}
	hello := d.launcher.Hello(d.Name)
	go func() {
		select {
		case <-time.After(pause):
		case <-d.working.Done():
			return
		}
		link, welcome, err := d.Connect(d.working, hello)
		select {
		case d.connected <- connection{link, welcome, err}:
		case <-d.working.Done():
			if link != nil {
				link.Close()
			}
		}
	}()
}

// settle takes a connection, or says why there will be none. It is nil when another try is worth while.
func (d *driver) settle(c connection) Event {
	if c.err == nil {
		d.link, d.messages, d.met, d.missing = c.link, c.link.Messages(), true, time.Time{}
		d.sent = map[int64]launcher.Message{}
		return Heard{c.welcome}
	}
	var refused *Refusal
	if errors.As(c.err, &refused) {
		switch code := refused.Code; {
		case !d.met, code == launcher.CodeUnknown, code == launcher.CodeVersion:
			return Answered{To: &launcher.Hello{}, Refuse: refused.Refuse}
		}
	}
	most := d.Patience.First
	if d.met {
		most = d.Patience.Outage
	}
	if waited := time.Since(d.missing); waited >= most && !(d.met && d.launcher.Runs()) {
		return Lost{fmt.Errorf("no sidecar answered within %v: %w", waited.Round(100*time.Millisecond), c.err)}
	}
	return nil
}

// broken gives a link up, and makes another.
func (d *driver) broken(why error) {
	if d.link == nil {
		return
	}
	d.link.Close()
	d.link, d.messages = nil, nil
	say(d.Err, fmt.Sprintf("the sidecar is away, and is tried again: %v", why))
	d.reconnect(d.Patience.Pause)
}

func say(w io.Writer, line string) { fmt.Fprintln(w, "accordion:", line) }
