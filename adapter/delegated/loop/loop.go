package loop

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/adapter/delegated/apps"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/delegated/server"
	"accordion/adapter/journal"
	"accordion/adapter/view"
	"accordion/core"
	"accordion/shim/wire/launcher"
)

// Loop runs the applications of a process. It never waits for a peer or for a cluster.
type Loop struct {
	Options
	machine  *apps.Machine
	sessions map[uint64]server.Session
	states   []*mailbox.ClusterState // the newest state that the machine has, by cluster
	shown    chan struct{}           // receives a value soon after a cluster's sidecar shows a new state
	seen     view.Applications       // the view that was written last
	seenAt   core.Time               // when seen was written
	stale    bool                    // the view may have changed since then, and must be checked a second after seenAt
	checked  time.Time               // when the clock was checked last
	asked    chan struct{}
}

// New returns a loop that does nothing until Run.
func New(o Options) *Loop {
	if o.Meter == nil {
		o.Meter = noMeter{}
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	return &Loop{
		Options: o, sessions: map[uint64]server.Session{}, states: make([]*mailbox.ClusterState, len(o.Clusters)),
		shown: make(chan struct{}, 1), asked: make(chan struct{}),
	}
}

// most is the largest number of events that the loop handles before it checks the clock again.
const most = 1000

// Run serves launchers until ctx ends, and then returns nil. It continues the applications in the journal. If the journal cannot be read
// or written, Run returns an error. It then does nothing more, and running applications continue to run.
func (l *Loop) Run(ctx context.Context) error {
	l.checked = l.Clock.Now()
	for _, c := range l.Clusters {
		c.Mailbox.NotifyShown(l.shown)
	}
	if err := l.begin(); err != nil {
		return err
	}
	l.readStates()
	for {
		if err := l.turn(); err != nil {
			return err
		}
		event, ok := l.wait(ctx)
		if !ok {
			return nil
		}
		if err := l.checkClock(); err != nil {
			return err
		}
		l.take(event)
	}
}

// Alive waits until the loop answers, and returns nil. If the loop hangs or does not run, Alive returns the error of ctx when ctx ends.
// Any goroutine may call it.
func (l *Loop) Alive(ctx context.Context) error {
	select {
	case l.asked <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin starts the machine with the applications in the journal.
func (l *Loop) begin() error {
	records, err := l.Journal.records()
	if err != nil {
		return err
	}
	clusters := make([]apps.Cluster, len(l.Clusters))
	for i, c := range l.Clusters {
		clusters[i] = c.Cluster
	}
	l.machine, err = apps.New(l.now(), clusters, l.Links, l.Settings, records)
	return err
}

// checkClock detects that the clock was set. Applications depend on elapsed time, not on the time of day. So the loop begins again, as
// after a restart, and moves all promised times by as much as the clock was set. The sessions of launchers and parts end, and they
// reconnect.
func (l *Loop) checkClock() error {
	now := l.Clock.Now()
	by := adapter.ClockJump(l.Clock, l.checked, now)
	l.checked = now
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
	l.seenAt = 0
	return nil
}

// turn carries out the effects of the events since the previous turn. Then, if a pass is due, it makes the pass. So the journal has
// everything that happened before the pass.
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

// carry carries out the effects of the machine, the records first.
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
	for _, s := range e.Sent {
		peer := l.sessions[s.Session]
		switch {
		case peer == nil: // the peer has disconnected
		case s.Close:
			delete(l.sessions, s.Session)
			peer.Close(s.Message)
		default:
			peer.Send(s.Message)
		}
	}
	return nil
}

// wait waits for an event, for a new state of a cluster, or until the machine's next Wake is due. If there is no event, the Session of
// the result is nil. ok is false if ctx has ended.
func (l *Loop) wait(ctx context.Context) (event server.Event, ok bool) {
	var due <-chan time.Time
	next := l.machine.Next()
	if l.stale {
		next = min(next, l.seenAt+1)
	}
	if next < core.Forever {
		due = l.Clock.After(adapter.Instant(next).Sub(l.Clock.Now()))
	}
	select {
	case <-ctx.Done():
		return event, false
	case event = <-l.Events:
	case <-l.shown:
	case <-due:
	case <-l.asked:
	}
	return event, true
}

// take passes an event to the machine, then the clusters' new states, and then the events that have arrived meanwhile.
func (l *Loop) take(event server.Event) {
	if event.Session != nil {
		l.receive(event)
	}
	l.readStates()
	for range most {
		select {
		case event := <-l.Events:
			l.receive(event)
		case <-l.shown:
			l.readStates()
		default:
			return
		}
	}
}

// receive passes a message of a session, or the end of the session, to the machine.
func (l *Loop) receive(e server.Event) {
	id := e.Session.Number()
	if e.Message == nil {
		delete(l.sessions, id)
		l.machine.Step(l.now(), apps.Disconnected{Session: id})
		return
	}
	if _, first := e.Message.(*launcher.Hello); first {
		l.sessions[id] = e.Session
	}
	l.machine.Step(l.now(), apps.Received{Session: id, User: e.Session.User().Name, Seq: e.Seq, Message: e.Message})
}

// ahead is the largest number of seconds by which the time of a state may be later than the loop's clock.
const ahead core.Time = 2

// readStates passes new states of clusters to the machine. It ignores a state that was made before the clock was set back, because the
// cluster's sidecar also detects that, and shows another state.
func (l *Loop) readStates() {
	for i, c := range l.Clusters {
		state := c.Mailbox.State()
		if state == nil || state == l.states[i] {
			continue
		}
		l.states[i] = state
		if state.Read <= l.now()+ahead {
			l.machine.Step(l.now(), apps.StateShown{Cluster: i, State: state})
		}
	}
}

// show writes the view of the applications if it has changed, but at most once a second.
func (l *Loop) show() error {
	if l.stale = l.now() == l.seenAt; l.stale {
		return nil
	}
	s := l.machine.Snapshot()
	at := s.At
	s.At = l.seen.At
	if reflect.DeepEqual(s, l.seen) {
		return nil
	}
	s.At = at
	l.seen, l.seenAt = s, l.now()
	states := map[string]int{}
	for _, a := range s.Applications {
		states[a.State]++
	}
	l.Meter.Applications(states)
	return l.Journal.show(s)
}

func (l *Loop) now() core.Time { return l.Clock.Now().Unix() }
