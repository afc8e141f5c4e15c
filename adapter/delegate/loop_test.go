package delegate_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegate"
	"accordion/adapter/launchers"
	"accordion/adapter/part"
	"accordion/shim/wire/launcher"
)

// session is one whose peer is the test.
type session struct {
	number uint64
	mu     sync.Mutex
	heard  []launcher.Message
	closed bool
}

func (s *session) Number() uint64       { return s.number }
func (s *session) User() launchers.User { return launchers.User{Name: "ann", Cluster: "a"} }
func (s *session) Send(m launcher.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, m)
}

func (s *session) Close(m launcher.Message) {
	if m != nil {
		s.Send(m)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// last is the newest message of a type; nil: none.
func last[M launcher.Message](s *session) (m M) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range s.heard {
		if y, ok := x.(M); ok {
			m = y
		}
	}
	return m
}

// loop is a loop on one embedded cluster of four hosts, which does what it is ordered.
type loop struct {
	t      *testing.T
	path   string
	events chan launchers.Event
	box    *part.Mailbox
	stop   func()
}

func (l *loop) begin() {
	j, err := delegate.Open(l.path)
	if err != nil {
		l.t.Fatal(err)
	}
	l.box = part.NewMailbox()
	d := delegate.New(delegate.Options{
		Clusters: []delegate.Cluster{{Name: "a", Speed: 1, Mailbox: l.box, Embedded: true}},
		Events:   l.events, Journal: j, Clock: adapter.Wall{},
		Settings: delegate.Settings{FairStart: 5 * time.Second, Timer: time.Second, Applications: 200, Answer: 30 * time.Second,
			Grace: time.Minute, BringUp: 30 * time.Second},
	})
	ctx, cancel := context.WithCancel(l.t.Context())
	done := make(chan error)
	go func() { done <- d.Run(ctx) }()
	go l.obey(ctx)
	l.stop = func() {
		cancel()
		if err := <-done; err != nil {
			l.t.Error(err)
		}
		if err := j.Close(); err != nil {
			l.t.Error(err)
		}
	}
}

func (l *loop) obey(ctx context.Context) {
	for adapter.Wait(ctx, adapter.Wall{}, time.Second) == nil {
		b := part.Board{Read: time.Now().Unix(), Hosts: 4}
		for _, o := range l.box.Orders() {
			s := part.Standing{Application: o.Application, Try: o.Try}
			switch o.Want {
			case part.Prepare:
				s.Stand = part.Prepared
			case part.Start, part.Run:
				s.Stand = part.Running
			case part.End:
				s.Stand = part.Over
			case part.Ghost:
				s.Stand = part.Ghosted
			}
			for i := range o.Hosts {
				s.Nodes = append(s.Nodes, fmt.Sprint("n", i+1))
			}
			b.Parts = append(b.Parts, s)
		}
		l.box.Show(b)
	}
}

func (l *loop) say(s *session, seq int64, m launcher.Message) {
	l.events <- launchers.Event{Session: s, Seq: seq, Message: m}
}

func TestAnApplicationStartsAndIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &loop{t: t, path: filepath.Join(t.TempDir(), "delegate.db"), events: make(chan launchers.Event)}
		l.begin()
		one, two := &session{number: 1}, &session{number: 2}
		l.say(one, 1, &launcher.Hello{Version: 2, Speaks: []int{2}})
		time.Sleep(3 * time.Second)
		l.say(one, 2, &launcher.Subscribe{})
		time.Sleep(2 * time.Second)
		view := last[*launcher.Change](one)
		if view == nil {
			t.Fatalf("no view came: %v", one.heard)
		}
		l.say(one, 3, &launcher.Request{View: view.View, Tag: 1, Hosts: []launcher.Hosts{{C: 0, N: 3}}, Walltime: 100})
		time.Sleep(5 * time.Second)
		if last[*launcher.Start](one) == nil || last[*launcher.Go](one) == nil {
			t.Fatalf("it did not start: %v", one.heard)
		}
		if h := last[*launcher.Go](one).Hosts; len(h) != 1 || len(h[0].Hosts) != 3 {
			t.Errorf("it got the hosts %v", h)
		}

		// Another waits for its end, over a restart.
		l.say(two, 1, &launcher.Hello{Version: 2, Speaks: []int{2}})
		l.say(two, 2, &launcher.Subscribe{})
		time.Sleep(2 * time.Second)
		l.say(two, 3, &launcher.Request{View: last[*launcher.Change](two).View, Tag: 7, Hosts: []launcher.Hosts{{C: 0, N: 4}}, Walltime: 50})
		time.Sleep(3 * time.Second)
		snapshot, err := delegate.ReadSnapshot(l.path)
		if err != nil || len(snapshot.Applications) != 2 || snapshot.Applications[1].Estimate != last[*launcher.Change](two).Est ||
			snapshot.Applications[0].State != "started" {
			t.Errorf("%+v is seen, %v", snapshot, err)
		}
		l.stop()
		l.begin()
		three, four := &session{number: 3}, &session{number: 4}
		l.say(three, 1, &launcher.Hello{Version: 2, App: 1})
		l.say(four, 1, &launcher.Hello{Version: 2, App: 2})
		time.Sleep(3 * time.Second)
		if w := last[*launcher.Welcome](four); w == nil || w.Tag != 7 || w.App != 2 {
			t.Errorf("the second is welcomed by %+v", w)
		}
		if last[*launcher.Start](three) == nil || last[*launcher.Start](four) != nil {
			t.Errorf("after the restart the first was told %v, the second %v", three.heard, four.heard)
		}
		l.say(three, 2, &launcher.Done{})
		time.Sleep(10 * time.Second)
		if !three.closed || last[*launcher.Go](four) == nil {
			t.Errorf("the first was done, and the second told %v", four.heard)
		}
		l.say(four, 2, &launcher.Done{})
		time.Sleep(10 * time.Second)
		if s, err := delegate.ReadSnapshot(l.path); err != nil || len(s.Applications) != 0 {
			t.Errorf("left is %+v, %v", s, err)
		}
		l.stop()
	})
}
