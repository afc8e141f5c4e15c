package conformance_test

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"accordion/internal/testenv"
	"accordion/shim/launcher/link"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/conformance"
)

// application runs a launcher that does what conformance.Client asks for, over shim/launcher/link.
func application(ctx context.Context, dial func(context.Context) (net.Conn, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := link.Open(ctx, link.Options{Dial: dial, Hello: launcher.Hello{Name: "cem"}})
	defer func() {
		cancel()
		for range l.Events() {
		}
	}()
	var view launcher.View
	var done int64 // number of the message that reported the end; a pong may have any number
	for e := range l.Events() {
		send := func(m launcher.Message) error { _, err := e.Session.Send(m); return err }
		var err error
		switch m := e.Message.(type) {
		case *launcher.Welcome:
			err = send(&launcher.Subscribe{Most: 600})
		case *launcher.Clusters:
			view.Know(m)
		case *launcher.Change:
			asked := view.Number != 0
			if err = view.Apply(m); err != nil {
				return err
			}
			l.Has(m.View)
			if asked {
				err = send(&launcher.Ack{View: m.View})
				break
			}
			var hosts []launcher.Hosts
			for c, p := range view.Clusters {
				hosts = append(hosts, launcher.Hosts{C: c, N: p.Info.Hosts})
			}
			err = send(&launcher.Request{View: m.View, Tag: 4, Hosts: hosts, Walltime: 300})
		case *launcher.Start:
			done, err = e.Session.Send(&launcher.Done{Code: 0})
		case *launcher.Okay:
			if done > 0 && m.To == done {
				return nil
			}
		case nil:
			return e.Err
		}
		if err != nil {
			return err
		}
	}
	return errors.New("it ended by itself")
}

func TestTheGoClientConforms(t *testing.T) {
	for name, packs := range map[string]bool{"packed": true, "not packed": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				judged := make(chan error, 1)
				err := application(t.Context(), func(context.Context) (net.Conn, error) {
					near, far := net.Pipe()
					go func() { judged <- conformance.Client(far, packs) }()
					return near, nil
				})
				if err != nil {
					t.Errorf("the client: %v", err)
				}
				if err := <-judged; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestThePythonClientConforms(t *testing.T) {
	python := testenv.Program(t, "python3")
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	judged := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err == nil {
			err = conformance.Client(conn, true) // the client's hello does not offer packing
		}
		judged <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, python, "-B", "../../../../examples/launcher/launcher.py", "--socket", socket,
		"--hosts", "a=4", "--hosts", "b=8", "--walltime", "300").CombinedOutput()
	if err != nil {
		t.Errorf("launcher.py: %v\n%s", err, out)
	}
	l.Close()
	if err := <-judged; err != nil {
		t.Error(err)
	}
	for _, kind := range []string{"welcome", "weather", "clusters", "change", "start", "go", "okay"} {
		if !strings.Contains(string(out), `"t": "`+kind+`"`) {
			t.Errorf("it did not print %s:\n%s", kind, out)
		}
	}
}
