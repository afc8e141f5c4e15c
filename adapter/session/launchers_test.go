package session

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"accordion/shim/seal"
	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
)

// handler records what it was given, and answers with the first frame.
type handler struct {
	peers chan Peer
	full  chan string
}

func newHandler() *handler { return &handler{make(chan Peer, 10), make(chan string, 10)} }

func (h *handler) Session(_ context.Context, conn net.Conn, peer Peer, first []byte) {
	h.peers <- peer
	conn.Write(first)
	io.Copy(io.Discard, conn)
}

func (h *handler) Full(conn net.Conn, first []byte, why string) {
	conn.Write(first)
	h.full <- why
}

// hello returns the first frame of a launcher.
func hello(t *testing.T) []byte {
	t.Helper()
	b, err := launcher.Append(nil, 1, &launcher.Hello{Version: launcher.Version, Name: "app", Part: &launcher.Part{Cluster: "a", Job: 7}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFirstFrameDecidesWhichHandlerGetsSession(t *testing.T) {
	h := newHandler()
	s := serve(t, Options{Launchers: h})
	step := s.ask(t, 7)
	call := s.next(t)
	conn := s.dial(t)
	conn.Write(hello(t))
	if peer := <-h.peers; peer.UID != uint32(os.Getuid()) || peer.PID != int32(os.Getpid()) {
		t.Errorf("the peer is %+v", peer)
	}
	if got, err := wire.ReadFrame(conn); err != nil || !bytes.Equal(got, hello(t)) {
		t.Errorf("got %q, %v", got, err)
	}
	call.Answer(wire.Reply{Status: wire.Resized})
	if reply, err := wire.ReadReply(step); err != nil || reply.Status != wire.Resized {
		t.Errorf("the step: %+v, %v", reply, err)
	}
	s.stop() // stopping the server ends the launcher's session, too
	if _, err := wire.ReadFrame(conn); err == nil {
		t.Error("the session outlives its server")
	}
}

func TestLauncherIsRefusedWithoutHandler(t *testing.T) {
	s := serve(t, Options{})
	conn := s.dial(t)
	conn.Write(hello(t))
	reply, err := wire.ReadReply(conn)
	if err != nil || reply.Status != wire.Refused || !strings.Contains(reply.Why, "version 2") {
		t.Errorf("got %+v, %v", reply, err)
	}
}

func TestUnknownVersionIsRefused(t *testing.T) {
	h := newHandler()
	s := serve(t, Options{Launchers: h})
	for name, body := range map[string]string{
		"none":     "\x81\xa3job\x07",
		"none yet": "\x82\xa1v\x00\xa3job\x07",
		"three":    "\x82\xa1v\x03\xa3job\x07",
		"a word":   "\x82\xa1v\xa12\xa3job\x07",
		"rubbish":  "hello",
	} {
		conn := s.dial(t)
		conn.Write(append([]byte{0, 0, 0, byte(len(body))}, body...))
		if reply, err := wire.ReadReply(conn); err != nil || reply.Status != wire.Refused {
			t.Errorf("%s: got %+v, %v", name, reply, err)
		}
	}
	if len(h.peers) > 0 {
		t.Error("a launcher was seen in it")
	}
}

func TestLaunchersCountAmongSessions(t *testing.T) {
	h := newHandler()
	s := serve(t, Options{Launchers: h, MaxPerUser: 2})
	s.ask(t, 1)
	s.next(t)
	conn := s.dial(t)
	conn.Write(hello(t))
	<-h.peers

	third := s.dial(t)
	wire.WriteRequest(third, wire.Request{Job: 2})
	if reply, err := wire.ReadReply(third); err != nil || reply.Status != wire.Busy {
		t.Errorf("a step too many: %+v, %v", reply, err)
	}
	fourth := s.dial(t)
	fourth.Write(hello(t))
	if got, err := wire.ReadFrame(fourth); err != nil || !bytes.Equal(got, hello(t)) {
		t.Errorf("a launcher too many: %q, %v", got, err)
	}
	if why := <-h.full; !strings.Contains(why, "2 sessions open") {
		t.Errorf("it is told %q", why)
	}
	if len(h.peers) > 0 {
		t.Error("one too many was let in")
	}
}

func TestLauncherOverTCPIsAuthenticated(t *testing.T) {
	h := newHandler()
	s, realm := serveTCP(t, Options{Launchers: h})
	conn, err := seal.Connect(t.Context(), s.dialTCP(t), realm.User(alice), seal.RootOr(os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(hello(t)); err != nil {
		t.Fatal(err)
	}
	if peer := <-h.peers; peer.UID != alice || !strings.HasPrefix(peer.From, "127.0.0.1:") {
		t.Errorf("the peer is %+v", peer)
	}
	if got, err := wire.ReadFrame(conn); err != nil || !bytes.Equal(got, hello(t)) {
		t.Errorf("got %q, %v", got, err)
	}
}
