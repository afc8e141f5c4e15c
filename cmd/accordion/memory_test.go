package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"accordion/adapter/delegated/apps"
	"accordion/shim"
	"accordion/shim/launcher/link"
	"accordion/shim/wire/launcher"
)

// gathering is a group of launchers in this process that are connected to a sidecar's socket. The first launcher gets all hosts. The others
// wait with one request each.
type gathering struct {
	*serving
	ctx context.Context
	all sync.WaitGroup
}

// launch runs a launcher until the gathering ends. It requests hosts once, and acknowledges all views.
func (g *gathering) launch(hosts []launcher.Hosts, walltime int64) {
	where := func(name string) (string, bool) { return g.socket(), name == "ACCORDION_SOCKET" }
	l := link.Open(g.ctx, link.Options{Dial: shim.Dialer(where), Hello: launcher.Hello{Name: "one of many"}})
	g.all.Go(func() {
		asked := false
		for e := range l.Events() {
			switch m := e.Message.(type) {
			case *launcher.Welcome:
				e.Session.Send(&launcher.Subscribe{})
			case *launcher.Change:
				l.Has(m.View)
				if asked {
					e.Session.Send(&launcher.Ack{View: m.View})
					continue
				}
				e.Session.Send(&launcher.Request{View: m.View, Hosts: hosts, Walltime: walltime})
				asked = true
			case nil:
				if g.ctx.Err() == nil {
					g.t.Errorf("a launcher was left: %v", e.Err)
				}
			}
		}
	})
}

// settled reports whether all applications exist and have acknowledged their views, and at least `waiting` of them wait with a request.
// Applications behind those that a pass considers receive no view yet.
func (g *gathering) settled(all, waiting int) bool {
	quiet := map[apps.Phase]int{}
	for _, a := range g.snapshot().Applications {
		if a.Owes == 0 && a.Launcher {
			quiet[apps.Phase(a.Phase)]++
		}
	}
	return quiet[apps.Waiting] >= waiting && quiet[apps.Waiting]+quiet[apps.Subscribed] == all
}

var gauge = regexp.MustCompile(`(?m)^(go_memstats_\w+) (\S+)$`)

// heap returns the process's memory statistics, in MiB by name.
func heap(t *testing.T, address string) map[string]float64 {
	t.Helper()
	c := &http.Client{Timeout: time.Minute}
	answer, err := c.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, m := range gauge.FindAllSubmatch(page, -1) {
		n, err := strconv.ParseFloat(string(m[2]), 64)
		if err != nil {
			t.Fatal(err)
		}
		all[string(m[1])] = n / (1 << 20)
	}
	return all
}

var programFlag = flag.String("accordion.program", "", "measure the memory of this `file`; without, of a program that the test builds")

// This test measures the memory of `accordion serve` with launchers that wait on two clusters, each with its own
// request. All views contain the steps of the applications that a pass considers. It prints the figures of
// docs/performance.md:
//
//	go test ./cmd/accordion -run MemoryOfASidecar -v -args -accordion.long
func TestMemoryOfASidecar(t *testing.T) {
	program := *programFlag
	if program == "" { // this test binary is larger than the program, and three times as large with the race detector
		program = filepath.Join(t.TempDir(), "accordion")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
			t.Fatalf("building the program: %v: %s", err, out)
		}
	}
	if err := forgotten(program); err != nil {
		t.Fatal(err)
	}
	for _, load := range []struct {
		launchers, considered int
		most                  float64 // MiB; 0 if not checked
	}{{200, 200, 50}, {2000, 200, 150}, {2000, 2000, 0}} {
		t.Run(fmt.Sprintf("%d/%d", load.launchers, load.considered), func(t *testing.T) {
			if load.launchers > 200 && !*long {
				t.Skip("takes minutes: -accordion.long")
			}
			measure(t, program, load.launchers, load.considered, load.most)
		})
	}
}

func measure(t *testing.T, program string, launchers, considered int, most float64) {
	address := unused(t)
	s := newServing(t, 2, 4*considered, fmt.Sprintf("metrics.listen = %q\n", address)) // all belong to one user
	s.command = func(words ...string) *exec.Cmd {
		c := ours(words...)
		c.Path, c.Env = program, append(os.Environ(), "GOGC=") // the tests may have set another value
		return c
	}
	s.start()
	s.await("both clusters are read", s.read)
	empty := s.memory("VmRSS")
	ctx, over := context.WithCancel(context.Background())
	g := &gathering{serving: s, ctx: ctx}
	defer g.all.Wait()
	defer over() // disconnect before the sidecar is killed
	g.launch([]launcher.Hosts{{C: 0, N: 128}, {C: 1, N: 128}}, 100_000)
	s.await("the first runs", func() bool {
		all := s.snapshot().Applications
		return len(all) == 1 && apps.Phase(all[0].Phase) == apps.Running
	})
	begun := time.Now()
	for i := range launchers - 1 {
		g.launch([]launcher.Hosts{{C: i % 2, N: 1 + i%100}}, int64(600+37*i))
	}
	s.await("all wait", func() bool { return g.settled(launchers-1, min(launchers-1, considered)) })
	took := time.Since(begun)
	resident, file, h := s.memory("VmRSS"), s.memory("RssFile"), heap(t, address)
	t.Logf("%d launchers, %d of them in a pass, all there after %v: resident %.0f MiB (%.0f of it the program's file; at most %.0f; %.0f without launchers), heap %.0f MiB, stacks %.1f MiB",
		launchers, considered, took.Round(time.Second), resident, file, s.memory("VmHWM"), empty, h["go_memstats_heap_inuse_bytes"], h["go_memstats_stack_inuse_bytes"])
	if most > 0 && resident > most {
		t.Errorf("%.0f MiB are resident, at most %.0f may be", resident, most)
	}
}

// forgotten removes a file from the kernel's cache, so that it is read from disk like a program that was installed long ago. The kernel
// caches a newly written file in pieces of up to 2 MiB, and maps a whole piece for a process that touches part of it. That would add 10 MiB
// to the program's memory.
func forgotten(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil { // only data that is on the disk can leave the cache
		return err
	}
	return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
}

// unused returns an address on which no process listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
