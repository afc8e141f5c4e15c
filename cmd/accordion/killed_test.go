package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/adapter/delegated/apps"
	"accordion/traces/paper/delegated"
)

var (
	long     = flag.Bool("accordion.long", false, "kill a sidecar of 200 launchers 20 times; measure one of 2,000")
	seedFlag = flag.Uint64("accordion.seed", 0, "of the instants at which the sidecar is killed; 0: drawn")
)

// killedSidecar is a sidecar that is killed repeatedly while launchers wait, each in its own process. The first launchers request all nodes
// for hours. One of them runs at a time and is lost when the sidecar is killed; then the next one starts. All other launchers wait behind
// them.
type killedSidecar struct {
	*serving
	dice      *rand.Rand
	jobs      string
	launchers map[string]*killedLauncher // the launchers, by name
	known     map[int64]apps.Application
}

// killedLauncher is one launcher of a killedSidecar.
type killedLauncher struct {
	name    string
	large   bool
	begun   bool // when the sidecar was killed, the journal showed the application as started, so it is lost
	command *exec.Cmd
	said    bytes.Buffer // standard output and standard error; read after the launcher has ended
	over    chan struct{}
}

func (l *killedLauncher) ended() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

// launch starts the launcher of a line of the jobs file, counted from 0.
func (g *killedSidecar) launch(line int, large bool) {
	g.t.Helper()
	l := &killedLauncher{name: fmt.Sprint("job-", line), large: large, over: make(chan struct{})}
	l.command = ours("launch", "--application", fmt.Sprintf("%s:%d", g.jobs, line+2), "--name", l.name, "--connect", g.socket())
	l.command.Env = append(os.Environ(), "GOMAXPROCS=1")
	l.command.Stdout, l.command.Stderr = &l.said, &l.said
	if err := l.command.Start(); err != nil {
		g.t.Fatal(err)
	}
	g.launchers[l.name] = l
	go func() {
		l.command.Wait()
		close(l.over)
	}()
}

// writeJobs writes the jobs file: applications that request all of both clusters for an hour, and small ones that
// last a second.
func (g *killedSidecar) writeJobs(large, small int) {
	g.t.Helper()
	var all []delegated.Job
	for range large {
		all = append(all, delegated.Job{Kind: delegated.CEM, Factor: 1, W: 2 * delegated.Hosts * 3600, Iterations: 1})
	}
	for i := range small {
		hosts := 1 + i%3
		all = append(all, delegated.Job{Kind: delegated.Rigid, Factor: 60, D1: float64(hosts), P: 1, Least: hosts, Most: hosts})
	}
	var text bytes.Buffer
	if err := delegated.Write(&text, all); err != nil {
		g.t.Fatal(err)
	}
	g.jobs = g.path("jobs")
	g.write("jobs", text.String())
}

// back returns how many launchers are connected to the present sidecar, and how many have not ended.
func (g *killedSidecar) back() (back, of int) {
	for _, l := range g.launchers {
		if !l.ended() {
			of++
		}
	}
	for _, a := range g.snapshot().Applications {
		if l := g.launchers[a.Name]; a.Launcher && l != nil && !l.ended() {
			back++
		}
	}
	return back, of
}

// instant waits until a random time at which the sidecar is to be killed. That is soon after the sidecar's start, or a moment after some of
// the launchers have connected. Sometimes it is after all launchers have connected, the lost application has ended, and another one has
// started. Launchers give up after two minutes without a sidecar, so instant also ensures that they were connected for some seconds within
// that time.
func (g *killedSidecar) instant(kill int) {
	if kill%5 == 0 {
		g.await("what was lost is ended", g.ended)
		g.allBack()
	} else if share := g.dice.IntN(150); share <= 100 {
		g.await(fmt.Sprintf("%d %% of the launchers are back", share), func() bool {
			back, of := g.back()
			return 100*back >= share*of
		})
	}
	time.Sleep(time.Duration(g.dice.IntN(1000)) * time.Millisecond)
}

// ended reports whether all applications that ran when the sidecar was killed have ended.
func (g *killedSidecar) ended() bool {
	for _, l := range g.launchers {
		if l.begun && !l.ended() {
			return false
		}
	}
	return true
}

func (g *killedSidecar) allBack() {
	g.t.Helper()
	g.await("all launchers are back", func() bool {
		back, of := g.back()
		return back == of
	})
}

// inspect checks the journal after the sidecar was killed: every launcher must have the same rank and request as
// before.
func (g *killedSidecar) inspect() {
	g.t.Helper()
	now := g.applications()
	for id, a := range now {
		old, known := g.known[id]
		switch {
		case g.launchers[a.Name] == nil:
			g.t.Errorf("application %d is called %q", id, a.Name)
			continue
		case !known:
			g.t.Errorf("application %d of %s is new", id, a.Name)
		case a.Rank != old.Rank:
			g.t.Errorf("%s had the rank %d, and has %d", a.Name, old.Rank, a.Rank)
		case a.Tag < old.Tag || a.Tag == old.Tag && !cmp.Equal(request(a), request(old)):
			g.t.Errorf("%s had requested %v (tag %d), and now %v (tag %d)", a.Name, request(old), old.Tag, request(a), a.Tag)
		}
		if !a.Phase.Started() {
			continue
		}
		g.launchers[a.Name].begun = g.launchers[a.Name].begun || a.Phase == apps.Running // an application whose start was not complete is started again
		for _, b := range now {
			if !b.Phase.Started() && b.Phase != apps.Ending && b.Compare(&a) < 0 {
				g.t.Errorf("%s has started, and %s, which waits, comes before it", a.Name, b.Name)
			}
		}
	}
	for id, a := range g.known {
		if _, there := now[id]; !there && !g.launchers[a.Name].begun {
			g.t.Errorf("application %d of %s had not begun, and is gone", id, a.Name)
		}
	}
	g.known = now
}

// request returns what an application requests.
func request(a apps.Application) map[string]int64 {
	all := map[string]int64{"walltime": a.Walltime}
	for _, p := range a.Parts {
		if p.Hosts > 0 {
			all[p.Name] = int64(p.Hosts)
		}
	}
	return all
}

// waiting returns how many launchers have a request, and how many of these applications have started (at most one).
func (g *killedSidecar) waiting() (waiting, started int) {
	for _, a := range g.snapshot().Applications {
		switch apps.Phase(a.Phase) {
		case apps.Waiting:
			waiting++
		case apps.Running:
			started++
		}
	}
	return waiting, started
}

// reason matches the reasons that an ended launcher prints.
var reason = regexp.MustCompile(`(?m)^accordion: (the application is ended: .*|its parts were over before its work was.*|the sidecar (refuses|has ended).*)$`)

// judge checks how a launcher ended.
func (g *killedSidecar) judge(l *killedLauncher) {
	g.t.Helper()
	status, said := l.command.ProcessState.ExitCode(), l.said.String()
	again := strings.Contains(said, "the sidecar is there again")
	switch {
	case l.begun && l.large:
		if whys := reason.FindAllString(said, -1); status != 1 || len(whys) != 1 {
			g.t.Errorf("%s, which ran when the sidecar was killed, ended with status %d and gave %d reasons: %s", l.name, status, len(whys), said)
		}
	case l.begun:
		g.t.Errorf("%s began before those of a better rank: %s", l.name, said)
	case l.large:
		if status != 130 || !again || !strings.Contains(said, "interrupted") {
			g.t.Errorf("%s was interrupted, and ended with status %d: %s", l.name, status, said)
		}
	case status != 0 || !again || strings.Count(said, "accordion: it runs") != 1:
		g.t.Errorf("%s should have run, and ended with status %d: %s", l.name, status, said)
	}
}

// The sidecar is killed at random times while launchers wait. Each launcher reconnects with its rank and its request,
// or prints once why it does not. At the end all applications run or are withdrawn, and nothing is left.
func TestASidecarKilledWhileLaunchersWait(t *testing.T) {
	launchers, kills := 40, 6
	if *long {
		launchers, kills = 200, 20
	}
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-accordion.seed=%d", seed)
	large := kills + 3
	g := &killedSidecar{serving: newServing(t, 2, 4*launchers, ""), dice: rand.New(rand.NewPCG(seed, 0)), launchers: map[string]*killedLauncher{}}
	g.writeJobs(large, launchers-large)
	g.start()
	g.await("both clusters are read", g.read)
	g.launch(0, true)
	g.await("one that wants everything runs", func() bool { // wait for this before the others subscribe, because an application without a request does not make others wait
		_, started := g.waiting()
		return started == 1
	})
	for i := range large - 1 {
		g.launch(1+i, true)
	}
	g.await("the others wait", func() bool {
		waiting, started := g.waiting()
		return started == 1 && waiting == large-1
	})
	for i := range launchers - large {
		g.launch(large+i, false)
	}
	g.await("all wait", func() bool {
		waiting, _ := g.waiting()
		return waiting == launchers-1
	})
	g.known = g.applications()
	begun := time.Now()
	for i := range kills {
		if i > 0 {
			g.instant(i)
		}
		g.kill()
		g.inspect()
		g.start()
	}
	g.await("what was lost is ended", g.ended)
	g.allBack()
	lasted := time.Since(begun)
	for _, l := range g.launchers {
		if l.large && !l.ended() {
			l.command.Process.Signal(syscall.SIGTERM)
		}
	}
	g.await("all launchers are over", func() bool {
		_, of := g.back()
		return of == 0
	})
	lost := 0
	var used time.Duration
	for _, l := range g.launchers {
		g.judge(l)
		if l.begun {
			lost++
		}
		used += l.command.ProcessState.UserTime() + l.command.ProcessState.SystemTime()
	}
	g.await("nothing is left", func() bool {
		return len(g.applications()) == 0 && len(g.snapshot().Applications) == 0 && len(g.records("c1.db")) == 0 && len(g.records("c2.db")) == 0
	})
	g.end()
	t.Logf("%d launchers, killed %d times in %v: %d ran then and were lost; processor time of the sidecars %v, of the launchers %v",
		launchers, kills, lasted.Round(time.Second), lost, g.used.Round(time.Second/10), used.Round(time.Second/10))
}
