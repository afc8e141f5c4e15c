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
	quiet     = 15 * time.Second // without a frame: send a ping
	dead      = 45 * time.Second // without a frame: the connection is dead
	writing   = 5 * time.Second  // for a frame to be taken
	greeting  = 10 * time.Second // from a connection to the welcome
	firstTry  = 10 * time.Second // for a sidecar that has never answered
	settled   = 5 * time.Second  // a connection that lasted so long was a healthy one: the outage after it is a new one
	mostKept  = 1024             // messages that wait for the caller; the sidecar does not send so many before it hears from us
	mostHello = 64 << 10
)

// Options of a link.
type Options struct {
	// Dial connects to the sidecar; a *seal.Conn when that must be proved.
	Dial func(context.Context) (net.Conn, error)
	// Hello says who comes: its Name, its App or its Part. The rest is filled in.
	Hello launcher.Hello
	// Patience is for a sidecar that has never answered; 10 s when 0.
	Patience time.Duration
	// Outage is for a sidecar that was there and is not any more; when 0, the grace of the last welcome.
	Outage time.Duration
}

// Event is what happened. The first of each connection is a *launcher.Welcome; pings are not among them. A nil Message says that the
// connection is gone, or that no first one came, and Err why.
type Event struct {
	Session *Session
	Seq     int64 // the message's "s"
	Message launcher.Message
	Err     error
	Over    bool // nobody tries again, and nothing follows
}

// Link is a session that outlives its connections.
type Link struct {
	options Options
	events  chan Event
	has     atomic.Int64

	// Of its goroutine only.
	app     int64
	welcome *launcher.Welcome // the last one
	ended   *launcher.End
}

// Open starts a link that lives until ctx ends or it is over. Its events must be taken until their channel is closed.
func Open(ctx context.Context, o Options) *Link {
	if o.Patience <= 0 {
		o.Patience = firstTry
	}
	l := &Link{options: o, events: make(chan Event), app: o.Hello.App}
	l.has.Store(o.Hello.Have)
	go l.run(ctx)
	return l
}

// Events are what happened, in order. Closed at the end.
func (l *Link) Events() <-chan Event { return l.events }

// Has tells the link which view the caller has whole: what differs from it is enough when the link comes back. 0: none.
func (l *Link) Has(view int64) { l.has.Store(view) }

// run is the life of a link.
func (l *Link) run(ctx context.Context) {
	defer close(l.events)
	missing := time.Now() // since when no sidecar was there
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

// over says why nobody tries again after a connection ended so; nil when somebody does.
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

// session is one connection, from dialing it to its end; the Session is nil when there was no welcome.
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

// tell hands one event to the caller; at the end of ctx it still tries, for the last one.
func (l *Link) tell(ctx context.Context, e Event) bool {
	select {
	case l.events <- e:
		return true
	case <-ctx.Done():
	}
	if e.Over {
		select {
		case l.events <- e:
		case <-time.After(writing): // nobody takes it
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
