package application

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
	"accordion/core/moldable"
	"accordion/shim/launcher/link/linktest"
	"accordion/shim/launcher/selector"
	"accordion/shim/wire/launcher"
)

// output is a buffer that several goroutines may write.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// launch is a call of Run. The test acts as the sidecar.
type launch struct {
	sidecar  *linktest.Sidecar
	out, err output
	status   chan int
	stop     context.CancelFunc
}

func start(t *testing.T, model string, o Options) *launch {
	t.Helper()
	t.Setenv("TZ", "UTC")
	m, err := selector.Parse(model)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	l := &launch{sidecar: linktest.New(), status: make(chan int, 1), stop: cancel}
	o.Model, o.Dial, o.Out, o.Err = m, l.sidecar.Dial, &l.out, &l.err
	o.Environ = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + t.TempDir()}
	go func() { l.status <- Run(ctx, o) }()
	t.Cleanup(cancel)
	return l
}

// batch returns places, and commands that submit batch jobs. Scripts that print a job number take the place of sbatch and oarsub.
func batch(t *testing.T, scripts map[string]string) (places []Place, commands map[string]Command) {
	t.Helper()
	commands = map[string]Command{}
	for _, cluster := range []string{"a", "b"} {
		if scripts[cluster] == "" {
			continue
		}
		path := filepath.Join(t.TempDir(), "sbatch")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+scripts[cluster]), 0o755); err != nil {
			t.Fatal(err)
		}
		places = append(places, Place{cluster, true})
		commands[cluster], _ = ReadCommand([]string{path, "job.sh"})
	}
	return places, commands
}

// subscribed acts as a sidecar until the launcher has subscribed.
func (l *launch) subscribed(t *testing.T) (*linktest.Peer, *launcher.Subscribe) {
	t.Helper()
	p, hello := l.sidecar.Accept(t, welcome())
	if hello.App != 0 {
		t.Errorf("hello %+v", hello)
	}
	m := p.Read()
	if _, list := m.(*launcher.List); list { // a launcher with batch jobs first requests the list
		p.Send(both)
		m = p.Read()
	}
	s, ok := m.(*launcher.Subscribe)
	if !ok {
		t.Fatal("it does not subscribe")
	}
	p.Okay()
	p.Send(both)
	return p, s
}

func read[M launcher.Message](t *testing.T, p *linktest.Peer) M {
	t.Helper()
	m := p.Read()
	want, ok := m.(M)
	if !ok {
		t.Fatalf("it says %T %+v, want %T", m, m, want)
	}
	return want
}

func (l *launch) ends(t *testing.T, status int, out string) {
	t.Helper()
	if got := <-l.status; got != status {
		t.Errorf("status %d, want %d", got, status)
	}
	if d := cmp.Diff(out, l.out.String()); d != "" {
		t.Errorf("standard output (-want +got):\n%s", d)
	}
	if t.Failed() {
		t.Logf("standard error:\n%s", l.err.String())
	}
}

func TestALaunchOfBatchJobsOnTwoClusters(t *testing.T) {
	places, commands := batch(t, map[string]string{"a": `echo "$@" >&2; echo "11;a"`, "b": "echo 22"})
	l := start(t, "cem:work=1000,iterations=0", Options{Name: "x", Places: places, Commands: commands})
	p, s := l.subscribed(t)
	if d := cmp.Diff([]launcher.Part{{Cluster: "a", Job: 11}, {Cluster: "b", Job: 22}}, s.Jobs); d != "" {
		t.Error(d)
	}
	p.Send(empty(1, start7, 0))
	r := read[*launcher.Request](t, p)
	if d := cmp.Diff(&launcher.Request{View: 1, Hosts: []launcher.Hosts{{C: 0, N: 8}, {C: 1, N: 4}}, Walltime: 63}, r); d != "" {
		t.Error(d)
	}
	p.Send(empty(2, start7, start7))
	read[*launcher.Ack](t, p)
	p.Send(grant())

	// The sidecar is killed, and the next sidecar sends Start again.
	p.Close()
	back := welcome()
	back.Tag, back.State = 0, "started"
	p, hello := l.sidecar.Accept(t, back)
	if hello.App != 7 || hello.Have != 2 {
		t.Errorf("it comes back with %+v", hello)
	}
	p.Send(grant(), &launcher.Go{At: start7}, &launcher.Done{Code: 5})
	status := <-l.status
	if status != 5 {
		t.Errorf("status %d\n%s", status, l.err.String())
	}
	for _, want := range []string{"--parsable -H --comment=launch=7 job.sh\n", "accordion: starts ", "accordion: started on a: 2 hosts, n[1-2]; b: 1 hosts, m7, until ", "accordion: all parts run\n", "is away"} {
		if !strings.Contains(l.err.String(), want) {
			t.Errorf("standard error without %q:\n%s", want, l.err.String())
		}
	}
	if out := l.out.String(); !strings.HasPrefix(out, "application 7\njob ") || strings.Count(out, "\n") != 3 {
		t.Errorf("standard output:\n%s", out)
	}
}

func TestALaunchOfWorkOnThisHost(t *testing.T) {
	l := start(t, "2x10s", Options{Work: []string{"sh", "-c", `echo $ACCORDION_APPLICATION; cat $ACCORDION_PARTS; exit 4`}})
	p, s := l.subscribed(t)
	if len(s.Jobs) != 0 {
		t.Errorf("%+v", s)
	}
	p.Send(empty(1, start7, 0))
	read[*launcher.Request](t, p)
	one := grant()
	one.Hosts = one.Hosts[:1]
	p.Send(one, &launcher.Go{At: start7, Hosts: one.Hosts})
	if d := read[*launcher.Done](t, p); d.Code != 4 {
		t.Errorf("%+v", d)
	}
	p.Okay()
	l.ends(t, 4, "application 7\n7\na n1\na n2\n")
}

func TestAnApplicationOfAnExperimentTakesItsTimeAtTheSidecarsPace(t *testing.T) {
	welcomed := 0
	asked := make(chan []moldable.Part, 1)
	l := start(t, "2x10s", Options{
		Welcomed: func() { welcomed++ },
		Lasts:    func(parts []moldable.Part) core.Time { asked <- parts; return 3600 * 24 }, // at a pace of 1 the test would last for a day
	})
	w := welcome()
	w.Pace = 1e8
	p, _ := l.sidecar.Accept(t, w)
	read[*launcher.Subscribe](t, p)
	p.Okay()
	p.Send(both, empty(1, start7, 0))
	read[*launcher.Request](t, p)
	p.Send(grant(), &launcher.Go{At: start7, Hosts: grant().Hosts})
	if d := read[*launcher.Done](t, p); d.Code != 0 {
		t.Errorf("%+v", d)
	}
	p.Okay()
	l.ends(t, 0, "application 7\n")
	if diff := cmp.Diff([]moldable.Part{{Cluster: 0, Hosts: 2}, {Cluster: 1, Hosts: 1}}, <-asked); diff != "" || welcomed != 1 {
		t.Errorf("welcomed %d times; what it got: %s", welcomed, diff)
	}
}

func TestAnInterruptedLaunch(t *testing.T) {
	l := start(t, "2x10s", Options{Work: []string{"sleep", "100"}})
	p, _ := l.subscribed(t)
	p.Send(empty(1, start7, 0))
	read[*launcher.Request](t, p)
	one := grant()
	one.Hosts = one.Hosts[:1]
	p.Send(one, &launcher.Go{At: start7, Hosts: one.Hosts})
	for !strings.Contains(l.err.String(), "it runs") {
		p.Send(&launcher.Ping{})
		read[*launcher.Pong](t, p)
	}
	l.stop()
	if d := read[*launcher.Done](t, p); d.Code != 130 {
		t.Errorf("%+v", d)
	}
	p.Okay()
	l.ends(t, 130, "application 7\n")
}

func TestALaunchThatIsRefused(t *testing.T) {
	l := start(t, "2x10s", Options{Work: []string{"true"}})
	l.sidecar.Accept(t, &launcher.Refuse{To: 1, Code: launcher.CodeFull, Text: "you have 10 applications"})
	l.ends(t, 1, "")
	if !strings.Contains(l.err.String(), "you have 10 applications") {
		t.Error(l.err.String())
	}
}

func TestAJobThatCannotBeSubmitted(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"refused":   {"echo 'invalid partition' >&2; exit 1", "sbatch --parsable -H --comment=launch=7 job.sh: exit status 1\n"},
		"no number": {"echo submitted", `it printed no job number: "submitted"`},
	} {
		t.Run(name, func(t *testing.T) {
			places, commands := batch(t, map[string]string{"a": c.script})
			l := start(t, "2x10s", Options{Places: places, Commands: commands})
			p, _ := l.sidecar.Accept(t, welcome())
			read[*launcher.List](t, p)
			p.Send(both)
			if d := read[*launcher.Done](t, p); d.Code != 1 {
				t.Errorf("%+v", d)
			}
			p.Okay()
			l.ends(t, 1, "application 7\n")
			if !strings.Contains(l.err.String(), c.want) {
				t.Errorf("%s, want %s", l.err.String(), c.want)
			}
		})
	}
}

// A sidecar that has just started has not read all of its clusters yet.
func TestLaunchListsClustersUntilItsOwnAppears(t *testing.T) {
	only := &launcher.Clusters{All: both.All[:1]}
	for name, c := range map[string]struct {
		seen  time.Duration // when b appears
		all   *launcher.Clusters
		want  string // what happens then
		after time.Duration
	}{
		"soon":          {2 * time.Second, only, "subscribe", 2 * time.Second},
		"none at first": {2 * time.Second, &launcher.Clusters{}, "subscribe", 2 * time.Second},
		"never":         {time.Hour, only, "done", 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := start(t, "2x10s", Options{Work: []string{"true"}, Places: []Place{{Cluster: "b"}}})
				p, _ := l.sidecar.Accept(t, welcome())
				defer p.Close()
				begun, m := time.Now(), p.Read()
				for m != nil && (m.Type() == "list" || m.Type() == "ping") {
					switch {
					case m.Type() == "ping":
						p.Send(&launcher.Pong{})
					case time.Since(begun) < c.seen:
						p.Send(c.all)
					default:
						p.Send(both)
					}
					m = p.Read()
				}
				if m == nil || m.Type() != c.want || time.Since(begun) != c.after {
					t.Fatalf("%v after %s, want %s after %s; standard error:\n%s", m, time.Since(begun), c.want, c.after, l.err.String())
				}
				p.Okay()
				if c.want == "subscribe" {
					l.stop()
					read[*launcher.Done](t, p)
					p.Okay()
				}
				<-l.status
				time.Sleep(time.Minute) // until the link has ended
			})
		})
	}
}

// If a program that chooses ends before its first request, the launch ends. If the program has made a request, the launch continues.
func TestALaunchByAProgramThatEnds(t *testing.T) {
	l := start(t, "exec:sh -c 'read l; echo nonsense'", Options{Work: []string{"true"}})
	p, _ := l.subscribed(t)
	p.Send(empty(1, start7, 0))
	read[*launcher.Done](t, p)
	p.Okay()
	l.ends(t, 1, "application 7\n")

	l = start(t, `exec:sh -c 'read l; echo "{\"version\":1,\"request\":{\"b\":2},\"walltime\":60}"'`, Options{Work: []string{"true"}})
	p, _ = l.subscribed(t)
	p.Send(empty(1, start7, 0))
	if d := cmp.Diff([]launcher.Hosts{{C: 1, N: 2}}, read[*launcher.Request](t, p).Hosts); d != "" {
		t.Error(d)
	}
	p.Send(empty(2, start7, 0))
	read[*launcher.Ack](t, p)
	p.Send(&launcher.End{Why: launcher.WhyCancelled})
	l.ends(t, 1, "application 7\n")
	if want := "accordion: the model's program has ended: the last request stands\n"; !strings.Contains(l.err.String(), want) {
		t.Errorf("%s, want %s", l.err.String(), want)
	}
}
