package shim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"accordion/shim/seal"
	"accordion/shim/wire"
)

// timeouts are how long the shim waits for the sidecar.
type timeouts struct {
	first  time.Duration // how long to try to reach a sidecar that has not answered in this call yet
	outage time.Duration // how long to try to reach a sidecar that has answered in this call before
	margin time.Duration // time after the user's timeout for the answer that the sidecar sends when that timeout passes
	settle time.Duration // if a session lasted this long, the outage after it counts as a new outage
	send   time.Duration // time for the sidecar to read the request
}

// defaultTimeouts are the values that docs/step.md documents.
var defaultTimeouts = timeouts{
	first:  10 * time.Second,
	outage: 120 * time.Second,
	margin: 2 * time.Second,
	settle: 5 * time.Second,
	send:   10 * time.Second,
}

// errTimeout means that a sidecar was reached, and the user's timeout passed.
var errTimeout = errors.New("the timeout has passed")

// noSidecarError means that no sidecar answered, or only a sidecar with another version of the protocol.
type noSidecarError struct {
	waited time.Duration
	last   error // error of the last try
}

func (e *noSidecarError) Error() string {
	return fmt.Sprintf("no sidecar answered within %v: %v", e.waited.Round(100*time.Millisecond), e.last)
}
func (e *noSidecarError) Unwrap() error { return e.last }

// client sends one request to the sidecar, and repeats the request until the sidecar answers.
type client struct {
	dial func(context.Context) (net.Conn, error)
	timeouts
}

// ask returns the sidecar's reply, which may have any status except wire.Busy. `timeout` is the user's timeout; 0 means none. The error is
// errTimeout, a *noSidecarError or the context's.
func (c *client) ask(ctx context.Context, request wire.Request, timeout time.Duration) (wire.Reply, error) {
	begin := time.Now()
	deadline := begin.Add(never)
	if timeout > 0 {
		deadline = begin.Add(timeout)
	}
	waiting, cancel := context.WithDeadline(ctx, deadline.Add(c.margin))
	defer cancel()

	reached := false // whether a sidecar has received our request
	lostAt := begin  // since when no sidecar has received it
	for pauses := wire.Pauses(); ; {
		if timeout > 0 {
			request.Waits = seconds(time.Until(deadline))
		}
		opened := time.Now()
		reply, took, err := c.try(waiting, request)
		if err == nil {
			return reply, nil
		}
		now := time.Now()
		if reached = reached || took; took && now.Sub(opened) >= c.settle {
			lostAt = now
			pauses.Reset()
		}
		bound := lostAt.Add(c.first)
		if reached {
			bound = lostAt.Add(c.outage)
		}
		var version *wire.VersionError
		switch {
		case ctx.Err() != nil:
			return wire.Reply{}, context.Cause(ctx)
		case reached && !now.Before(deadline):
			return wire.Reply{}, errTimeout
		case errors.As(err, &version), !now.Before(bound), !now.Before(deadline): // a sidecar with another version would give the same answer again
			return wire.Reply{}, &noSidecarError{waited: now.Sub(lostAt), last: err}
		}
		until(waiting, earliest(now.Add(pauses.NextBackOff()), bound, deadline))
	}
}

// never is a time that is longer than any job runs.
const never = 100 * 365 * 24 * time.Hour

// try opens one session. The result `took` reports whether a sidecar has received the request.
func (c *client) try(ctx context.Context, request wire.Request) (reply wire.Reply, took bool, err error) {
	conn, err := c.dial(ctx)
	var busy *seal.RefusedError
	if err != nil {
		return wire.Reply{}, errors.As(err, &busy), err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()

	conn.SetWriteDeadline(time.Now().Add(c.send))
	sent := wire.WriteRequest(conn, request)
	// A sidecar that refuses immediately may close the connection before it has read the request. Its reply can still be read.
	reply, err = wire.ReadReply(conn)
	switch {
	case errors.As(err, &busy): // the sidecar rejected our credential
		return wire.Reply{}, true, err
	case err == nil && reply.Status == wire.Busy:
		return wire.Reply{}, true, errors.New(reply.Why)
	case err == nil:
		return reply, true, nil
	case sent != nil:
		return wire.Reply{}, false, fmt.Errorf("send the request: %w", sent)
	}
	return wire.Reply{}, true, fmt.Errorf("the connection broke: %w", err)
}

// until waits for a time, or for the end of the context.
func until(ctx context.Context, moment time.Time) {
	timer := time.NewTimer(time.Until(moment))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func earliest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.Before(first) {
			first = t
		}
	}
	return first
}

// seconds rounds a duration up to seconds. It returns at least 1, because 0 means "never" in a request.
func seconds(d time.Duration) int64 {
	return max(1, int64((d+time.Second-1)/time.Second))
}
