// Package linktest is a sidecar for tests of launchers and parts: the other end of a pipe, which a test speaks for message by message.
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

// Sidecar is dialed by a link.
type Sidecar struct{ conns chan net.Conn }

// New is one that takes connections.
func New() *Sidecar { return &Sidecar{make(chan net.Conn)} }

// Dial connects to it, as soon as the test takes the connection.
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
	Last int64 // the number of the last message that was read
}

// Accept takes the next connection and its hello, and answers that.
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

// Read is the next message; nil at the end of the connection.
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

// Try sends a message to who may have broken the connection.
func (p *Peer) Try(m launcher.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seq++
	return launcher.Write(p.conn, p.seq, m)
}

// Okay says okay to the last message that was read.
func (p *Peer) Okay() { p.Send(&launcher.Okay{To: p.Last}) }

// Close breaks the connection.
func (p *Peer) Close() { p.conn.Close() }

// Read reads one frame of at most the given number of bytes, and nothing after it.
func Read(r io.Reader, most int) (launcher.Message, int64, error) {
	frame, err := wire.ReadUpTo(r, most)
	if err != nil {
		return nil, 0, err
	}
	return launcher.Decode(frame)
}
