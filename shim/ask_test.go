package shim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"accordion/shim/wire"
)

// These tests run in virtual time (testing/synctest), so their seconds take no real time and are exact.

// sidecar is a fake sidecar. Its elements say what happens in each session. The last session repeats.
type sidecar []session

// session is one session of a fake sidecar. The connection fails, or the sidecar receives the request and calls a function with it. Then
// the connection ends.
type session struct {
	fails error
	takes func(conn net.Conn, q wire.Request)
}

// absent is a session when no sidecar runs.
var absent = session{fails: syscall.ECONNREFUSED}

func replies(r wire.Reply) session {
	return session{takes: func(conn net.Conn, _ wire.Request) { wire.WriteReply(conn, r) }}
}

// breaks returns the session of a sidecar that is killed when the time `after` has passed since it received the
// request.
func breaks(after time.Duration) session {
	return session{takes: func(conn net.Conn, _ wire.Request) { gone(conn, after) }}
}

// late is the session of a sidecar that answers when the shim's timeout passes.
var late = session{takes: func(conn net.Conn, q wire.Request) {
	if gone(conn, time.Duration(q.Waits)*time.Second) {
		return
	}
	wire.WriteReply(conn, wire.Reply{Status: wire.Late})
}}

// hangs is the session of a sidecar that never answers.
var hangs = session{takes: func(conn net.Conn, _ wire.Request) { gone(conn, never) }}

// gone waits, and reports whether the shim closed the connection meanwhile.
func gone(conn net.Conn, wait time.Duration) bool {
	conn.SetReadDeadline(time.Now().Add(wait))
	_, err := conn.Read(make([]byte, 1))
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

var resized = wire.Reply{Version: wire.Version, Status: wire.Resized, Nodes: "n[1-5]", Count: 5, Step: 2, Steps: 3}

// client returns a client of the fake sidecar. `seen` collects the requests that the sidecar took, with their times.
func (s sidecar) client() (c *client, seen *[]string) {
	seen = new([]string)
	begin := time.Now()
	turn := 0
	c = &client{timeouts: defaultTimeouts, dial: func(context.Context) (net.Conn, error) {
		this := s[min(turn, len(s)-1)]
		turn++
		if this.fails != nil {
			return nil, this.fails
		}
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			if q, err := wire.ReadRequest(far); err == nil {
				*seen = append(*seen, fmt.Sprintf("%v: step %d, waits %d", time.Since(begin).Round(time.Second), q.Step, q.Waits))
				this.takes(far, q)
			}
		}()
		return near, nil
	}}
	return c, seen
}

func TestAskRepeatsUntilAnAnswerOrATimeout(t *testing.T) {
	const (
		answered  = "answered"
		timedOut  = "timed out"
		noSidecar = "no sidecar"
	)
	many := func(n int, s session, then ...session) sidecar {
		var all sidecar
		for range n {
			all = append(all, s)
		}
		return append(all, then...)
	}
	for name, c := range map[string]struct {
		sidecar  sidecar
		timeout  time.Duration
		want     string
		min, max time.Duration
	}{
		"at once":                                  {sidecar{replies(resized)}, 0, answered, 0, 0},
		"no sidecar at all":                        {sidecar{absent}, 0, noSidecar, 10 * time.Second, 10 * time.Second},
		"no sidecar, with a long timeout":          {sidecar{absent}, time.Hour, noSidecar, 10 * time.Second, 10 * time.Second},
		"no sidecar, with a short timeout":         {sidecar{absent}, 3 * time.Second, noSidecar, 3 * time.Second, 3 * time.Second},
		"a sidecar that is just starting":          {many(4, absent, replies(resized)), 0, answered, 100 * time.Millisecond, 2 * time.Second},
		"killed and started again":                 {sidecar{breaks(time.Hour), absent, absent, absent, absent, absent, replies(resized)}, 0, answered, time.Hour, time.Hour + 6*time.Second},
		"killed a minute before it answers":        {append(sidecar{breaks(time.Hour)}, many(30, absent, replies(resized))...), 0, answered, time.Hour + 20*time.Second, time.Hour + 60*time.Second},
		"killed for good":                          {sidecar{breaks(time.Hour), absent}, 0, noSidecar, time.Hour + 2*time.Minute, time.Hour + 2*time.Minute},
		"killed at once and for good":              {sidecar{breaks(0), absent}, 0, noSidecar, 2 * time.Minute, 2 * time.Minute},
		"killed, and the timeout passes meanwhile": {sidecar{breaks(time.Minute), absent}, 90 * time.Second, timedOut, 90 * time.Second, 90 * time.Second},
		"killed again and again, an hour apart":    {sidecar{breaks(time.Hour), absent, breaks(time.Hour), absent, breaks(time.Hour), replies(resized)}, 0, answered, 3 * time.Hour, 3*time.Hour + 10*time.Second},
		"breaks every session at once":             {sidecar{breaks(0)}, 0, noSidecar, 2 * time.Minute, 2 * time.Minute},
		"busy for a while":                         {many(3, replies(wire.Reply{Status: wire.Busy, Why: "full"}), replies(resized)), 0, answered, 100 * time.Millisecond, time.Second},
		"busy for ever":                            {sidecar{replies(wire.Reply{Status: wire.Busy, Why: "full"})}, 0, noSidecar, 2 * time.Minute, 2 * time.Minute},
		"answers late at the timeout":              {sidecar{late}, 30 * time.Second, answered, 30 * time.Second, 30 * time.Second},
		"hangs beyond the timeout":                 {sidecar{hangs}, 30 * time.Second, timedOut, 32 * time.Second, 32 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, _ := c.sidecar.client()
				begin := time.Now()
				_, err := client.ask(t.Context(), wire.Request{Job: 7}, c.timeout)
				took := time.Since(begin)
				got := answered
				var nobody *noSidecarError
				switch {
				case errors.Is(err, errTimeout):
					got = timedOut
				case errors.As(err, &nobody):
					got = noSidecar
				case err != nil:
					got = err.Error()
				}
				if got != c.want {
					t.Errorf("%s (%v), want %s", got, err, c.want)
				}
				if took < c.min || took > c.max {
					t.Errorf("it took %v, want %v to %v", took, c.min, c.max)
				}
			})
		})
	}
}

func TestRepeatedRequestDiffersOnlyInTheTimeLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, seen := sidecar{breaks(20 * time.Second), breaks(10 * time.Second), replies(resized)}.client()
		if _, err := c.ask(t.Context(), wire.Request{Job: 7, Step: 2}, time.Minute); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(*seen, "\n")
		if got != "0s: step 2, waits 60\n20s: step 2, waits 40\n30s: step 2, waits 30" {
			t.Errorf("the sidecar saw:\n%s", got)
		}
	})
}

func TestSidecarOfAnotherVersionIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, seen := sidecar{{takes: func(conn net.Conn, _ wire.Request) {
			conn.Write([]byte("\x00\x00\x00\x04\x81\xa1v\x63"))
		}}}.client()
		begin := time.Now()
		_, err := c.ask(t.Context(), wire.Request{Job: 7}, 0)
		var nobody *noSidecarError
		if !errors.As(err, &nobody) || !strings.Contains(err.Error(), "version 99") {
			t.Errorf("got %v", err)
		}
		if time.Since(begin) != 0 || len(*seen) != 1 {
			t.Errorf("it took %v and %d sessions", time.Since(begin), len(*seen))
		}
	})
}

func TestAnInterruptedCallEndsAtOnce(t *testing.T) {
	for name, s := range map[string]sidecar{"while the sidecar has the request": {hangs}, "while there is none": {absent}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				begin := time.Now()
				c, _ := s.client()
				if _, err := c.ask(ctx, wire.Request{Job: 7}, 0); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
				if took := time.Since(begin); took != time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}
