package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"

	"accordion/shim/wire/launcher"
)

func init() {
	programs["fake-applications"] = func() {
		if err := fakeApplications(); err != nil {
			fmt.Fprintln(os.Stderr, "fake-applications:", err)
			os.Exit(1)
		}
	}
}

// fakeApplications is a sidecar for one application: it grants the first request at once, lets the parts through when all are ready, and
// leaves when the launcher is told, or has told, that all is over. The arguments are the names of its clusters, of four hosts each.
func fakeApplications() error {
	socket := flag.String("socket", "", "")
	abort := flag.Bool("abort", false, "do not let the parts through")
	flag.Parse()
	listener, err := net.Listen("unix", *socket)
	if err != nil {
		return err
	}
	a := &fakeApplication{names: flag.Args(), abort: *abort, over: make(chan struct{}), jobs: map[int64]string{}, ready: map[int64]*fakeSession{}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go a.serve(&fakeSession{conn: conn})
		}
	}()
	<-a.over
	return nil
}

// fakeNow is the second at which everything happens: 2027-01-15 08:00:00 UTC.
const fakeNow = 1800000000

type fakeApplication struct {
	names []string
	abort bool
	over  chan struct{}

	mu       sync.Mutex
	launcher *fakeSession
	jobs     map[int64]string // on which clusters
	granted  []launcher.Names
	ready    map[int64]*fakeSession
	done     int
	code     int
}

type fakeSession struct {
	conn net.Conn
	seq  int64
	job  int64 // of a part
}

func (s *fakeSession) send(all ...launcher.Message) {
	for _, m := range all {
		s.seq++
		launcher.Write(s.conn, s.seq, m)
	}
}

func (a *fakeApplication) serve(s *fakeSession) {
	defer s.conn.Close()
	for {
		m, seq, err := launcher.Read(s.conn, launcher.MostToServer)
		if err != nil {
			return
		}
		a.mu.Lock()
		over := a.hear(s, m, seq)
		a.mu.Unlock()
		if over {
			close(a.over)
			return
		}
	}
}

func (a *fakeApplication) hear(s *fakeSession, m launcher.Message, seq int64) (over bool) {
	okay := &launcher.Okay{To: seq}
	switch m := m.(type) {
	case *launcher.Hello:
		w := &launcher.Welcome{Version: 2, App: 7, State: "submitted", Now: fakeNow, Pace: 1, Tag: -1, Grace: 60, Timer: 1, Fair: 5, Answer: 30}
		if m.Part != nil {
			s.job, w.Cluster = m.Part.Job, a.jobs[m.Part.Job]
		} else {
			a.launcher = s
		}
		s.send(w)
	case *launcher.List:
		s.send(a.clusters())
	case *launcher.Subscribe:
		for _, j := range m.Jobs {
			a.jobs[j.Job] = j.Cluster
		}
		view := &launcher.Change{View: 1, Now: fakeNow}
		for c := range a.names {
			view.All = append(view.All, launcher.ClusterChange{C: c, Kind: launcher.KindOccupation, From: fakeNow, Steps: []int64{fakeNow, 0}})
		}
		s.send(okay, a.clusters(), view)
	case *launcher.Request:
		if a.granted != nil {
			return false
		}
		for _, h := range m.Hosts {
			n := launcher.Names{C: h.C}
			for i := range h.N {
				n.Hosts = append(n.Hosts, fmt.Sprintf("n%d", i+1))
			}
			a.granted = append(a.granted, n)
		}
		s.send(&launcher.Change{View: 2, Base: 1, Now: fakeNow, Est: fakeNow + 60, All: []launcher.ClusterChange{}},
			&launcher.Start{Tag: m.Tag, At: fakeNow, By: fakeNow + m.Walltime, Hosts: a.granted})
		a.letThrough()
	case *launcher.Ready:
		s.send(okay)
		a.ready[m.Job] = s
		a.letThrough()
	case *launcher.Done:
		s.send(okay)
		if s.job == 0 {
			return true
		}
		if a.code == 0 {
			a.code = m.Code
		}
		if a.done++; a.done == len(a.granted) {
			a.launcher.send(&launcher.Done{Code: a.code})
			return true
		}
	}
	return false
}

// letThrough lets all parts go as soon as they are there.
func (a *fakeApplication) letThrough() {
	if a.granted == nil || len(a.ready) < len(a.granted) {
		return
	}
	g := &launcher.Go{At: fakeNow, Hosts: a.granted}
	for _, h := range a.granted {
		g.Names = append(g.Names, a.names[h.C])
	}
	for _, s := range a.ready {
		if a.abort {
			s.send(&launcher.Abort{Why: strings.Join(a.names, ", ") + " are not what they were"})
			continue
		}
		s.send(g)
	}
	if a.abort {
		a.launcher.send(&launcher.End{Why: launcher.WhyLost})
		return
	}
	a.launcher.send(g)
}

func (a *fakeApplication) clusters() *launcher.Clusters {
	all := &launcher.Clusters{Links: []launcher.Link{}}
	for c, name := range a.names {
		all.All = append(all.All, launcher.Cluster{C: c, Name: name, Hosts: 4, Speed: 1})
	}
	return all
}
