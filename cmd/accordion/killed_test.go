package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"accordion/adapter/delegate"
	"accordion/adapter/view"
)

var long = flag.Bool("accordion.long", false, "kill the sidecar 20 times with 200 launchers waiting, not 2 times with 20")

// crowd is launchers, processes each, and a sidecar over two embedded clusters that is killed.
type crowd struct {
	t       *testing.T
	dir     string
	sidecar *exec.Cmd
	waiting []*waiter
}

// waiter is one launcher.
type waiter struct {
	cmd      *exec.Cmd
	out, err said
	over     chan struct{}
}

// said is what a process has written.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func (c *crowd) path(name string) string { return filepath.Join(c.dir, name) }

// command is accordion itself: this binary, by its name.
func (c *crowd) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.path("accordion"), args...)
	cmd.Env = append(os.Environ(), "ACCORDION_CONFIG="+c.path("list.toml"), "ACCORDION_SOCKET="+c.path("a.sock"), "TMPDIR="+c.dir)
	return cmd
}

func (c *crowd) serve() {
	c.sidecar = c.command("serve")
	log, err := os.OpenFile(c.path("serve.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	c.sidecar.Stdout, c.sidecar.Stderr = log, log
	if err := c.sidecar.Start(); err != nil {
		c.t.Fatal(err)
	}
}

// kill ends the sidecar as a fault would.
func (c *crowd) kill() {
	_ = c.sidecar.Process.Kill()
	_ = c.sidecar.Wait()
}

// memory is the sidecar's resident set, MiB.
func (c *crowd) memory() (mib int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.sidecar.Process.Pid))
	if _, rest, found := strings.Cut(string(status), "VmRSS:"); found {
		_, _ = fmt.Sscan(rest, &mib)
	}
	return mib / 1024
}

// launch begins one launcher; its application has all of one cluster when it starts.
func (c *crowd) launch(cluster string) {
	w := &waiter{cmd: c.command("launch", "--model", "4x1h", "--on", cluster, "--", "sleep", "3600"), over: make(chan struct{})}
	w.cmd.Stdout, w.cmd.Stderr = &w.out, &w.err
	if err := w.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() {
		_ = w.cmd.Wait()
		close(w.over)
	}()
	c.waiting = append(c.waiting, w)
}

func (w *waiter) ended() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

// lasts is how many launchers are there.
func (c *crowd) lasts() (n int) {
	for _, w := range c.waiting {
		if !w.ended() {
			n++
		}
	}
	return n
}

// back waits until each launcher that lasts has its application, and the loop of a running sidecar has seen them all.
func (c *crowd) back() map[int64]view.Application {
	var seen *delegate.Snapshot
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if seen, _ = delegate.ReadSnapshot(c.path("delegate.db")); seen == nil {
			continue
		}
		there := map[int64]view.Application{}
		for _, a := range seen.Applications {
			if a.Launcher && a.Tag >= 0 && a.Phase != "ending" {
				there[a.ID] = a
			}
		}
		if len(there) == c.lasts() {
			return there
		}
	}
	log, _ := os.ReadFile(c.path("serve.log"))
	c.t.Fatalf("%d launchers last; the sidecar sees %+v; its log:\n%s", c.lasts(), seen, log[max(0, len(log)-4000):])
	return nil
}

// judge says what is wrong with the launchers that have gone.
func (c *crowd) judge() (gone int) {
	for _, w := range c.waiting {
		if !w.ended() {
			continue
		}
		gone++
		if n := strings.Count(w.err.String(), "the application is ended: ") + strings.Count(w.err.String(), "refused"); n != 1 {
			c.t.Errorf("a launcher has gone with %d refusals: %s%s", n, w.out.String(), w.err.String())
		}
	}
	return gone
}

func TestLaunchersComeBackToASidecarThatWasKilled(t *testing.T) {
	many, kills := 20, 2
	if *long {
		many, kills = 200, 20
	}
	dir, err := os.MkdirTemp("", "killed") // socket paths are short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	c := &crowd{t: t, dir: dir}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, c.path("accordion")); err != nil {
		t.Fatal(err)
	}
	list := fmt.Sprintf("[delegate]\njournal = %q\n", c.path("delegate.db"))
	for _, name := range []string{"a", "b"} {
		own := fmt.Sprintf("system = \"embedded\"\nembedded.nodes = 4\njournal.path = %q\nsession.socket = %q\nsession.max_sessions = 4096\n", c.path(name+".db"), c.path(name+".sock"))
		list = fmt.Sprintf("[[cluster]]\nconfig = %q\nname = %q\n", c.path(name+".toml"), name) + list
		if err := os.WriteFile(c.path(name+".toml"), []byte(own), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(c.path("list.toml"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	c.serve()
	t.Cleanup(func() {
		for _, w := range c.waiting {
			_ = w.cmd.Process.Signal(os.Interrupt)
		}
		for _, w := range c.waiting {
			<-w.over
		}
		c.kill()
	})
	c.back() // none yet: the loop has begun
	before := c.memory()
	for i := range many {
		c.launch([]string{"a", "b"}[i%2])
	}
	first := c.back()
	t.Logf("%d launchers: resident memory of the sidecar %d MiB, %d MiB before", many, c.memory(), before)
	if grown := c.memory() - before; *long && grown > 50 {
		t.Errorf("%d launchers take %d MiB", many, grown)
	}
	if len(first) != many {
		t.Fatalf("%d applications wait, want %d", len(first), many)
	}
	for range kills {
		time.Sleep(time.Duration(rand.N(2000)) * time.Millisecond)
		c.kill()
		time.Sleep(time.Duration(rand.N(1000)) * time.Millisecond)
		c.serve()
		for id, a := range c.back() {
			was, known := first[id]
			if !known || a.Rank != was.Rank || a.Walltime != was.Walltime || a.Tag != was.Tag || len(a.Parts) != 1 || a.Parts[0].Hosts != 4 {
				t.Errorf("application %d was %+v and is %+v", id, was, a)
			}
		}
		c.judge()
	}
	gone := c.judge()
	t.Logf("%d of %d launchers were ended by %d kills; resident memory %d MiB", gone, many, kills, c.memory())
	if gone > 2*(kills+1) { // one a cluster ran
		t.Errorf("%d have gone, and at most two ran at a time", gone)
	}
	for _, w := range c.waiting {
		_ = w.cmd.Process.Signal(os.Interrupt)
	}
	for _, w := range c.waiting {
		<-w.over
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		seen, err := delegate.ReadSnapshot(c.path("delegate.db"))
		if err == nil && seen != nil && len(seen.Applications) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("left is %+v, %v", seen, err)
		}
	}
}
