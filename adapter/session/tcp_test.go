package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/adapter/connlimit"
	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
	"accordion/shim/wire"
)

const alice = 1001

// serveTCP starts a server that also listens on a free port of this host, with a munge key of its
// own.
func serveTCP(t *testing.T, o Options) (*serving, *sealtest.Realm) {
	t.Helper()
	realm := sealtest.NewRealm()
	o.Address = "127.0.0.1:0"
	if o.Authority == nil {
		o.Authority = realm.User(0)
	}
	return serve(t, o), realm
}

// dialTCP opens a bare connection.
func (s *serving) dialTCP(t *testing.T) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(long))
	return conn.(*net.TCPConn)
}

// askTCP opens a session with a good request of the authority's user.
func (s *serving) askTCP(t *testing.T, a seal.Authority, job int64) *seal.Conn {
	t.Helper()
	conn, err := seal.Connect(t.Context(), s.dialTCP(t), a, seal.RootOr(os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteRequest(conn, wire.Request{Job: job}); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestRequestOverTCPReachesLoopWithAuthenticatedUser(t *testing.T) {
	s, realm := serveTCP(t, Options{})
	conn := s.askTCP(t, realm.User(alice), 4711)
	call := s.next(t)
	if call.UID != alice || call.PID != 0 || call.Request.Job != 4711 {
		t.Errorf("the call is %+v", call)
	}
	call.Answer(wire.Reply{Status: wire.Resized, Nodes: "n[1-5]", Count: 5})
	reply, err := wire.ReadReply(conn)
	if err != nil || reply.Nodes != "n[1-5]" {
		t.Fatalf("got %+v, %v", reply, err)
	}
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after the reply: %d bytes, %v; want the end", n, err)
	}
	awaitGone(t, call)
}

func TestSocketAndTCPAreServedTogetherAndEndTogether(t *testing.T) {
	s, realm := serveTCP(t, Options{})
	near := s.ask(t, 1)
	nearCall := s.next(t)
	far := s.askTCP(t, realm.User(alice), 2)
	farCall := s.next(t)
	silent := s.dialTCP(t)
	if nearCall.Request.Job != 1 || farCall.Request.Job != 2 {
		t.Errorf("calls of jobs %d and %d", nearCall.Request.Job, farCall.Request.Job)
	}
	s.stop()
	awaitGone(t, nearCall)
	awaitGone(t, farCall)
	for name, conn := range map[string]net.Conn{"socket": near, "TCP": far} {
		if reply, err := wire.ReadReply(conn); err == nil {
			t.Errorf("%s: got %+v, want a broken connection", name, reply)
		}
	}
	if _, err := io.Copy(io.Discard, silent); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a silent connection outlives the server")
	}
	if _, err := net.Dial("tcp", s.Addresses()[0]); err == nil {
		t.Error("a listener is still there")
	}
}

func TestGoneIsClosedWhenShimOverTCPDisconnects(t *testing.T) {
	s, realm := serveTCP(t, Options{})
	conn := s.askTCP(t, realm.User(alice), 1)
	call := s.next(t)
	conn.Close()
	awaitGone(t, call)
}

func TestCapturedSessionIsRefusedAndLogged(t *testing.T) {
	s, realm := serveTCP(t, Options{})
	s.answerAll(t)
	raw := s.dialTCP(t)
	var sent recorder
	sent.Conn = raw
	conn, err := seal.Connect(t.Context(), &sent, realm.User(alice), seal.RootOr(os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.WriteRequest(conn, wire.Request{Job: 7}); err != nil {
		t.Fatal(err)
	}
	if reply, err := wire.ReadReply(conn); err != nil || reply.Generation != 7 {
		t.Fatalf("the honest session: %+v, %v", reply, err)
	}

	thief := s.dialTCP(t)
	if _, err := wire.ReadChallenge(thief); err != nil {
		t.Fatal(err)
	}
	if _, err := thief.Write(sent.sent.Bytes()); err != nil {
		t.Fatal(err)
	}
	if proof, err := wire.ReadProof(thief); err != nil || !strings.Contains(proof.Why, "used before") {
		t.Errorf("the thief got %+v, %v", proof, err)
	}
	s.stop()
	if log := s.log.String(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "used before") || !strings.Contains(log, "127.0.0.1:") {
		t.Errorf("the log: %q; want one line with the reason and the host", log)
	}
}

// recorder keeps what is written.
type recorder struct {
	net.Conn
	sent bytes.Buffer
}

func (r *recorder) Write(b []byte) (int, error) {
	r.sent.Write(b)
	return r.Conn.Write(b)
}

func TestSlowRequestOverTCPIsCutOffWhileOthersAreServed(t *testing.T) {
	s, realm := serveTCP(t, Options{Patience: time.Second})
	s.answerAll(t)
	slow := s.dialTCP(t) // this connection never sends a credential
	if _, err := wire.ReadChallenge(slow); err != nil {
		t.Fatal(err)
	}
	if _, err := slow.Write([]byte{0, 0}); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, slow); n != 0 || err != nil {
		t.Errorf("the slow one got %d bytes, %v; want the end", n, err)
	}
	// The patience of this server is short, so good peers may need more than one try on a loaded
	// machine.
	await(t, "half a request is answered busy", func() (bool, any) {
		reply, err := askOnce(t, &allButTheEnd{s.dialTCP(t)}, realm)
		return err == nil && reply.Status == wire.Busy && strings.Contains(reply.Why, "not complete"), err
	})
	await(t, "a quick one is served", func() (bool, any) {
		reply, err := askOnce(t, s.dialTCP(t), realm)
		return err == nil && reply.Generation == 7, err
	})
}

// await repeats a check until it succeeds. If the check never succeeds, its last result is part of
// the test's failure message.
func await(t *testing.T, what string, try func() (ok bool, tells any)) {
	t.Helper()
	for end := time.Now().Add(long); ; {
		ok, tells := try()
		if ok {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s: %v", what, tells)
		}
	}
}

func askOnce(t *testing.T, raw net.Conn, realm *sealtest.Realm) (wire.Reply, error) {
	conn, err := seal.Connect(t.Context(), raw, realm.User(alice), seal.RootOr(os.Getuid()))
	if err != nil {
		return wire.Reply{}, err
	}
	defer conn.Close()
	if err := wire.WriteRequest(conn, wire.Request{Job: 7}); err != nil {
		return wire.Reply{}, err
	}
	return wire.ReadReply(conn)
}

// allButTheEnd is a connection that loses the last bytes of what is written.
type allButTheEnd struct{ net.Conn }

func (c *allButTheEnd) Write(b []byte) (int, error) {
	if _, err := c.Conn.Write(b[:len(b)-6]); err != nil {
		return 0, err
	}
	return len(b), nil
}

func TestOneNetworkCannotKeepOthersOut(t *testing.T) {
	l := connlimit.New(strangers)
	enter := func(address string) error {
		_, err := l.Enter(connlimit.OfAddr(netip.MustParseAddr(address)), func() { t.Errorf("%s was evicted", address) })
		return err
	}
	for i := range 5 * strangers.Total {
		enter(fmt.Sprintf("2001:db8::%x", i+1))
	}
	if l.Open() != strangers.PerClient {
		t.Errorf("one network has %d connections, want %d", l.Open(), strangers.PerClient)
	}
	if err := enter("2001:db8:1::1"); err != nil {
		t.Errorf("another network: %v", err)
	}
}

// A host is known after a user was authenticated from it.
func TestHostOfAuthenticatedUserHasPlaceAmongManyStrangers(t *testing.T) {
	s, realm := serveTCP(t, Options{})
	s.answerAll(t)
	l := s.transports[1].(*tcpListener).strangers
	for i := 0; l.Open() < strangers.Total-strangers.Kept; i++ { // from as many networks as there are connections
		if _, err := l.Enter(connlimit.OfAddr(netip.AddrFrom4([4]byte{198, 18, byte(i >> 8), byte(i)})), func() {}); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := wire.ReadChallenge(s.dialTCP(t)); err != nil || !strings.Contains(c.Why, "as many as there may be") {
		t.Errorf("a stranger: %+v, %v", c, err)
	}
	l.Know(connlimit.OfAddr(netip.IPv6Loopback()), time.Now()) // the next authenticated session from the host would do this, too
	if reply, err := wire.ReadReply(s.askTCP(t, realm.User(alice), 4)); err != nil || reply.Generation != 4 {
		t.Errorf("a known host: %+v, %v", reply, err)
	}
}

func TestAuthenticationMakesHostKnown(t *testing.T) {
	s, realm := serveTCP(t, Options{})
	s.answerAll(t)
	l := s.transports[1].(*tcpListener).strangers
	s.dialTCP(t).Close()
	if reply, err := wire.ReadReply(s.askTCP(t, realm.User(alice), 4)); err != nil || reply.Generation != 4 {
		t.Fatalf("%+v, %v", reply, err)
	}
	if !l.Knows(connlimit.OfAddr(netip.MustParseAddr("127.0.0.1"))) || l.Knows(connlimit.OfAddr(netip.MustParseAddr("192.0.2.1"))) {
		t.Error("the host of a proved user is not known, or another is")
	}
}

func TestStrangersDoNotFloodTheLog(t *testing.T) {
	s, _ := serveTCP(t, Options{})
	for range 300 {
		conn := s.dialTCP(t)
		conn.Write([]byte("rubbish"))
		conn.CloseWrite()
		io.Copy(io.Discard, conn)
		conn.Close()
	}
	s.stop()
	if lines := strings.Count(s.log.String(), "\n"); lines > maxPerClient || lines == 0 {
		t.Errorf("%d lines, want %d", lines, maxPerClient)
	}
}

func TestLinesLeftOutOfLogAreCounted(t *testing.T) {
	var l LogLimit
	at := time.Unix(1_800_000_000, 0)
	logged, leftOut := 0, 0
	take := func(client string, at time.Time) {
		if ok, before := l.take(client, at); ok {
			logged, leftOut = logged+1, leftOut+before
		}
	}
	for i := range 1000 {
		take("greedy", at)
		take(fmt.Sprint("network ", i), at)
	}
	if logged != maxWarnings {
		t.Errorf("%d lines in a minute, want %d", logged, maxWarnings)
	}
	if take("greedy", at.Add(logWindow+1)); logged != maxWarnings+1 || leftOut != 2000-maxWarnings {
		t.Errorf("%d lines with the next minute's first, %d left out, want %d", logged, leftOut, 2000-maxWarnings)
	}
}

func TestStrangerBeyondBoundIsToldToAskAgain(t *testing.T) {
	s, _ := serveTCP(t, Options{Patience: long}) // the connections stay open until the test ends
	s.answerAll(t)
	for range strangers.PerClient {
		if _, err := wire.ReadChallenge(s.dialTCP(t)); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := wire.ReadChallenge(s.dialTCP(t)); err != nil || !strings.Contains(c.Why, "wait for their proof") {
		t.Errorf("one too many: %+v, %v", c, err)
	}
	// The socket does not have this bound.
	if reply, err := wire.ReadReply(s.ask(t, 3)); err != nil || reply.Generation != 3 {
		t.Errorf("on the socket: %+v, %v", reply, err)
	}
}

func TestGarbageOverTCPDoesNotStopServer(t *testing.T) {
	s, realm := serveTCP(t, Options{})
	s.answerAll(t)
	var peers sync.WaitGroup
	for i := range 100 {
		conn := s.dialTCP(t)
		peers.Go(func() {
			conn.Write([]byte(strings.Repeat(string(rune(i)), i*7)))
			conn.CloseWrite()
			io.Copy(io.Discard, conn)
		})
	}
	peers.Wait()
	reply, err := wire.ReadReply(s.askTCP(t, realm.User(alice), 9))
	if err != nil || reply.Generation != 9 {
		t.Fatalf("after the rubbish: %+v, %v", reply, err)
	}
}

func TestConnectionOverTCPWithoutRequestIsNotLogged(t *testing.T) {
	s, _ := serveTCP(t, Options{})
	conn := s.dialTCP(t)
	conn.CloseWrite()
	io.Copy(io.Discard, conn)
	s.stop()
	if log := s.log.String(); log != "" {
		t.Errorf("the log: %q", log)
	}
}

func TestTakenAddressIsNamedAndSocketIsFreeAgain(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	path := socketPath(t)
	_, err = Listen(Options{Path: path, Address: taken.Addr().String(), Authority: sealtest.NewRealm().User(0)})
	if err == nil || !strings.Contains(err.Error(), taken.Addr().String()) {
		t.Fatalf("got %v", err)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestSessionWithoutMungeIsRefusedAndLogged(t *testing.T) {
	realm := sealtest.NewRealm()
	s, _ := serveTCP(t, Options{Authority: seal.NewMunge(filepath.Join(t.TempDir(), "nobody"))})
	conn := s.askTCP(t, realm.User(alice), 1)
	if reply, err := wire.ReadReply(conn); err == nil {
		t.Errorf("got %+v", reply)
	}
	s.stop()
	if !strings.Contains(s.log.String(), "WARN") {
		t.Errorf("the log: %q", s.log.String())
	}
}

func TestRealMungeAuthenticatesUser(t *testing.T) {
	munge := seal.NewMunge(sealtest.Munged(t))
	s, _ := serveTCP(t, Options{Authority: munge})
	s.answerAll(t)
	reply, err := wire.ReadReply(s.askTCP(t, munge, 11))
	if err != nil || reply.Generation != 11 {
		t.Fatalf("got %+v, %v", reply, err)
	}
}
