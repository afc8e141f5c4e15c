package serve

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter/config"
	"accordion/cmd/accordion/cluster"
	"accordion/internal/testenv"
)

// Systemd is notified when a process serves, that it is alive while its loops answer, and when it ends.
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
			t.Fatalf("systemd is told %q, error %v; want %q", said[:n], err, want)
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

// fakeLoop answers unless it hangs.
type fakeLoop struct{ hangs atomic.Bool }

func (l *fakeLoop) alive(ctx context.Context) error {
	if l.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func wait(ctx context.Context) error { <-ctx.Done(); return nil }

func TestALoopThatHangsIsNotSaidToLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := make(chan string, 100)
		s := &service{every: 3 * time.Second, log: hclog.NewNullLogger(), loops: map[*watchdogTarget]bool{}, tell: func(state string) { said <- state }}
		took := func() (told []string) {
			for len(said) > 0 {
				told = append(told, <-said)
			}
			return told
		}
		one, other := &fakeLoop{}, &fakeLoop{}
		other.hangs.Store(true) // it waits for its lease
		ctx, end := context.WithCancel(t.Context())
		defer end()
		go s.watched("one", one.alive, wait)(ctx)
		go s.watched("other", other.alive, wait)(ctx)
		over := make(chan error)
		go func() { over <- s.run(ctx) }()
		// hears compares the notifications within 10 s, each word once, because the watchdog is fed each second.
		hears := func(when string, want ...string) {
			t.Helper()
			took()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			told, fed := took(), 0
			for _, word := range told {
				if word == "WATCHDOG=1" {
					fed++
				}
			}
			if slices.Sort(told); !slices.Equal(slices.Compact(told), want) || fed > 0 && fed < 8 {
				t.Errorf("%s systemd is told %v, want %v", when, told, want)
			}
		}
		hears("while one waits for its lease")
		other.hangs.Store(false)
		hears("when all answer", "READY=1", "WATCHDOG=1")
		one.hangs.Store(true)
		time.Sleep(time.Second) // the loop is asked once more
		hears("while one hangs")
		one.hangs.Store(false)
		hears("when that answers again", "WATCHDOG=1")
		life, leave := context.WithCancel(ctx)
		third := &fakeLoop{}
		third.hangs.Store(true)
		go s.watched("third", third.alive, wait)(life)
		hears("while one that is begun anew waits for its lease", "WATCHDOG=1")
		third.hangs.Store(false)
		hears("when that has it", "WATCHDOG=1")
		leave()
		synctest.Wait()
		third.hangs.Store(true)
		hears("when that has ended", "WATCHDOG=1")
		end()
		if err, told := <-over, took(); err != nil || !slices.Contains(told, "STOPPING=1") {
			t.Errorf("at the end systemd is told %v, error %v", told, err)
		}
	})
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
