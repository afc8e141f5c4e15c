package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
)

// The times of the protocol, and of a client that waits for a sidecar.
const (
	quiet     = 15 * time.Second // a ping is sent after this time without a frame
	dead      = 45 * time.Second // the connection counts as dead after this time without a frame
	writing   = 5 * time.Second  // deadline for writing a frame
	greeting  = 10 * time.Second // deadline from connecting to the welcome
	firstTry  = 10 * time.Second // how long to try to reach a sidecar that has not answered yet
	settled   = 5 * time.Second  // after a connection that lasted this long, an outage counts as a new one
	mostKept  = 1024             // messages that may wait for the caller; the sidecar never sends that many without an answer
	mostHello = 64 << 10
)

// Options of a link.
type Options struct {
	// Dial connects to the sidecar. It returns a *seal.Conn if the peer must be proved.
	Dial func(context.Context) (net.Conn, error)
	// Hello has the Name, and the App or the Part. The link sets the rest.
	Hello launcher.Hello
	// Patience is how long to try to reach a sidecar that has never answered; 0 means 10 s.
	Patience time.Duration
	// Outage is how long to try to reach a sidecar that has answered before; 0 means the grace of the last welcome.
	Outage time.Duration
}

// Event is a message, or the end of a connection. The first event of each connection is a *launcher.Welcome. Pings cause no events. A nil
// Message means that the connection has ended, or could not be opened, because of Err.
type Event struct {
	Session *Session
	Seq     int64 // the message's "s"
	Message launcher.Message
	Err     error
	Over    bool // the link has ended, and no further event follows
}

// Link is a session that survives broken connections.
type Link struct {
	options Options
	events  chan Event
	has     atomic.Int64

	// Only the link's goroutine uses the following fields.
	app     int64
	welcome *launcher.Welcome // the last one
	ended   *launcher.End
}

// Open starts a link that lives until ctx ends or an event has Over set. Its events must be read until their channel is closed.
func Open(ctx context.Context, o Options) *Link {
	if o.Patience <= 0 {
		o.Patience = firstTry
	}
	l := &Link{options: o, events: make(chan Event), app: o.Hello.App}
	l.has.Store(o.Hello.Have)
	go l.run(ctx)
	return l
}

// Events returns the channel of events, which is closed at the end.
func (l *Link) Events() <-chan Event { return l.events }

// Has sets the number of the view that the caller has; 0 means none. After the next connection, the sidecar sends only the differences from
// that view.
func (l *Link) Has(view int64) { l.has.Store(view) }

// run opens connections until the link ends.
func (l *Link) run(ctx context.Context) {
	defer close(l.events)
	missing := time.Now() // when the sidecar was last reachable
	for pauses := wire.Pauses(); ; {
		opened := time.Now()
		s, err := l.session(ctx)
		now := time.Now()
		if s != nil && now.Sub(opened) >= settled {
			missing = now
			pauses.Reset()
		}
		bound := missing.Add(l.patience())
		over := l.over(ctx, err)
		if over == nil && !now.Before(bound) {
			over = fmt.Errorf("no sidecar answered within %v: %w", now.Sub(missing).Round(100*time.Millisecond), err)
		}
		if over != nil {
			l.tell(ctx, Event{Session: s, Err: over, Over: true})
			return
		}
		if s != nil && !l.tell(ctx, Event{Session: s, Err: err}) {
			return
		}
		wait(ctx, min(pauses.NextBackOff(), time.Until(bound)))
	}
}

func (l *Link) patience() time.Duration {
	switch {
	case l.welcome == nil:
		return l.options.Patience
	case l.options.Outage > 0:
		return l.options.Outage
	}
	return time.Duration(l.welcome.Grace) * time.Second
}

// over returns why the link ends after a connection has ended with `err`, or nil if the link goes on.
func (l *Link) over(ctx context.Context, err error) error {
	var version *VersionError
	var refused *RefusedError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case l.ended != nil:
		return &EndedError{End: *l.ended}
	case errors.As(err, &version):
		return err
	case errors.As(err, &refused) && (l.welcome == nil || refused.Refuse.Code != launcher.CodeFull):
		return err
	}
	return nil
}

// session runs one connection from dialing to its end. The Session is nil if there was no welcome.
func (l *Link) session(ctx context.Context) (*Session, error) {
	s, welcome, err := l.greet(ctx)
	if err != nil {
		return nil, err
	}
	l.welcome = welcome.message
	if l.options.Hello.Part == nil {
		l.app = l.welcome.App
	}
	return s, l.pass(ctx, s, welcome)
}

// tell passes an event to the caller. After the end of ctx it still tries to deliver the last welcome.
func (l *Link) tell(ctx context.Context, e Event) bool {
	select {
	case l.events <- e:
		return true
	case <-ctx.Done():
	}
	if e.Over {
		select {
		case l.events <- e:
		case <-time.After(writing): // the caller no longer reads events
		}
	}
	return false
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
