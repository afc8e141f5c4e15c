package server

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"accordion/adapter/session"
	"accordion/shim/launcher/link/linktest"
	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
	"accordion/shim/wire/launcher"
)

// long is the time limit of tests in real time. Only a failing test waits that long.
const long = 5 * time.Minute

// served is a server for launchers together with a session server that listens on a socket and on TCP.
type served struct {
	*Server
	realm   *sealtest.Realm
	path    string
	address string
}

func serve(t testing.TB, life context.Context, o session.Options) *served {
	t.Helper()
	dir, err := os.MkdirTemp("", "launchers") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	s := &served{realm: sealtest.NewRealm(), path: filepath.Join(dir, "s"), Server: New(life, Options{})}
	o.Path, o.Address, o.Authority = s.path, "127.0.0.1:0", s.realm.User(0)
	o.Launchers = s.Of("a", func(uint32) (string, error) { return "alice", nil })
	server, err := session.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	s.address = server.Addresses()[0]
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := server.Serve(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait(); os.RemoveAll(dir) })
	return s
}

// welcomed welcomes every hello until life ends, and returns the channel of all later events.
func (s *served) welcomed(life context.Context) <-chan Event {
	rest := make(chan Event, 100)
	go func() {
		for {
			select {
			case e := <-s.Events():
				if _, is := e.Message.(*launcher.Hello); is {
					e.Session.Send(&launcher.Welcome{Version: launcher.Version, App: 1, Pace: 1})
					continue
				}
				rest <- e
			case <-life.Done():
				return
			}
		}
	}()
	return rest
}

// recorder keeps the last bytes that were written.
type recorder struct {
	net.Conn
	last []byte
}

func (r *recorder) Write(b []byte) (int, error) {
	r.last = append(r.last[:0], b...)
	return r.Conn.Write(b)
}

// far returns the connection of a launcher on another host, which has sent its hello.
func (s *served) far(t *testing.T, hello launcher.Hello) (raw *recorder, sealed *seal.Conn) {
	t.Helper()
	conn, err := net.Dial("tcp", s.address)
	if err != nil {
		t.Fatal(err)
	}
	raw = &recorder{Conn: conn}
	t.Cleanup(func() { raw.Close() })
	raw.SetDeadline(time.Now().Add(long))
	sealed, err = seal.Connect(t.Context(), raw, s.realm.User(1001), seal.RootOr(os.Getuid()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sealed.Write(frame(t, 1, &hello)); err != nil {
		t.Fatal(err)
	}
	return raw, sealed
}

// greeted returns the connection of a launcher on another host, which has received its welcome.
func (s *served) greeted(t *testing.T) (*recorder, *seal.Stream) {
	t.Helper()
	mine, err := seal.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	raw, sealed := s.far(t, launcher.Hello{Version: 2, Key: mine.PublicKey().Bytes()})
	m, _, err := linktest.Read(sealed, launcher.MostToClient)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := sealed.Stream(mine, m.(*launcher.Welcome).Key)
	if err != nil {
		t.Fatal(err)
	}
	return raw, stream
}

func message(t *testing.T, stream *seal.Stream) launcher.Message {
	t.Helper()
	b, err := stream.ReadFrame(launcher.MostToClient)
	if err != nil {
		t.Fatal(err)
	}
	m, _, err := launcher.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func next(t *testing.T, events <-chan Event) Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(long):
		t.Fatal("no event came")
		return Event{}
	}
}

func TestASessionOverTCPIsProvedFrameByFrame(t *testing.T) {
	s := serve(t, t.Context(), session.Options{})
	events := s.welcomed(t.Context())
	_, stream := s.greeted(t)
	for i := range int64(10) {
		if err := stream.WriteFrame(frame(t, i+2, &launcher.Ack{View: i + 1})); err != nil {
			t.Fatal(err)
		}
		e := next(t, events)
		if e.Seq != i+2 || e.Session.User().Name != "alice" {
			t.Fatalf("got %+v", e)
		}
		e.Session.Send(&launcher.Okay{To: e.Seq})
		if m := message(t, stream).(*launcher.Okay); m.To != i+2 {
			t.Fatalf("got %+v", m)
		}
	}
}

func TestForgedFramesOverTCPAreRefused(t *testing.T) {
	good := func(t *testing.T) []byte { return frame(t, 2, &launcher.Ack{View: 1}) }
	for name, forge := range map[string]func(t *testing.T, raw *recorder, stream *seal.Stream){
		"without a code": func(t *testing.T, raw *recorder, _ *seal.Stream) {
			raw.Write(append(good(t), make([]byte, 32)...))
		},
		"sent again": func(t *testing.T, raw *recorder, stream *seal.Stream) {
			if err := stream.WriteFrame(good(t)); err != nil {
				t.Fatal(err)
			}
			raw.Write(raw.last)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, t.Context(), session.Options{})
			s.welcomed(t.Context())
			raw, stream := s.greeted(t)
			forge(t, raw, stream)
			if r, is := message(t, stream).(*launcher.Refuse); !is || r.Code != launcher.CodeAuth {
				t.Errorf("got %+v", r)
			}
			if _, err := stream.ReadFrame(launcher.MostToClient); !errors.Is(err, io.EOF) {
				t.Errorf("after it %v, want the end", err)
			}
		})
	}
}

func TestASessionOverTCPNeedsAKey(t *testing.T) {
	s := serve(t, t.Context(), session.Options{})
	for name, key := range map[string][]byte{"none": nil, "a short one": {1, 2, 3}, "zero": make([]byte, 32)} {
		_, sealed := s.far(t, launcher.Hello{Version: 2, Key: key})
		m, _, err := linktest.Read(sealed, launcher.MostToClient)
		if r, is := m.(*launcher.Refuse); err != nil || !is || r.Code != launcher.CodeAuth || r.Field != "key" || r.To != 1 {
			t.Errorf("%s: got %+v, %v", name, m, err)
		}
	}
}

func TestSessionBeyondTheLimitIsRefusedOverTCP(t *testing.T) {
	s := serve(t, t.Context(), session.Options{MaxPerUser: 1})
	s.welcomed(t.Context())
	s.greeted(t)
	_, sealed := s.far(t, launcher.Hello{Version: 2})
	m, _, err := linktest.Read(sealed, launcher.MostToClient)
	if r, is := m.(*launcher.Refuse); err != nil || !is || r.Code != launcher.CodeFull {
		t.Errorf("got %+v, %v", m, err)
	}
}
