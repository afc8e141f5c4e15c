package link_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"accordion/shim/launcher/link"
	"accordion/shim/launcher/link/linktest"
	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
)

// sidecar is the peer of a link. The test acts as the sidecar.
type sidecar struct {
	t     *testing.T
	ends  chan net.Conn // ends of dialed connections
	down  bool          // dialing fails
	realm *sealtest.Realm
}

func (s *sidecar) dial(ctx context.Context) (net.Conn, error) {
	if s.down {
		return nil, errors.New("nobody listens")
	}
	near, far := net.Pipe()
	s.ends <- far
	if s.realm != nil {
		defer context.AfterFunc(ctx, func() { near.Close() })()
		return seal.Connect(ctx, near, s.realm.User(1001), seal.RootOr(1001))
	}
	return near, nil
}

// peer is the sidecar's end of one connection.
type peer struct {
	t    *testing.T
	conn net.Conn
	*seal.Stream
	seq int64
}

func (p *peer) send(m launcher.Message) {
	p.t.Helper()
	p.seq++
	frame, err := launcher.Append(nil, p.seq, m)
	if err == nil {
		err = p.WriteFrame(frame)
	}
	if err != nil {
		p.t.Errorf("send %s: %v", m.Type(), err)
	}
}

// expect reads the next message, which must have this type.
func expect[M launcher.Message](p *peer, seq int64) M {
	p.t.Helper()
	frame, err := p.ReadFrame(launcher.MostToServer)
	if err != nil {
		p.t.Fatal(err)
	}
	m, n, err := launcher.Decode(frame)
	got, ok := m.(M)
	if err != nil || !ok || n != seq {
		p.t.Fatalf("message %d is %#v, %v", n, m, err)
	}
	return got
}

// greet accepts the next connection, and welcomes it.
func (s *sidecar) greet(app int64) (*peer, *launcher.Hello) {
	s.t.Helper()
	conn := <-s.ends
	p := &peer{t: s.t, conn: conn, Stream: seal.Plain(conn)}
	hello := expect[*launcher.Hello](p, 1)
	p.send(&launcher.Welcome{Version: 2, App: app, Tag: -1, Grace: 60})
	return p, hello
}

// event reads the link's next event, which must be a message of this type.
func event[M launcher.Message](t *testing.T, l *link.Link) (link.Event, M) {
	t.Helper()
	e := <-l.Events()
	m, ok := e.Message.(M)
	if !ok {
		t.Fatalf("the event is %+v", e)
	}
	return e, m
}

// gone reads the link's next event, which must be the end of a connection.
func gone(t *testing.T, l *link.Link, over bool) error {
	t.Helper()
	e := <-l.Events()
	if e.Message != nil || e.Err == nil || e.Over != over {
		t.Fatalf("the event is %+v", e)
	}
	if _, more := <-l.Events(); over && more {
		t.Fatal("something followed the last event")
	}
	return e.Err
}

func away(t *testing.T, l *link.Link) error {
	t.Helper()
	e := <-l.Events()
	if e.Message != nil || e.Err == nil || e.Over {
		t.Fatalf("the event is %+v", e)
	}
	if _, err := e.Session.Send(&launcher.Ack{View: 1}); !errors.Is(err, link.ErrAway) {
		t.Errorf("sent on a connection that is over: %v", err)
	}
	return e.Err
}

func within(t *testing.T, o link.Options, f func(t *testing.T, s *sidecar, l *link.Link)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &sidecar{t: t, ends: make(chan net.Conn, 100)}
		o.Dial = s.dial
		ctx, cancel := context.WithCancel(t.Context())
		l := link.Open(ctx, o)
		f(t, s, l)
		cancel()
		for range l.Events() {
		}
	})
}

func TestMessagesGoBothWaysAndAreNumbered(t *testing.T) {
	within(t, link.Options{Hello: launcher.Hello{Name: "cem"}}, func(t *testing.T, s *sidecar, l *link.Link) {
		p, hello := s.greet(7)
		if hello.Name != "cem" || hello.Version != 2 || hello.Speaks[0] != 2 || hello.App != 0 || hello.Key != nil {
			t.Errorf("hello %+v", hello)
		}
		e, welcome := event[*launcher.Welcome](t, l)
		if welcome.App != 7 || e.Seq != 1 {
			t.Errorf("%+v", welcome)
		}
		go func() {
			if seq, err := e.Session.Send(&launcher.Subscribe{}); seq != 2 || err != nil {
				t.Errorf("number %d, %v", seq, err)
			}
		}()
		expect[*launcher.Subscribe](p, 2)
		p.send(&launcher.Okay{To: 2})
		p.conn.Write([]byte("\x00\x00\x00\x0c\x82\xa1t\xa5dance\xa1s\x09")) // an unknown type is skipped
		if e, okay := event[*launcher.Okay](t, l); okay.To != 2 || e.Seq != 2 {
			t.Errorf("%+v", e)
		}
	})
}

func TestPingsAreAnsweredWhileTheCallerIsBusy(t *testing.T) {
	within(t, link.Options{}, func(t *testing.T, s *sidecar, l *link.Link) {
		p, _ := s.greet(7)
		begin := time.Now()
		p.send(&launcher.Ping{})
		expect[*launcher.Pong](p, 2) // although the caller has not read the welcome
		expect[*launcher.Ping](p, 3)
		if quiet := time.Since(begin); quiet != 15*time.Second {
			t.Errorf("a ping after %v", quiet)
		}
		p.send(&launcher.Pong{})
		event[*launcher.Welcome](t, l)
	})
}

func TestSilentSidecarIsDeadAfter45SecondsAndTheLinkReconnectsAsTheSameApplication(t *testing.T) {
	within(t, link.Options{Hello: launcher.Hello{Name: "cem"}}, func(t *testing.T, s *sidecar, l *link.Link) {
		p, _ := s.greet(7)
		event[*launcher.Welcome](t, l)
		p.send(&launcher.Change{View: 5})
		event[*launcher.Change](t, l)
		l.Has(5)
		begin := time.Now()
		go func() { // the sidecar reads, and sends nothing
			for {
				if _, err := p.ReadFrame(launcher.MostToServer); err != nil {
					return
				}
			}
		}()
		if err := away(t, l); !strings.Contains(err.Error(), "45s") || time.Since(begin) != 45*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		_, hello := s.greet(7)
		if hello.App != 7 || hello.Have != 5 || hello.Name != "cem" {
			t.Errorf("hello %+v", hello)
		}
		event[*launcher.Welcome](t, l)
	})
}

func TestASidecarThatReadsNothingIsGivenUpAfterFiveSeconds(t *testing.T) {
	within(t, link.Options{}, func(t *testing.T, s *sidecar, l *link.Link) {
		s.greet(7)
		e, _ := event[*launcher.Welcome](t, l)
		begin := time.Now()
		if _, err := e.Session.Send(&launcher.Ack{View: 1}); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != 5*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		away(t, l)
	})
}

func TestAMessageThatIsTooLongIsTheCallersErrorAndTheConnectionGoesOn(t *testing.T) {
	within(t, link.Options{}, func(t *testing.T, s *sidecar, l *link.Link) {
		p, _ := s.greet(7)
		e, _ := event[*launcher.Welcome](t, l)
		var long *wire.TooLongError
		if _, err := e.Session.Send(&launcher.Abort{Why: strings.Repeat("x", launcher.MostToServer)}); !errors.As(err, &long) {
			t.Errorf("%v", err)
		}
		go e.Session.Send(&launcher.Ack{View: 1})
		expect[*launcher.Ack](p, 2)
	})
}

func TestLinkEndsIfNoSidecarComesBackWithinGrace(t *testing.T) {
	within(t, link.Options{}, func(t *testing.T, s *sidecar, l *link.Link) {
		p, _ := s.greet(7)
		event[*launcher.Welcome](t, l)
		time.Sleep(10 * time.Second)
		begin := time.Now()
		s.down = true
		p.conn.Close()
		away(t, l)
		err := gone(t, l, true)
		if waited := time.Since(begin); waited != time.Minute || !strings.Contains(err.Error(), "within 1m0s: connect: nobody listens") {
			t.Errorf("after %v: %v", waited, err)
		}
	})
}

func TestLinkEndsSoonIfThereWasNeverASidecar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sidecar{t: t, down: true}
		begin := time.Now()
		l := link.Open(t.Context(), link.Options{Dial: s.dial})
		if err := gone(t, l, true); time.Since(begin) != 10*time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
	})
}

// If a sidecar welcomes the launcher and then closes the connection, again and again, the link reconnects more and more rarely, and finally
// gives up.
func TestConnectionsThatBreakAtOnceBecomeRarerAndEnd(t *testing.T) {
	within(t, link.Options{}, func(t *testing.T, s *sidecar, l *link.Link) {
		begin, connections := time.Now(), 0
		go func() {
			for conn := range s.ends {
				connections++
				p := &peer{t: t, conn: conn, Stream: seal.Plain(conn)}
				expect[*launcher.Hello](p, 1)
				p.send(&launcher.Welcome{Version: 2, App: 7, Grace: 60})
				conn.Close()
			}
		}()
		for e := range l.Events() {
			if e.Over {
				break
			}
		}
		close(s.ends)
		if waited := time.Since(begin); waited != time.Minute || connections < 30 || connections > 70 {
			t.Errorf("%d connections in %v", connections, waited)
		}
	})
}

func TestHelloMayBeRefused(t *testing.T) {
	refuse := func(code string) func(net.Conn) {
		return func(conn net.Conn) { launcher.Write(conn, 1, &launcher.Refuse{To: 1, Code: code, Text: "no"}) }
	}
	var version *link.VersionError
	var refused *link.RefusedError
	for name, c := range map[string]struct {
		answer func(net.Conn)
		is     any
		says   string
	}{
		"an earlier sidecar": {func(conn net.Conn) {
			wire.WriteReply(conn, wire.Reply{Status: wire.Refused, Why: (&wire.VersionError{Version: 2}).Error()})
		}, &version, "ask the administrator"},
		"a later sidecar": {refuse(launcher.CodeVersion), &version, "ask the administrator"},
		"its later welcome": {func(conn net.Conn) {
			launcher.Write(conn, 1, &launcher.Welcome{Version: 3})
		}, &version, "version 3"},
		"a foreign application": {refuse(launcher.CodeUnknown), &refused, "no (unknown)"},
		"too many":              {refuse(launcher.CodeFull), &refused, "no (full)"},
	} {
		t.Run(name, func(t *testing.T) {
			within(t, link.Options{}, func(t *testing.T, s *sidecar, l *link.Link) {
				conn := <-s.ends
				wire.ReadFrame(conn)
				c.answer(conn)
				conn.Close()
				if err := gone(t, l, true); !errors.As(err, c.is) || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestReconnectingLauncherAsksAFullSidecarAgain(t *testing.T) {
	within(t, link.Options{}, func(t *testing.T, s *sidecar, l *link.Link) {
		p, _ := s.greet(7)
		event[*launcher.Welcome](t, l)
		p.conn.Close()
		away(t, l)
		conn := <-s.ends
		wire.ReadFrame(conn)
		launcher.Write(conn, 1, &launcher.Refuse{To: 1, Code: launcher.CodeFull})
		conn.Close()
		s.greet(7)
		event[*launcher.Welcome](t, l)
	})
}

func TestEndedApplicationDoesNotReconnect(t *testing.T) {
	within(t, link.Options{}, func(t *testing.T, s *sidecar, l *link.Link) {
		p, _ := s.greet(7)
		event[*launcher.Welcome](t, l)
		p.send(&launcher.End{Why: launcher.WhyNewer})
		p.conn.Close()
		event[*launcher.End](t, l)
		var ended *link.EndedError
		if err := gone(t, l, true); !errors.As(err, &ended) || !strings.Contains(err.Error(), "another launcher") {
			t.Errorf("%v", err)
		}
	})
}

func TestPartSendsItsJobInEachHello(t *testing.T) {
	part := &launcher.Part{Cluster: "a", Job: 12}
	within(t, link.Options{Hello: launcher.Hello{Part: part}}, func(t *testing.T, s *sidecar, l *link.Link) {
		for range 2 {
			p, hello := s.greet(7)
			if hello.Part == nil || *hello.Part != *part || hello.App != 0 {
				t.Errorf("hello %+v", hello)
			}
			e, _ := event[*launcher.Welcome](t, l)
			e.Session.Close()
			away(t, l)
			p.conn.Close()
		}
	})
}

func TestOverANetworkEachFrameIsProved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sidecar{t: t, ends: make(chan net.Conn, 9), realm: sealtest.NewRealm()}
		ctx, cancel := context.WithCancel(t.Context())
		l := link.Open(ctx, link.Options{Dial: s.dial})
		raw := <-s.ends
		conn, err := seal.Accept(ctx, raw, s.realm.User(0))
		if err != nil {
			t.Fatal(err)
		}
		m, _, err := linktest.Read(conn, launcher.MostToServer)
		hello, ok := m.(*launcher.Hello)
		if err != nil || !ok || len(hello.Key) != 32 {
			t.Fatalf("%+v, %v", m, err)
		}
		key, err := seal.NewKey()
		if err != nil {
			t.Fatal(err)
		}
		if err := launcher.Write(conn, 1, &launcher.Welcome{Version: 2, App: 7, Grace: 60, Key: key.PublicKey().Bytes()}); err != nil {
			t.Fatal(err)
		}
		stream, err := conn.Stream(key, hello.Key)
		if err != nil {
			t.Fatal(err)
		}
		p := &peer{t: t, conn: raw, Stream: stream, seq: 1}
		e, _ := event[*launcher.Welcome](t, l)
		go e.Session.Send(&launcher.Ack{View: 3})
		expect[*launcher.Ack](p, 2)
		p.send(&launcher.Change{View: 1})
		event[*launcher.Change](t, l)
		if err := launcher.Write(raw, 3, &launcher.Start{}); err != nil { // the frame has no code, so the bytes after it are read as its code
			t.Fatal(err)
		}
		go raw.Write(make([]byte, 32))
		if err := away(t, l); !errors.Is(err, seal.ErrForged) {
			t.Errorf("a forged frame: %v", err)
		}
		cancel()
		for range l.Events() {
		}
	})
}
