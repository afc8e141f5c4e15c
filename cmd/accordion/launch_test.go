package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"accordion/adapter/delegated/server"
	"accordion/adapter/session"
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

// fakeApplications runs a fake sidecar for one application, with the real servers. The sidecar grants the first request immediately, and
// lets the parts continue when all of them are ready. It exits when the launcher has received or sent the end of the application and all
// peers have disconnected. Its arguments are the names of its clusters, of four hosts each.
func fakeApplications() error {
	socket := flag.String("socket", "", "")
	abort := flag.Bool("abort", false, "do not let the parts through")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	sessions := server.New(ctx, server.Options{})
	listening, err := session.Listen(session.Options{Path: *socket, Launchers: sessions.Of("a", nil)})
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- listening.Serve(ctx) }()
	a := &fakeApplication{names: flag.Args(), abort: *abort, jobs: map[int64]string{}, parts: map[uint64]int64{}, ready: map[int64]server.Session{}, open: map[server.Session]bool{}}
	for {
		select {
		case err := <-ended:
			return err
		case e := <-sessions.Events():
			if over := a.hear(e.Session, e.Message, e.Seq); over {
				e.Session.Close(nil)
				stop()
				return <-ended
			}
		}
	}
}

// fakeNow is the time at which everything happens: 2027-01-15 08:00:00 UTC.
const fakeNow = 1800000000

type fakeApplication struct {
	names    []string
	abort    bool
	launcher server.Session
	jobs     map[int64]string // cluster of each job
	parts    map[uint64]int64 // job of each session
	granted  []launcher.Names
	ready    map[int64]server.Session
	open     map[server.Session]bool
	left     bool // the launcher has disconnected
	done     int
	code     int
}

func (a *fakeApplication) hear(s server.Session, m launcher.Message, seq int64) (over bool) {
	okay := &launcher.Okay{To: seq}
	switch m := m.(type) {
	case nil:
		delete(a.open, s)
		a.left = a.left || s == a.launcher
		return a.left && len(a.open) == 0 // wait until all peers have received their messages; otherwise one of them could connect to the next test's server at this socket
	case *launcher.Hello:
		a.open[s] = true
		w := &launcher.Welcome{Version: 2, App: 7, State: "submitted", Now: fakeNow, Pace: 1, Tag: -1, Grace: 60, Timer: 1, Fair: 5, Answer: 30}
		if m.Part != nil {
			a.parts[s.Number()] = m.Part.Job
		} else {
			a.launcher = s
		}
		s.Send(w)
	case *launcher.List:
		s.Send(a.clusters())
	case *launcher.Subscribe:
		for _, j := range m.Jobs {
			a.jobs[j.Job] = j.Cluster
		}
		view := &launcher.Change{View: 1, Now: fakeNow}
		for c := range a.names {
			view.All = append(view.All, launcher.ClusterChange{C: c, Kind: launcher.KindOccupation, From: fakeNow, Steps: []int64{fakeNow, 0}})
		}
		send(s, okay, a.clusters(), view)
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
		send(s, &launcher.Change{View: 2, Base: 1, Now: fakeNow, Est: fakeNow + 60, All: []launcher.ClusterChange{}},
			&launcher.Start{Tag: m.Tag, At: fakeNow, By: fakeNow + m.Walltime, Hosts: a.granted})
		a.letThrough()
	case *launcher.Ready:
		s.Send(okay)
		a.ready[m.Job] = s
		a.letThrough()
	case *launcher.Done:
		s.Send(okay)
		if a.parts[s.Number()] == 0 {
			return false
		}
		if a.code == 0 {
			a.code = m.Code
		}
		if a.done++; a.done == len(a.granted) {
			a.launcher.Send(&launcher.Done{Code: a.code})
		}
	}
	return false
}

func send(s server.Session, all ...launcher.Message) {
	for _, m := range all {
		s.Send(m)
	}
}

// letThrough lets all parts continue as soon as all of them are ready.
func (a *fakeApplication) letThrough() {
	if a.granted == nil || len(a.jobs) > 0 && len(a.ready) < len(a.granted) {
		return
	}
	g := &launcher.Go{At: fakeNow, Hosts: a.granted}
	for _, h := range a.granted {
		g.Names = append(g.Names, a.names[h.C])
	}
	for _, s := range a.ready {
		if a.abort {
			s.Send(&launcher.Abort{Why: strings.Join(a.names, ", ") + " are not what they were"})
			continue
		}
		s.Send(g)
	}
	if a.abort {
		a.launcher.Send(&launcher.End{Why: launcher.WhyLost})
		return
	}
	a.launcher.Send(g)
}

func (a *fakeApplication) clusters() *launcher.Clusters {
	all := &launcher.Clusters{Links: []launcher.Link{}}
	for c, name := range a.names {
		all.All = append(all.All, launcher.Cluster{C: c, Name: name, Hosts: 4, Speed: 1})
	}
	return all
}
