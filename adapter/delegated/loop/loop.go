package loop

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/delegated/apps"
	"accordion/adapter/delegated/server"
	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// Loop owns the applications. Nothing that it does waits for a peer or for a cluster.
type Loop struct {
	Options
	machine  *apps.Machine
	sessions map[uint64]server.Session
	shown    chan int          // clusters that have a new state
	seen     view.Applications // written last
	shownAt  core.Time         // when
	stale    bool              // there is something newer: a second later
	looked   time.Time         // when the clock was last looked at
	asked    chan struct{}
}

// New is a loop that does nothing yet.
func New(o Options) *Loop {
	if o.Meter == nil {
		o.Meter = Deaf{}
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	return &Loop{Options: o, sessions: map[uint64]server.Session{}, shown: make(chan int), asked: make(chan struct{})}
}

// most is how many events are taken before the clock is looked at again.
const most = 1000

// Run serves launchers until ctx ends; then it returns nil. What the journal has of applications goes on. An error means that the journal
// cannot be read or written: then nothing more is done, and launchers and clusters keep what they have.
func (l *Loop) Run(ctx context.Context) error {
	l.looked = l.Clock.Now()
	if err := l.begin(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, c := range l.Clusters {
		if c.Mailbox.State() != nil {
			l.look(i)
		}
		go l.listen(ctx, i)
	}
	for {
		if err := l.turn(); err != nil {
			return err
		}
		happened, ok := l.wait(ctx)
		if !ok {
			return nil
		}
		if err := l.keepTime(); err != nil {
			return err
		}
		l.take(happened)
	}
}

// Alive returns nil when the loop has looked up from its work, and an error when ctx ends before: it hangs, or Run is not at work. It may be
// called from any goroutine.
func (l *Loop) Alive(ctx context.Context) error {
	select {
	case l.asked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin makes the machine of what the journal has.
func (l *Loop) begin() error {
	records, err := l.Journal.records()
	if err != nil {
		return err
	}
	l.machine, err = apps.New(l.now(), l.clusters(), l.links(), l.settings(), records)
	return err
}

// keepTime looks whether the clock was set. Applications work by the time that passes, not by the clock: the loop begins anew, as after a
// restart, and what was promised for a second moves. Launchers and parts lose their sessions, and come back.
func (l *Loop) keepTime() error {
	now := l.Clock.Now()
	by := adapter.SetBy(l.Clock, l.looked, now)
	l.looked = now
	if by == 0 {
		return nil
	}
	text := fmt.Sprintf("the clock was set by %v: what is promised to applications moves with it; launchers and parts come back", by)
	l.Log.Warn(text)
	if err := l.Journal.Event(journal.Event{At: now, Kind: "clock", Text: text, Fields: map[string]any{"seconds": by.Seconds()}}); err != nil {
		return err
	}
	for _, s := range l.sessions {
		s.Close(nil)
	}
	clear(l.sessions)
	if err := l.begin(); err != nil {
		return err
	}
	l.machine.Shift(core.Time(by / time.Second))
	l.shownAt = 0
	return nil
}

// turn writes and does what came of the events since the last one, and then makes the pass that is due: all that came before it is in the
// journal.
func (l *Loop) turn() error {
	if err := l.carry(l.machine.Effects()); err != nil {
		return err
	}
	if begun := time.Now(); l.machine.Next() <= l.now() {
		if l.machine.Wake(l.now()) {
			l.Meter.Passed(time.Since(begun))
		}
		if err := l.carry(l.machine.Effects()); err != nil {
			return err
		}
	}
	return l.show()
}

// carry does what the machine decided, the records first.
func (l *Loop) carry(e apps.Effects) error {
	if err := l.Journal.keep(e); err != nil {
		return err
	}
	for _, n := range e.Notes {
		l.Log.Info(n.Text, "application", n.Application, "what", n.Verb)
	}
	for _, f := range e.Failed {
		l.Meter.FailedPreparation(f.Cluster, f.Why)
	}
	for _, o := range e.Ordered {
		l.Clusters[o.Cluster].Mailbox.Order(o.All)
	}
	for _, s := range e.Said {
		peer := l.sessions[s.Session]
		switch {
		case peer == nil: // it has gone
		case s.Close:
			delete(l.sessions, s.Session)
			peer.Close(s.Message)
		default:
			peer.Send(s.Message)
		}
	}
	return nil
}

// happening is an event, or a cluster with a new state; neither where only time has passed.
type happening struct {
	event server.Event
	shown int // −1: none
}

// wait lets something happen. It is false when ctx has ended.
func (l *Loop) wait(ctx context.Context) (happening, bool) {
	var due <-chan time.Time
	next := l.machine.Next()
	if l.stale {
		next = min(next, l.shownAt+1)
	}
	if next < core.Forever {
		due = l.Clock.After(adapter.Instant(next).Sub(l.Clock.Now()))
	}
	select {
	case <-ctx.Done():
		return happening{}, false
	case <-due:
	case e := <-l.Events:
		return happening{e, -1}, true
	case i := <-l.shown:
		return happening{shown: i}, true
	case <-l.asked:
	}
	return happening{shown: -1}, true
}

// take takes in what has happened, and all else that has by now.
func (l *Loop) take(h happening) {
	if h.event.Session != nil {
		l.hear(h.event)
	}
	if h.shown >= 0 {
		l.look(h.shown)
	}
	for range most {
		select {
		case e := <-l.Events:
			l.hear(e)
		case i := <-l.shown:
			l.look(i)
		default:
			return
		}
	}
}

func (l *Loop) hear(e server.Event) {
	id := e.Session.Number()
	if e.Message == nil {
		delete(l.sessions, id)
		l.machine.Step(l.now(), apps.Left{Session: id})
		return
	}
	if _, first := e.Message.(*launcher.Hello); first {
		l.sessions[id] = e.Session
	}
	l.machine.Step(l.now(), apps.Heard{Session: id, User: e.Session.User().Name, Seq: e.Seq, Message: e.Message})
}

// ahead is by how many seconds a state may be of a later second than this loop knows.
const ahead core.Time = 2

// look takes in a cluster's newest state; not one of before the clock was set back: its sidecar makes another as soon as it notices.
func (l *Loop) look(i int) {
	if b := l.Clusters[i].Mailbox.State(); b.Read <= l.now()+ahead {
		l.machine.Step(l.now(), apps.Shown{Cluster: i, State: b})
	}
}

// listen passes on that a cluster has a new state.
func (l *Loop) listen(ctx context.Context, i int) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.Clusters[i].Mailbox.Shown():
		}
		select {
		case <-ctx.Done():
			return
		case l.shown <- i:
		}
	}
}

// show writes what there is to be seen, where that is something else than before: once a second at most.
func (l *Loop) show() error {
	if l.stale = l.now() == l.shownAt; l.stale {
		return nil
	}
	s := l.machine.Snapshot()
	at := s.At
	s.At = l.seen.At
	if reflect.DeepEqual(s, l.seen) {
		return nil
	}
	s.At = at
	l.seen, l.shownAt = s, l.now()
	states := map[string]int{}
	for _, a := range s.Applications {
		states[a.State]++
	}
	l.Meter.Applications(states)
	return l.Journal.show(s)
}

func (l *Loop) now() core.Time { return l.Clock.Now().Unix() }

func (l *Loop) clusters() []apps.Cluster {
	all := make([]apps.Cluster, len(l.Clusters))
	for i, c := range l.Clusters {
		all[i] = apps.Cluster{Name: c.Name, Site: c.Site, Speed: c.Speed, Attrs: c.Attrs, Embedded: c.Embedded}
	}
	return all
}

func (l *Loop) links() []apps.Link {
	all := make([]apps.Link, len(l.Links))
	for i, k := range l.Links {
		all[i] = apps.Link{Between: k.Between, Latency: k.Latency.Microseconds(), Bandwidth: int64(k.Bandwidth)}
	}
	return all
}

// settings are the machine's: whole seconds, rounded up.
func (l *Loop) settings() apps.Settings {
	up := func(d time.Duration) core.Time { return core.Time((d + time.Second - 1) / time.Second) }
	s := l.Settings
	return apps.Settings{FairStart: up(s.FairStart), Timer: up(s.Timer), Answer: up(s.Answer), Grace: up(s.Grace), BringUp: up(s.BringUp),
		Guard: up(s.Guard), Applications: s.Applications, PerUser: s.PerUser, Pace: s.Pace}
}
