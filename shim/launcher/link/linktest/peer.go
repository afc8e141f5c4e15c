// Package linktest provides a fake sidecar for tests of launchers and parts. The test decides about each message.
package linktest

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
)

// Sidecar accepts connections of a link.
type Sidecar struct{ conns chan net.Conn }

// New returns a Sidecar.
func New() *Sidecar { return &Sidecar{make(chan net.Conn)} }

// Dial connects to the sidecar. It waits until the test accepts the connection.
func (s *Sidecar) Dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case s.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Peer is the sidecar's end of one connection.
type Peer struct {
	t    *testing.T
	conn net.Conn
	mu   sync.Mutex
	seq  int64
	Last int64 // number of the last message that was read
}

// Accept accepts the next connection, reads its hello, and answers it.
func (s *Sidecar) Accept(t *testing.T, answer launcher.Message) (*Peer, *launcher.Hello) {
	t.Helper()
	p := &Peer{t: t, conn: <-s.conns}
	t.Cleanup(p.Close)
	hello, ok := p.Read().(*launcher.Hello)
	if !ok {
		t.Fatal("a session does not begin with hello")
	}
	p.Send(answer)
	return p, hello
}

// Read returns the next message, or nil at the end of the connection.
func (p *Peer) Read() launcher.Message {
	m, seq, err := Read(p.conn, launcher.MostToServer)
	if err != nil {
		return nil
	}
	if problem := launcher.Check(m); problem != nil {
		p.t.Errorf("a message that cannot be: %s %+v: %v", m.Type(), m, problem)
	}
	p.Last = seq
	return m
}

// Send sends messages.
func (p *Peer) Send(all ...launcher.Message) {
	for _, m := range all {
		if err := p.Try(m); err != nil {
			p.t.Errorf("sending %s: %v", m.Type(), err)
		}
	}
}

// Try sends a message to a peer that may have closed the connection.
func (p *Peer) Try(m launcher.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	return launcher.Write(p.conn, p.seq, m)
}

// Okay answers the last message with okay.
func (p *Peer) Okay() { p.Send(&launcher.Okay{To: p.Last}) }

// Close closes the connection.
func (p *Peer) Close() { p.conn.Close() }

// Read reads one frame of at most `most` bytes, and nothing after it.
func Read(r io.Reader, most int) (launcher.Message, int64, error) {
	frame, err := wire.ReadUpTo(r, most)
	if err != nil {
		return nil, 0, err
	}
	return launcher.Decode(frame)
}
