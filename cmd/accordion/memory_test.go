package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"accordion/adapter/application"
	"accordion/shim"
	"accordion/shim/link"
	"accordion/shim/wire/launcher"
)

// gathering are launchers of this process on a sidecar's socket. The first of them gets all hosts, the others wait with a request each.
type gathering struct {
	*serving
	ctx context.Context
	all sync.WaitGroup
}

// launch is a launcher until the gathering is over. It asks for hosts once, and acknowledges all views.
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

// settled says whether so many applications wait, all with their views acknowledged.
func (g *gathering) settled(n int) bool {
	quiet := 0
	for _, a := range g.snapshot().Applications {
		if application.Phase(a.Phase) == application.Waiting && a.Owes == 0 && a.Launcher {
			quiet++
		}
	}
	return quiet == n
}

var gauge = regexp.MustCompile(`(?m)^(go_memstats_\w+) (\S+)$`)

// heap is what the process says of its memory, MiB by name.
func heap(t *testing.T, address string) map[string]float64 {
	t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
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

// What `accordion serve` takes with launchers that wait on two clusters, each with a request of its own. It prints what docs/performance.md has:
//
//	go test ./cmd/accordion -run MemoryOfASidecar -v -args -accordion.long
func TestMemoryOfASidecar(t *testing.T) {
	for _, load := range []struct {
		launchers int
		most      float64 // MiB
	}{{200, 50}, {2000, 150}} {
		t.Run(fmt.Sprint(load.launchers), func(t *testing.T) {
			if load.launchers > 200 && !*long {
				t.Skip("takes minutes: -accordion.long")
			}
			free, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address := free.Addr().String()
			free.Close()
			s := newServing(t, 2, fmt.Sprintf("metrics.listen = %q\n", address))
			s.start()
			s.await("both clusters are read", s.read)
			empty := s.memory("VmRSS")
			ctx, over := context.WithCancel(context.Background())
			g := &gathering{serving: s, ctx: ctx}
			defer g.all.Wait()
			defer over() // before the sidecar is killed
			g.launch([]launcher.Hosts{{C: 0, N: 128}, {C: 1, N: 128}}, 100_000)
			s.await("the first runs", func() bool {
				all := s.snapshot().Applications
				return len(all) == 1 && application.Phase(all[0].Phase) == application.Running
			})
			begun := time.Now()
			for i := range load.launchers - 1 {
				g.launch([]launcher.Hosts{{C: i % 2, N: 1 + i%100}}, int64(600+37*i))
			}
			s.await("all wait", func() bool { return g.settled(load.launchers - 1) })
			took := time.Since(begun)
			rss, h := s.memory("VmRSS"), heap(t, address)
			t.Logf("%d launchers, all there after %v: resident %.0f MiB (%.0f of it anonymous, at most %.0f, %.0f without launchers), heap in use %.0f MiB, live %.0f MiB, stacks %.1f MiB",
				load.launchers, took.Round(time.Second), rss, s.memory("RssAnon"), s.memory("VmHWM"), empty,
				h["go_memstats_heap_inuse_bytes"], h["go_memstats_heap_alloc_bytes"], h["go_memstats_stack_inuse_bytes"])
			if rss > load.most {
				t.Errorf("%.0f MiB are resident, at most %.0f may be", rss, load.most)
			}
		})
	}
}
