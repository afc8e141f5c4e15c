package sidecar_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/apps"
	"accordion/adapter/delegated/loop"
	"accordion/adapter/delegated/server"
	"accordion/adapter/embedded"
	"accordion/shim/wire/launcher"
)

// launcherSession is the session of a launcher that makes one request, for more hosts than exist,
// and immediately acknowledges each view.
type launcherSession struct {
	number uint64
	said   chan launcher.Message
	events chan<- server.Event
	seq    int64
	views  []time.Time // when each view came
	est    int64       // the estimated start in the newest view
}

func (a *launcherSession) Number() uint64 { return a.number }

func (a *launcherSession) User() server.User {
	return server.User{Name: fmt.Sprint("u", a.number%5), Cluster: "a"}
}

func (a *launcherSession) Send(m launcher.Message) { a.said <- m }

func (a *launcherSession) Close(m launcher.Message) {
	if m != nil {
		a.Send(m)
	}
}

func (a *launcherSession) say(m launcher.Message) {
	a.seq++
	a.events <- server.Event{Session: a, Seq: a.seq, Message: m}
}

// run exchanges messages with the server until ctx ends.
func (a *launcherSession) run(ctx context.Context, t *testing.T, hosts int, walltime int64) {
	a.say(&launcher.Hello{Version: 2, Speaks: []int{2}})
	for {
		var m launcher.Message
		select {
		case m = <-a.said:
		case <-ctx.Done():
			return
		}
		switch m := m.(type) {
		case *launcher.Welcome:
			a.say(&launcher.Subscribe{})
		case *launcher.Change:
			if a.views = append(a.views, time.Now()); len(a.views) == 1 {
				a.say(&launcher.Request{View: m.View, Hosts: []launcher.Hosts{{C: 0, N: hosts}}, Walltime: walltime})
				continue
			}
			a.est = m.Est
			a.say(&launcher.Ack{View: m.View})
		case *launcher.Okay, *launcher.Clusters:
		default:
			t.Errorf("launcher %d received %s: %+v", a.number, m.Type(), m)
			return
		}
	}
}

// launching runs the function `do` while n launchers wait on the world's cluster, and returns their
// sessions.
func (w *partsWorld) launching(n int, do func()) (all []*launcherSession) {
	w.t.Helper()
	j, err := loop.Open(filepath.Join(w.t.TempDir(), "delegate.db"))
	if err != nil {
		w.t.Fatal(err)
	}
	events := make(chan server.Event)
	running := loop.New(loop.Options{
		Clusters: []loop.Cluster{{Mailbox: w.box, Cluster: apps.Cluster{Name: "a", Speed: 1, Embedded: true}}}, Events: events, Journal: j, Clock: adapter.Wall{},
		Settings: apps.Settings{FairStart: 5, Timer: 1, Applications: 200, Answer: 30, Grace: 60, BringUp: 30},
	})
	life, end := context.WithCancel(w.t.Context())
	ended := make(chan error)
	go func() { ended <- running.Run(life) }()
	waiting, leave := context.WithCancel(w.t.Context())
	var left sync.WaitGroup
	for i := range n {
		a := &launcherSession{number: uint64(i + 1), said: make(chan launcher.Message, 100), events: events}
		all = append(all, a)
		left.Go(func() { a.run(waiting, w.t, 5+i, int64(600+37*i)) })
	}
	do()
	leave()
	left.Wait()
	end()
	if err := <-ended; err != nil {
		w.t.Error(err)
	}
	if err := j.Close(); err != nil {
		w.t.Error(err)
	}
	return all
}

// Launchers receive few views of a cluster on which nothing happens. Jobs without a known end, such
// as jobs past their limits that are not ended, look the same to launchers for half a minute.
func TestLaunchersReceiveFewViewsOfAClusterOnWhichNothingHappens(t *testing.T) {
	const jobs, waiting, minutes = 60, 50, 3
	servingParts(t, embedded.Options{Nodes: 64, Sweep: 24 * time.Hour}, func(w *partsWorld) {
		for range jobs {
			if _, err := w.Submit(embedded.JobSpec{User: "bob", Nodes: 1, Limit: 60, Runs: 7200}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2*time.Minute - time.Duration(w.second()%60)*time.Second)
		var from time.Time
		all := w.launching(waiting, func() {
			time.Sleep(time.Minute) // by then all launchers have sent their requests
			from = time.Now()
			time.Sleep(minutes * time.Minute)
		})
		for _, a := range all {
			var came [minutes]int
			for _, at := range a.views {
				if since := at.Sub(from); since >= 0 && since < minutes*time.Minute {
					came[int(since/time.Minute)]++
				}
			}
			for minute, n := range came {
				if n > 2 || n == 0 { // none at all would mean that the test itself is wrong
					t.Errorf("launcher %d has %d views in minute %d, want one or two", a.number, n, minute)
				}
			}
			if a.est == 0 {
				t.Errorf("launcher %d is not told when its request would start: it is not planned", a.number)
			}
		}
	})
}
