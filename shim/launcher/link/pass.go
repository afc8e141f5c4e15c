package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"accordion/shim/wire/launcher"
)

// pass delivers the messages of a connection until its end, and returns why it ended. It answers pings even while the caller is busy.
func (l *Link) pass(ctx context.Context, s *Session, welcome arrival[*launcher.Welcome]) error {
	done := make(chan struct{})
	arrivals := make(chan arrival[launcher.Message])
	signs := make(chan launcher.Message, 4) // pings and pongs; a separate goroutine writes them, because a sidecar may write all of its messages before it reads
	var both sync.WaitGroup
	both.Go(func() { read(s, arrivals, done) })
	both.Go(func() { write(s, signs) })
	defer func() {
		close(done)
		close(signs)
		s.Close() // ends both goroutines
		both.Wait()
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
			waiting, broken = l.take(s, a, waiting, signs)
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
			sign(signs, &launcher.Ping{})
			timer.Reset(quiet)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return broken
}

// take adds a message to those that wait for the caller.
func (l *Link) take(s *Session, a arrival[launcher.Message], waiting []Event, signs chan<- launcher.Message) ([]Event, error) {
	switch m := a.message.(type) {
	case *launcher.Ping:
		sign(signs, &launcher.Pong{})
		return waiting, nil
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

// sign queues a ping or a pong, unless the queue is full.
func sign(signs chan<- launcher.Message, m launcher.Message) {
	select {
	case signs <- m:
	default:
	}
}

// write writes pings and pongs. An error closes the connection, which read notices.
func write(s *Session, signs <-chan launcher.Message) {
	for m := range signs {
		if _, err := s.Send(m); err != nil {
			for range signs {
			}
		}
	}
}

// read reads messages until the end of the connection. It skips messages of unknown types, which a later sidecar may send.
func read(s *Session, arrivals chan<- arrival[launcher.Message], done <-chan struct{}) {
	for {
		a := arrival[launcher.Message]{}
		frame, err := s.read()
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
