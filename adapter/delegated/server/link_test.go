package server

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"

	"accordion/adapter/session"
	"accordion/shim/launcher/link"
	"accordion/shim/seal"
	"accordion/shim/wire/launcher"
)

// The launcher's end of a session (package link) and the sidecar's end work together, both on the socket and over TCP.
func TestLinkAndServerWorkTogether(t *testing.T) {
	for name, dial := range map[string]func(s *served) func(context.Context) (net.Conn, error){
		"socket": func(s *served) func(context.Context) (net.Conn, error) {
			return func(ctx context.Context) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", s.path)
			}
		},
		"TCP": func(s *served) func(context.Context) (net.Conn, error) {
			return func(ctx context.Context) (net.Conn, error) {
				conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.address)
				if err != nil {
					return nil, err
				}
				return seal.Connect(ctx, conn, s.realm.User(1001), seal.RootOr(os.Getuid()))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, t.Context(), session.Options{})
			l := link.Open(t.Context(), link.Options{Dial: dial(s), Hello: launcher.Hello{Name: "cem"}, Patience: long})
			hello := next(t, s.Events())
			if m, is := hello.Message.(*launcher.Hello); !is || m.Name != "cem" {
				t.Fatalf("got %+v", hello)
			}
			hello.Session.Send(&launcher.Welcome{Version: launcher.Version, App: 7, Pace: 1, Grace: 60})
			welcomed := <-l.Events()
			if m, is := welcomed.Message.(*launcher.Welcome); !is || m.App != 7 {
				t.Fatalf("got %+v", welcomed)
			}
			for view := int64(1); view < 20; view++ {
				hello.Session.Send(change(view))
				if m, is := (<-l.Events()).Message.(*launcher.Change); !is || m.View != view {
					t.Fatalf("got %+v, want view %d", m, view)
				}
				seq, err := welcomed.Session.Send(&launcher.Ack{View: view})
				if err != nil {
					t.Fatal(err)
				}
				if e := next(t, s.Events()); e.Seq != seq || e.Message.(*launcher.Ack).View != view {
					t.Fatalf("got %+v, want view %d", e, view)
				}
			}
			hello.Session.Close(&launcher.End{Why: launcher.WhyNewer})
			var ended *link.EndedError
			for e := range l.Events() {
				if e.Over && !errors.As(e.Err, &ended) {
					t.Errorf("it ended with %v", e.Err)
				}
			}
			if e := next(t, s.Events()); e.Message != nil {
				t.Errorf("got %+v, want the end", e)
			}
		})
	}
}
