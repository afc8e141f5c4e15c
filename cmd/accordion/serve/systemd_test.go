package serve

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

	"accordion/adapter/config"
	"accordion/cmd/accordion/cluster"
	"accordion/internal/testenv"
)

// A process notifies systemd when it starts to serve, regularly as long as its loops answer, and when it ends.
func TestSystemdIsToldWhatServeDoes(t *testing.T) {
	folder := t.TempDir()
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(folder, "notify"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", filepath.Join(folder, "notify"))
	t.Setenv("WATCHDOG_USEC", "300000")
	conf := config.Default()
	conf.System, conf.Embedded.Nodes, conf.Cluster = config.SystemEmbedded, 4, "e"
	conf.Journal.Path, conf.Session.Socket = filepath.Join(folder, "j.db"), filepath.Join(folder, "sock")
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- serve(ctx, config.Clusters{All: []config.Member{{Config: conf}}}, &instance{conf: conf, log: hclog.NewNullLogger(), connect: cluster.Connect})
	}()
	hears := func(want string) {
		t.Helper()
		said := make([]byte, 100)
		if err := socket.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := socket.Read(said)
		if err != nil || string(said[:n]) != want {
			t.Fatalf("systemd receives %q, error %v; want %q", said[:n], err, want)
		}
	}
	hears("READY=1")
	hears("WATCHDOG=1")
	hears("WATCHDOG=1")
	end()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	for said := make([]byte, 100); ; {
		n, err := socket.Read(said)
		if err != nil {
			t.Fatal(err)
		}
		if string(said[:n]) == "STOPPING=1" {
			return
		}
	}
}

// Systemd's own verifier finds no fault in the units.
func TestTheUnitsAreAsSystemdWantsThem(t *testing.T) {
	program := testenv.Program(t, "systemd-analyze")
	folder := t.TempDir()
	units, err := filepath.Glob("../../../examples/systemd/*")
	if err != nil || len(units) < 3 {
		t.Fatalf("units %v, error %v", units, err)
	}
	var copies []string
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		copy := filepath.Join(folder, filepath.Base(unit))
		if err := os.WriteFile(copy, []byte(strings.ReplaceAll(string(text), "/usr/bin/accordion", "/bin/true")), 0o644); err != nil {
			t.Fatal(err)
		}
		copies = append(copies, copy)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, append([]string{"verify", "--man=no", "--recursive-errors=no"}, copies...)...)
	if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, out)
	}
}
