package server

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"reflect"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"accordion/adapter/session"
	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/packed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names returns the name of the tests' user with the given ID.
func names(uid uint32) (string, error) {
	if uid == 1001 {
		return "alice", nil
	}
	return "", errors.New("nobody knows that user")
}

// side is a server whose loop is the test. It can be used inside or outside a bubble of synctest.
type side struct {
	t *testing.T
	*Server
	door  session.Launchers
	life  context.CancelFunc
	ends  sync.WaitGroup
	meter *counts
}

func newSide(t *testing.T) *side {
	life, end := context.WithCancel(context.Background())
	meter := &counts{frames: map[string]int{}}
	s := &side{t: t, Server: New(life, Options{Meter: meter}), life: end, meter: meter}
	s.door = s.Of("a", names)
	return s
}

// end ends all sessions, and waits until they have ended.
func (s *side) end() {
	s.life()
	s.ends.Wait()
}

// connect opens a session whose first frame is `first`, as the session server does.
func (s *side) connect(ctx context.Context, uid uint32, first []byte) *peer {
	ours, theirs := net.Pipe()
	s.ends.Go(func() {
		defer ours.Close()
		defer context.AfterFunc(ctx, func() { ours.Close() })()
		s.door.Session(ctx, ours, session.Peer{UID: uid, PID: 7}, first)
	})
	return &peer{t: s.t, conn: theirs, seq: 1}
}

// open opens a session, sends the welcome, and returns both ends.
func (s *side) open() (*peer, Session) { return s.greet(launcher.Hello{Version: launcher.Version}) }

func (s *side) greet(hello launcher.Hello) (*peer, Session) {
	s.t.Helper()
	p := s.connect(context.Background(), 1001, frame(s.t, 1, &hello))
	e := s.event()
	e.Session.Send(&launcher.Welcome{Version: launcher.Version, App: 1, Pace: 1})
	if _, is := p.read().(*launcher.Welcome); !is {
		s.t.Fatal("no welcome")
	}
	return p, e.Session
}

func (s *side) event() Event {
	s.t.Helper()
	select {
	case e := <-s.Events():
		return e
	case <-time.After(time.Hour): // virtual time
		s.t.Fatal("no event came")
		return Event{}
	}
}

// gone expects the end of a session, and nothing after it.
func (s *side) gone(of Session) {
	s.t.Helper()
	e := s.event()
	if e.Message != nil || e.Session != of {
		s.t.Fatalf("got %+v, want the end of session %d", e, of.Number())
	}
	select {
	case e := <-s.Events():
		s.t.Fatalf("after the end: %+v", e)
	case <-time.After(time.Second):
	}
}

// peer is the other end of a session.
type peer struct {
	t    *testing.T
	conn net.Conn
	seq  int64 // number of messages sent so far
	got  int64 // number of messages received so far

	packs  bool // whether frames are packed, according to the welcome
	pack   packed.Packer
	unpack packed.Unpacker
}

func frame(t testing.TB, seq int64, m launcher.Message) []byte {
	t.Helper()
	b, err := launcher.Append(nil, seq, m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (p *peer) send(m launcher.Message) {
	p.t.Helper()
	p.seq++
	b := frame(p.t, p.seq, m)
	if p.packs {
		b = p.pack.Pack(b)
	}
	p.write(b)
}

// message returns the next message to the peer.
func (p *peer) message() (launcher.Message, int64, error) {
	b, err := wire.ReadUpTo(p.conn, launcher.MostToClient)
	if err == nil && p.packs {
		b, err = p.unpack.Unpack(b, launcher.MostToClient)
	}
	if err != nil {
		return nil, 0, err
	}
	m, seq, err := launcher.Decode(b)
	if w, is := m.(*launcher.Welcome); is {
		p.packs = w.Deflate > 0
	}
	return m, seq, err
}

func (p *peer) write(b []byte) {
	p.t.Helper()
	p.conn.SetWriteDeadline(time.Now().Add(time.Hour))
	if _, err := p.conn.Write(b); err != nil {
		p.t.Fatalf("write: %v", err)
	}
}

// read returns the next message to the peer, or nil if the connection has ended.
func (p *peer) read() launcher.Message {
	p.t.Helper()
	p.conn.SetReadDeadline(time.Now().Add(time.Hour))
	m, seq, err := p.message()
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
		return nil
	case errors.Is(err, os.ErrDeadlineExceeded):
		p.t.Fatal("nothing comes, not even the end")
	case err != nil:
		p.t.Fatalf("read: %v", err)
	}
	if p.got++; seq != p.got {
		p.t.Errorf("%s has number %d, want %d", m.Type(), seq, p.got)
	}
	return m
}

// want reads one message and compares it.
func (p *peer) want(want launcher.Message) {
	p.t.Helper()
	if got := p.read(); !reflect.DeepEqual(got, want) {
		p.t.Fatalf("got %#v, want %#v", got, want)
	}
}

// refused reads one message, which must be a refusal with the code and the number `to`.
func (p *peer) refused(code string, to int64) *launcher.Refuse {
	p.t.Helper()
	got := p.read()
	r, is := got.(*launcher.Refuse)
	if !is || r.Code != code || r.To != to || r.Text == "" {
		p.t.Fatalf("got %#v, want the refusal %s of message %d", got, code, to)
	}
	return r
}

func (p *peer) ended() {
	p.t.Helper()
	if m := p.read(); m != nil {
		p.t.Fatalf("got %#v, want the end", m)
	}
}

// counts is a Meter that counts in memory.
type counts struct {
	mu     sync.Mutex
	frames map[string]int
	bytes  int
}

func (c *counts) Frame(d, typ string, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames[d+" "+typ]++
	c.bytes += bytes
}

func (c *counts) of(what string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.frames[what]
}
