package session

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
	"accordion/shim/wire"
)

// serveOn starts a server on a machine with its munged. `alive` configures how the server notices a
// host that vanishes.
func serveOn(t *testing.T, m *sealtest.Machine, alive net.KeepAliveConfig) *serving {
	t.Helper()
	var tcp *tcpListener
	var err error
	m.In(t, func() { tcp, err = listenTCP(m.Address+":6820", seal.NewMunge(m.Munge), alive) })
	if err != nil {
		t.Fatal(err)
	}
	log := new(lines)
	server := New(Options{Patience: long, Log: hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Debug})}, tcp)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &serving{Server: server, log: log}
}

// dialFrom opens a connection from another machine.
func (s *serving) dialFrom(t *testing.T, m *sealtest.Machine) net.Conn {
	t.Helper()
	var conn net.Conn
	var err error
	m.In(t, func() { conn, err = net.DialTimeout("tcp", s.Addresses()[0], long) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(long))
	return conn
}

// askFrom opens a session from another machine, as the authority's user.
func (s *serving) askFrom(t *testing.T, m *sealtest.Machine, a seal.Authority, job int64) *seal.Conn {
	t.Helper()
	conn, err := seal.Connect(t.Context(), s.dialFrom(t, m), a, seal.RootOr(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteRequest(conn, wire.Request{Job: job}); err != nil {
		t.Fatal(err)
	}
	return conn
}

// asUser is a munge whose credentials name another user.
type asUser struct {
	*seal.Munge
	uid     string
	machine *sealtest.Machine
}

func (u asUser) Make(ctx context.Context, payload []byte) (string, error) {
	c := exec.CommandContext(ctx, "setpriv", "--reuid", u.uid, "--regid", u.uid, "--clear-groups", "--", "munge", "--socket="+u.machine.Munge)
	c.Stdin = strings.NewReader(string(payload))
	out, err := c.Output()
	return strings.TrimSpace(string(out)), err
}

func TestJobsOnOtherHostAreServedAsUserThatMungeProves(t *testing.T) {
	controller, node := sealtest.Cable(t)
	s := serveOn(t, controller, keepAlive)
	munge := seal.NewMunge(node.Munge)
	for uid, a := range map[uint32]seal.Authority{0: munge, 4711: asUser{munge, "4711", node}} {
		conn := s.askFrom(t, node, a, int64(uid)+1)
		call := s.next(t)
		if call.UID != uid || call.Request.Job != int64(uid)+1 {
			t.Errorf("user %d came as %d", uid, call.UID)
		}
		call.Answer(wire.Reply{Status: wire.Resized, Generation: 3})
		if reply, err := wire.ReadReply(conn); err != nil || reply.Generation != 3 {
			t.Errorf("user %d: %+v, %v", uid, reply, err)
		}
	}
}

func TestSessionCapturedOnNetworkIsRefused(t *testing.T) {
	controller, node := sealtest.Cable(t)
	s := serveOn(t, controller, keepAlive)
	s.answerAll(t)
	munge := seal.NewMunge(node.Munge)
	var honest recorder
	honest.Conn = s.dialFrom(t, node)
	conn, err := seal.Connect(t.Context(), &honest, munge, seal.RootOr(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteRequest(conn, wire.Request{Job: 7}); err != nil {
		t.Fatal(err)
	}
	if reply, err := wire.ReadReply(conn); err != nil || reply.Generation != 7 {
		t.Fatalf("the honest session: %+v, %v", reply, err)
	}
	play := func(sent []byte) string {
		thief := s.dialFrom(t, node)
		if _, err := wire.ReadChallenge(thief); err != nil {
			t.Fatal(err)
		}
		if _, err := thief.Write(sent); err != nil {
			t.Fatal(err)
		}
		proof, err := wire.ReadProof(thief)
		if err != nil {
			t.Fatal(err)
		}
		return proof.Why
	}
	if why := play(honest.sent.Bytes()); !strings.Contains(why, "used before") {
		t.Errorf("the same credential again: %q", why)
	}
	// `unused` keeps a session whose credential munge has not seen yet, because it was captured
	// before it arrived. Only the nonce makes that credential invalid.
	var unused recorder
	unused.Conn = discard{s.dialFrom(t, node)}
	conn, err = seal.Connect(t.Context(), &unused, munge, seal.RootOr(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteRequest(conn, wire.Request{Job: 7}); err != nil {
		t.Fatal(err)
	}
	if why := play(unused.sent.Bytes()); !strings.Contains(why, "another session") {
		t.Errorf("a fresh credential of another session: %q", why)
	}
}

// discard is a connection whose writes are lost.
type discard struct{ net.Conn }

func (discard) Write(b []byte) (int, error) { return len(b), nil }

func TestHostWithOtherKeyIsRefused(t *testing.T) {
	controller, node := sealtest.Cable(t)
	s := serveOn(t, controller, keepAlive)
	foreign := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("another key ", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	conn := s.askFrom(t, node, seal.NewMunge(sealtest.Host(t, foreign)), 1)
	if reply, err := wire.ReadReply(conn); err == nil || !strings.Contains(err.Error(), "another key") {
		t.Errorf("got %+v, %v", reply, err)
	}
}

func TestVanishedHostFreesItsSession(t *testing.T) {
	controller, node := sealtest.Cable(t)
	s := serveOn(t, controller, net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: time.Second, Count: 2})
	s.askFrom(t, node, seal.NewMunge(node.Munge), 1)
	call := s.next(t)
	node.PullTheCable(t)
	awaitGone(t, call)
}
