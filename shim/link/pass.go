package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"accordion/shim/wire/launcher"
)

// pass hands over what comes on a connection until its end, and says why it ended. Pings are answered while the caller is busy.
func (l *Link) pass(ctx context.Context, s *Session, welcome arrival[*launcher.Welcome]) error {
	done := make(chan struct{})
	arrivals := make(chan arrival[launcher.Message])
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		read(s, arrivals, done)
	}()
	defer func() {
		close(done)
		s.Close() // ends the reader
		<-gone
	}()

	waiting := []Event{{Session: s, Seq: welcome.seq, Message: welcome.message}}
	heard := time.Now()
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	var broken error
	for broken == nil || len(waiting) > 0 {
		var events chan<- Event
		var next Event
		if len(waiting) > 0 {
			events, next = l.events, waiting[0]
		}
		select {
		case events <- next:
			waiting = waiting[1:]
		case a := <-arrivals:
			if a.err != nil {
				arrivals, broken = nil, a.err
				break
			}
			heard = time.Now()
			timer.Reset(quiet)
			waiting, broken = l.take(s, a, waiting)
			if broken != nil {
				arrivals = nil
			}
		case <-timer.C:
			if broken != nil {
				break
			}
			if time.Since(heard) >= dead {
				broken, arrivals = errSilent, nil
				break
			}
			_, broken = s.Send(&launcher.Ping{})
			timer.Reset(quiet)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return broken
}

// take adds what came to what waits for the caller.
func (l *Link) take(s *Session, a arrival[launcher.Message], waiting []Event) ([]Event, error) {
	switch m := a.message.(type) {
	case *launcher.Ping:
		_, err := s.Send(&launcher.Pong{})
		return waiting, err
	case *launcher.Pong:
		return waiting, nil
	case *launcher.End:
		l.ended = m
	}
	if len(waiting) >= mostKept {
		return waiting, fmt.Errorf("the sidecar sent %d messages that nobody has taken", mostKept)
	}
	return append(waiting, Event{Session: s, Seq: a.seq, Message: a.message}), nil
}

// read brings messages until the connection's end. A type that is not known is passed over: a later sidecar may say more.
func read(s *Session, arrivals chan<- arrival[launcher.Message], done <-chan struct{}) {
	for {
		a := arrival[launcher.Message]{}
		frame, err := s.stream.ReadFrame(launcher.MostToClient)
		if err == nil {
			a.message, a.seq, err = launcher.Decode(frame)
		}
		var unknown *launcher.TypeError
		switch {
		case errors.As(err, &unknown):
			continue
		case err != nil:
			a.err = fmt.Errorf("the connection broke: %w", err)
		}
		select {
		case arrivals <- a:
		case <-done:
			return
		}
		if a.err != nil {
			return
		}
	}
}
