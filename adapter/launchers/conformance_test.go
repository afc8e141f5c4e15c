package launchers

import (
	"context"
	"io"
	"net"
	"testing"

	"accordion/adapter/session"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/conformance"
)

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
