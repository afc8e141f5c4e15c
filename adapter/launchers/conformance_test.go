package launchers

import (
	"context"
<<<<<<< HEAD
	"net"
	"slices"
	"sync"
=======
	"io"
	"net"
>>>>>>> w-16p-server
	"testing"

	"accordion/adapter/session"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/conformance"
)

<<<<<<< HEAD
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
=======
// giver is a loop that gives everything that is asked for at once, on two idle clusters.
type giver struct {
	apps  int64
	talks map[uint64]*talk
}

type talk struct {
	to    Session
	sees  map[int]bool
	most  int64
	view  int64
	begun bool
}

func (g *giver) take(e Event) {
	t := g.talks[e.Session.Number()]
	refuse := func(code string) { t.to.Send(&launcher.Refuse{To: e.Seq, Code: code, Text: "no", Field: code}) }
	switch m := e.Message.(type) {
	case *launcher.Hello:
		t = &talk{to: e.Session}
		g.talks[e.Session.Number()] = t
		back := m.App != 0
		if m.App > g.apps || m.Part != nil {
			t.to.Close(&launcher.Refuse{To: e.Seq, Code: launcher.CodeUnknown, Text: "not yours"})
			return
		}
		if !back {
			g.apps++
			m.App = g.apps
		}
		t.to.Send(&launcher.Welcome{Version: 2, App: m.App, Tag: -1})
		if back {
			t.look()
		}
	case *launcher.List:
		t.to.Send(t.clusters(nil))
	case *launcher.Subscribe:
		t.most = m.Most
		t.to.Send(&launcher.Okay{To: e.Seq})
		t.to.Send(t.clusters(m.Filter.Clusters))
		t.look()
	case *launcher.Done:
		t.to.Send(&launcher.Okay{To: e.Seq})
	case *launcher.Ack:
		if m.View > t.view {
			refuse(launcher.CodeView)
		}
	case *launcher.Request:
		if code := t.wrong(m); code != "" {
			refuse(code)
			return
		}
		t.begun = true
		t.to.Send(&launcher.Start{Tag: m.Tag, At: 1, By: 1 + m.Walltime})
		t.to.Send(&launcher.Go{At: 1})
	}
}

func (t *talk) wrong(m *launcher.Request) (code string) {
	for _, h := range m.Hosts {
		if !t.sees[h.C] {
			return launcher.CodeCluster
		} else if h.N > 8 {
			return launcher.CodeHosts
		}
	}
	switch {
	case m.View > t.view:
		return launcher.CodeView
	case m.Walltime > t.most:
		return launcher.CodeWalltime
	case t.begun:
		return launcher.CodeState
	}
	return ""
}

func (t *talk) clusters(names []string) *launcher.Clusters {
	out := &launcher.Clusters{}
	t.sees = map[int]bool{}
	for c, name := range []string{"a", "b"} {
		if len(names) == 0 || names[0] == name {
			out.All = append(out.All, launcher.Cluster{C: c, Name: name, Hosts: 8})
			t.sees[c] = true
		}
	}
	return out
}

func (t *talk) look() {
	t.view++
	t.to.Send(&launcher.Change{View: t.view, All: []launcher.ClusterChange{{Kind: launcher.KindOccupation, Steps: []int64{0, 0}}}})
}

// What the protocol's table says of servers, over the socket.
func TestTheServerConforms(t *testing.T) {
	s := serve(t, t.Context(), session.Options{})
	go func() {
		g := &giver{talks: map[uint64]*talk{}}
		for {
			select {
			case e := <-s.Events():
				g.take(e)
			case <-t.Context().Done():
				return
			}
		}
	}()
	conformance.Server(t, func(conn net.Conn) {
		defer conn.Close()
		to, err := new(net.Dialer).DialContext(context.Background(), "unix", s.path)
		if err != nil {
			t.Error(err)
			return
		}
		defer to.Close()
		go func() {
			io.Copy(to, conn)
			to.Close()
		}()
		io.Copy(conn, to)
	})
}
>>>>>>> w-16p-server
