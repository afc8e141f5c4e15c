package launchers

import (
	"context"
	"net"
	"slices"
	"sync"
	"testing"

	"accordion/adapter/session"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/conformance"
)

// pipes is a transport of connections that the test makes.
type pipes struct {
	conns chan session.Conn
	once  sync.Once
	shut  chan struct{}
}

func (p *pipes) Accept() (session.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.shut:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.shut) })
	return nil
}

// known is a connection of alice's.
type known struct {
	net.Conn
	once sync.Once
	over chan struct{}
}

func (k *known) Peer() (session.Peer, error) { return session.Peer{UID: 1001}, nil }

func (k *known) Close() error {
	k.once.Do(func() { close(k.over) })
	return k.Conn.Close()
}

// What of the protocol needs no loop that knows applications, judged byte for byte.
func TestWhatNeedsNoApplicationConforms(t *testing.T) {
	life, end := context.WithCancel(context.Background())
	defer end()
	s := New(life, Options{})
	p := &pipes{conns: make(chan session.Conn), shut: make(chan struct{})}
	server := session.New(session.Options{Launchers: s.Of("a", names)}, p)
	var running sync.WaitGroup
	defer running.Wait()
	defer end()
	running.Go(func() { server.Serve(life) })
	running.Go(func() { welcome(life, s) })

	needsNone := []string{"hello", "hello with more keys and other integers", "hello of version 3", "a request of version 1 that is none",
		"a long name", "a foreign application", "no hello", "nested six times", "an unknown type", "a type of the server", "too long", "cut",
		"not msgpack", "a list", "no type", "no number", "too deep", "a number for a key", "bytes after the map", "nothing", "ping",
		"most below 0", "a cluster twice in a filter", "65 clusters in a filter"}
	judged := 0
	for name, err := range conformance.Judge(func(conn net.Conn) {
		k := &known{Conn: conn, over: make(chan struct{})}
		p.conns <- k
		<-k.over
	}) {
		if slices.Contains(needsNone, name) {
			if judged++; err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if judged != len(needsNone) {
		t.Errorf("%d lines were judged, want %d", judged, len(needsNone))
	}
}

// welcome welcomes all but those who come back, and answers nothing else.
func welcome(life context.Context, s *Server) {
	for {
		select {
		case e := <-s.Events():
			switch m := e.Message.(type) {
			case nil:
			case *launcher.Hello:
				if m.App != 0 {
					e.Session.Close(&launcher.Refuse{To: e.Seq, Code: launcher.CodeUnknown, Text: "no such application"})
					continue
				}
				e.Session.Send(&launcher.Welcome{Version: launcher.Version, App: 1, Pace: 1})
			default:
				e.Session.Close(nil)
			}
		case <-life.Done():
			return
		}
	}
}
