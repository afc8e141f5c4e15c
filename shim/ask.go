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

// patience is how long the shim waits for what.
type patience struct {
	first  time.Duration // for a sidecar that has never answered in this call
	outage time.Duration // for a sidecar that was there and is not any more
	margin time.Duration // beyond the user's timeout, for the answer that the sidecar sends when that ends
	settle time.Duration // a session that lasted so long was a healthy one: the outage after it is a new one
	send   time.Duration // for the sidecar to take the request
}

// These are documented in docs/step.md.
var ordinary = patience{
	first:  10 * time.Second,
	outage: 120 * time.Second,
	margin: 2 * time.Second,
	settle: 5 * time.Second,
	send:   10 * time.Second,
}

// errTimeout: the sidecar was there, and the user's timeout passed.
var errTimeout = errors.New("the timeout has passed")

// noSidecarError: nobody answers, or nobody who speaks our version.
type noSidecarError struct {
	waited time.Duration
	last   error // what the last try said
}

func (e *noSidecarError) Error() string {
	return fmt.Sprintf("no sidecar answered within %v: %v", e.waited.Round(100*time.Millisecond), e.last)
}
func (e *noSidecarError) Unwrap() error { return e.last }

// client asks the sidecar one question, as often as it takes.
type client struct {
	dial func(context.Context) (net.Conn, error)
	patience
}

// ask returns the sidecar's reply, whatever its status but wire.Busy. timeout is the user's; 0 stands for none. Errors
// are errTimeout, *noSidecarError, or the context's.
func (c *client) ask(ctx context.Context, request wire.Request, timeout time.Duration) (wire.Reply, error) {
	begin := time.Now()
	deadline := begin.Add(never)
	if timeout > 0 {
		deadline = begin.Add(timeout)
	}
	waiting, cancel := context.WithDeadline(ctx, deadline.Add(c.margin))
	defer cancel()

	met := false     // a sidecar took a request of ours
	missing := begin // since when nobody has
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
		if met = met || took; took && now.Sub(opened) >= c.settle {
			missing = now
			pauses.Reset()
		}
		bound := missing.Add(c.first)
		if met {
			bound = missing.Add(c.outage)
		}
		var version *wire.VersionError
		switch {
		case ctx.Err() != nil:
			return wire.Reply{}, context.Cause(ctx)
		case met && !now.Before(deadline):
			return wire.Reply{}, errTimeout
		case errors.As(err, &version), !now.Before(bound), !now.Before(deadline): // the same version would say the same again
			return wire.Reply{}, &noSidecarError{waited: now.Sub(missing), last: err}
		}
		until(waiting, earliest(now.Add(pauses.NextBackOff()), bound, deadline))
	}
}

// never is longer than any job.
const never = 100 * 365 * 24 * time.Hour

// try is one session. took says that a sidecar was there and took the request.
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
	// A sidecar that refuses at once may have closed the connection before it read anything: its reply is there all
	// the same.
	reply, err = wire.ReadReply(conn)
	switch {
	case errors.As(err, &busy): // it did not believe our credential
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

// until waits for a moment, or for the end of the context.
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

// seconds rounds up, and is never 0, which would stand for "never" in a request.
func seconds(d time.Duration) int64 {
	return max(1, int64((d+time.Second-1)/time.Second))
}
