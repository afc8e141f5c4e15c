package session

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"go.uber.org/goleak"

	"accordion/shim/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// `long` is the deadline for events that must happen. Only a failing test waits that long.
const long = 5 * time.Minute

// lines is a log that tests can read.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// serving is a server on its own socket, which ends with the test.
type serving struct {
	*Server
	path string
	log  *lines
	stop func() // stops the server and waits for its end
}

func serve(t *testing.T, o Options) *serving {
	t.Helper()
	log := new(lines)
	if o.Path == "" {
		o.Path = socketPath(t)
	}
	if o.Patience == 0 {
		o.Patience = long // other programs may use the processors for seconds
	}
	o.Log = hclog.New(&hclog.LoggerOptions{Output: log, Level: hclog.Debug})
	server, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("Serve: %v", err)
			}
		case <-time.After(long):
			t.Error("Serve does not end with its context")
		}
	})
	t.Cleanup(stop)
	return &serving{Server: server, path: o.Path, log: log, stop: stop}
}

// socketPath returns a path that is short enough for a socket, whatever the test's name is.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func (s *serving) dial(t *testing.T) *net.UnixConn {
	t.Helper()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: s.path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(long))
	return conn
}

// ask opens a session with a good request.
func (s *serving) ask(t *testing.T, job int64) *net.UnixConn {
	t.Helper()
	conn := s.dial(t)
	if err := wire.WriteRequest(conn, wire.Request{Job: job}); err != nil {
		t.Fatal(err)
	}
	return conn
}

func (s *serving) next(t *testing.T) Call {
	t.Helper()
	select {
	case call := <-s.Calls():
		return call
	case <-time.After(long):
		t.Fatal("no call came")
		return Call{}
	}
}

// answerAll answers every call with its own job number until the test ends.
func (s *serving) answerAll(t *testing.T) {
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case call := <-s.Calls():
				call.Answer(wire.Reply{Status: wire.Resized, Generation: int(call.Request.Job)})
			case <-done:
				return
			}
		}
	})
	t.Cleanup(func() { close(done); wg.Wait() })
}

func awaitGone(t *testing.T, call Call) {
	t.Helper()
	select {
	case <-call.Gone:
	case <-time.After(long):
		t.Fatal("Gone is not closed")
	}
}

func TestRequestReachesLoopWithItsUserAndIsAnswered(t *testing.T) {
	s := serve(t, Options{})
	conn := s.dial(t)
	want := wire.Request{Job: 4711, Step: 2, Keep: "n[3-4]", Waits: 60}
	if err := wire.WriteRequest(conn, want); err != nil {
		t.Fatal(err)
	}
	call := s.next(t)
	want.Version = wire.Version
	if call.Request != want {
		t.Errorf("request %+v, want %+v", call.Request, want)
	}
	if call.UID != uint32(os.Getuid()) || call.PID != int32(os.Getpid()) {
		t.Errorf("user %d, process %d; want %d, %d", call.UID, call.PID, os.Getuid(), os.Getpid())
	}
	call.Answer(wire.Reply{Status: wire.Resized, Nodes: "n[1-5]", Count: 5})
	call.Answer(wire.Reply{Status: wire.Refused, Why: "the second answer does not count"})
	reply, err := wire.ReadReply(conn)
	if err != nil || reply.Status != wire.Resized || reply.Nodes != "n[1-5]" {
		t.Fatalf("got %+v, %v", reply, err)
	}
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after the reply: %d bytes, %v; want the end", n, err)
	}
	awaitGone(t, call)
	call.Answer(wire.Reply{}) // this answer comes too late, and has no effect
}

func TestGoneIsClosedWhenShimDisconnects(t *testing.T) {
	s := serve(t, Options{})
	conn := s.ask(t, 1)
	call := s.next(t)
	select {
	case <-call.Gone:
		t.Fatal("Gone is closed while the shim waits")
	default:
	}
	conn.Close()
	awaitGone(t, call)
}

func TestEndOfServerEndsOpenSessionsWithoutReply(t *testing.T) {
	s := serve(t, Options{})
	waiting := s.ask(t, 1)
	call := s.next(t)
	unread := s.ask(t, 2) // the loop never receives the call of this session
	silent := s.dial(t)   // this session never sends its request
	s.stop()
	awaitGone(t, call)
	for name, conn := range map[string]net.Conn{"waiting": waiting, "unread": unread, "silent": silent} {
		if reply, err := wire.ReadReply(conn); err == nil {
			t.Errorf("%s: got %+v, want a broken connection", name, reply)
		}
	}
	for _, left := range []string{s.path, s.path + lockFile} {
		if _, err := os.Lstat(left); !os.IsNotExist(err) {
			t.Errorf("%s is left: %v", left, err)
		}
	}
}

func TestBadFramesAreRefusedAndLoggedAndOthersGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		bytes string
		why   string
	}{
		"a byte too long":   {string(binary.BigEndian.AppendUint32(nil, wire.MaxFrame+1)) + strings.Repeat("x", wire.MaxFrame+1), "too long: 65537 bytes"},
		"another version":   {"\x00\x00\x00\x09\x82\xa1v\x02\xa3job\x07", "version 2"},
		"rubbish":           {"\x00\x00\x00\x05hello", "malformed"},
		"an unknown field":  {"\x00\x00\x00\x0e\x83\xa1v\x01\xa3job\x07\xa3uid\x00", "malformed"},
		"half a frame":      {"\x00\x00\x00\x09\x82\xa1v", "truncated"},
		"an HTTP request":   {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "too long"},
		"a job that is not": {"\x00\x00\x00\x09\x82\xa1v\x01\xa3job\x00", "job 0"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, Options{})
			other := s.ask(t, 1)
			waits := s.next(t)

			bad := s.dial(t)
			io.WriteString(bad, c.bytes) // the write fails if the server ends the session before everything is written
			bad.CloseWrite()
			reply, err := wire.ReadReply(bad)
			if err != nil || reply.Status != wire.Refused || !strings.Contains(reply.Why, c.why) {
				t.Errorf("got %+v, %v; want refused: %s", reply, err, c.why)
			}

			waits.Answer(wire.Reply{Status: wire.Resized})
			if reply, err := wire.ReadReply(other); err != nil || reply.Status != wire.Resized {
				t.Errorf("the other session: %+v, %v", reply, err)
			}
			s.stop()
			log := s.log.String()
			if strings.Count(log, "\n") != 1 || !strings.Contains(log, c.why) || !strings.Contains(log, "uid=") {
				t.Errorf("the log: %q; want one line with %q", log, c.why)
			}
		})
	}
}

func TestBytesAfterTheRequestEndTheSession(t *testing.T) {
	s := serve(t, Options{})
	conn := s.ask(t, 1)
	call := s.next(t)
	if err := wire.WriteRequest(conn, wire.Request{Job: 2}); err != nil {
		t.Fatal(err)
	}
	awaitGone(t, call)
	if reply, err := wire.ReadReply(conn); err == nil {
		t.Fatalf("got %+v", reply)
	}
}

func TestConnectionWithoutRequestIsNotLogged(t *testing.T) {
	s := serve(t, Options{})
	conn := s.dial(t)
	conn.CloseWrite()
	io.Copy(io.Discard, conn)
	s.stop()
	if log := s.log.String(); log != "" {
		t.Errorf("the log: %q", log)
	}
}

func TestSlowRequestIsCutOffWhileOthersAreServed(t *testing.T) {
	s := serve(t, Options{Patience: 3 * time.Second})
	s.answerAll(t)
	slow := s.dial(t)
	if _, err := slow.Write([]byte{0, 0}); err != nil {
		t.Fatal(err)
	}
	quick := s.ask(t, 7)
	if reply, err := wire.ReadReply(quick); err != nil || reply.Generation != 7 {
		t.Errorf("the quick one: %+v, %v", reply, err)
	}
	reply, err := wire.ReadReply(slow)
	if err != nil || reply.Status != wire.Busy || !strings.Contains(reply.Why, "not complete") {
		t.Errorf("the slow one: %+v, %v; want busy: not complete", reply, err)
	}
}

func TestBoundsAreKeptAndPlacesFreedAgain(t *testing.T) {
	for name, o := range map[string]Options{
		"of one user":                    {MaxPerUser: 3},
		"of all":                         {MaxSessions: 3, MaxPerUser: 9},
		"of a quarter, one user's share": {MaxSessions: 12},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, o)
			var open []*net.UnixConn
			var calls []Call
			for i := range 3 {
				open = append(open, s.ask(t, int64(i+1)))
				calls = append(calls, s.next(t))
			}
			fourth := s.dial(t)
			wire.WriteRequest(fourth, wire.Request{Job: 4}) // the write fails if the answer comes first
			reply, err := wire.ReadReply(fourth)
			if err != nil || reply.Status != wire.Busy || !strings.Contains(reply.Why, "sessions") {
				t.Fatalf("the fourth: %+v, %v; want busy", reply, err)
			}
			calls[0].Answer(wire.Reply{Status: wire.Resized})
			if _, err := wire.ReadReply(open[0]); err != nil {
				t.Fatal(err)
			}
			if _, err := open[0].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			// The connection ends just before its place is freed, so the first try may be too
			// early.
			for deadline := time.Now().Add(long); ; {
				conn := s.dial(t)
				wire.WriteRequest(conn, wire.Request{Job: 5})
				select {
				case call := <-s.Calls():
					call.Answer(wire.Reply{Status: wire.Resized})
				case <-readable(conn):
				}
				reply, err := wire.ReadReply(conn)
				if err == nil && reply.Status == wire.Resized {
					return
				}
				if time.Now().After(deadline) {
					t.Fatalf("no place became free: %+v, %v", reply, err)
				}
			}
		})
	}
}

// readable returns a channel that is closed when the connection has something to read. readable
// itself consumes nothing.
func readable(conn *net.UnixConn) <-chan struct{} {
	ready := make(chan struct{})
	raw, err := conn.SyscallConn()
	if err != nil {
		close(ready)
		return ready
	}
	go func() {
		defer close(ready)
		raw.Read(func(fd uintptr) bool {
			n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			return n >= 0 || err != syscall.EAGAIN
		})
	}()
	return ready
}

func TestFiveHundredSessionsAtOnceEachGetTheirOwnAnswer(t *testing.T) {
	s := serve(t, Options{})
	const n = 500
	var shims sync.WaitGroup
	for i := range n {
		conn := s.ask(t, int64(i+1))
		shims.Go(func() {
			reply, err := wire.ReadReply(conn)
			if err != nil || reply.Generation != i+1 {
				t.Errorf("job %d: %+v, %v", i+1, reply, err)
			}
		})
	}
	calls := make([]Call, n) // all sessions are open before the first is answered
	for i := range calls {
		calls[i] = s.next(t)
	}
	for _, call := range calls {
		call.Answer(wire.Reply{Status: wire.Resized, Generation: int(call.Request.Job)})
	}
	shims.Wait()
}

func TestGarbageDoesNotStopServer(t *testing.T) {
	s := serve(t, Options{Patience: 5 * time.Second})
	s.answerAll(t)
	random := rand.New(rand.NewPCG(1, 2))
	var peers sync.WaitGroup
	for range 200 {
		b := make([]byte, random.IntN(300))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		if len(b) > 4 && random.IntN(2) == 0 { // a correct length, so that the rest is parsed
			binary.BigEndian.PutUint32(b, uint32(len(b)-4))
		}
		conn := s.dial(t)
		peers.Go(func() {
			conn.Write(b)
			conn.CloseWrite()
			io.Copy(io.Discard, conn)
		})
	}
	peers.Wait()
	reply, err := wire.ReadReply(s.ask(t, 9))
	if err != nil || reply.Generation != 9 {
		t.Fatalf("after the rubbish: %+v, %v", reply, err)
	}
}

// transport returns given errors.
type transport struct {
	accepts chan error
	once    sync.Once
	closed  chan struct{}
}

func (f *transport) Accept() (Conn, error) {
	select {
	case err := <-f.accepts:
		return nil, err
	case <-f.closed:
		return nil, net.ErrClosed
	}
}

func (f *transport) Close() error {
	f.once.Do(func() { close(f.closed) })
	return nil
}

func TestServerSurvivesTemporaryFailureAndEndsWithPermanentOne(t *testing.T) {
	f := &transport{accepts: make(chan error), closed: make(chan struct{})}
	s := New(Options{}, f)
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(context.Background()) }()
	for range 3 {
		f.accepts <- syscall.EMFILE
	}
	f.accepts <- net.ErrClosed
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Fatalf("got %v", err)
		}
	case <-time.After(long):
		t.Fatal("Serve does not end")
	}
}
