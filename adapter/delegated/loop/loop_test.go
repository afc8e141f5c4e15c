package loop_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/adapter/delegated/apps"
	"accordion/adapter/delegated/loop"
	"accordion/adapter/delegated/mailbox"
	"accordion/adapter/delegated/server"
	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/adapter/view"
	"accordion/shim/wire/launcher"
)

// session is a server.Session that records the messages to its peer.
type session struct {
	number uint64
	mu     sync.Mutex
	heard  []launcher.Message
	closed bool
}

func (s *session) Number() uint64    { return s.number }
func (s *session) User() server.User { return server.User{Name: "ann", Cluster: "a"} }
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

// over reports whether the loop has closed the session.
func (s *session) over() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// last returns the newest message of type M, or nil.
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

// applications is a loop with one embedded cluster of four hosts that carries out the loop's orders.
type applications struct {
	t      *testing.T
	path   string
	events chan server.Event
	box    *mailbox.Mailbox
	clock  adapter.Clock
	stop   func()
}

// settable is a wall clock that can be set.
type settable struct {
	mu    sync.Mutex
	ahead time.Duration
	real  map[time.Time]time.Time // the wall clock's time for each time that was read
}

func (c *settable) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	read := now.Add(c.ahead).Round(0)
	c.real[read] = now
	return read
}

func (c *settable) After(d time.Duration) <-chan time.Time { return time.After(d) }

func (c *settable) Passed(from, to time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.real[to].Sub(c.real[from])
}

func (c *settable) set(ahead time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead = ahead
}

func (l *applications) begin() {
	j, err := loop.Open(l.path)
	if err != nil {
		l.t.Fatal(err)
	}
	l.box = mailbox.New()
	if l.clock == nil {
		l.clock = adapter.Wall{}
	}
	d := loop.New(loop.Options{
		Clusters: []loop.Cluster{{Mailbox: l.box, Cluster: apps.Cluster{Name: "a", Speed: 1, Embedded: true}}},
		Events:   l.events, Journal: j, Clock: l.clock,
		Settings: apps.Settings{FairStart: 5, Timer: 1, Applications: 200, Answer: 30,
			Grace: 60, BringUp: 30},
	})
	ctx, cancel := context.WithCancel(l.t.Context())
	done := make(chan error)
	go func() { done <- d.Run(ctx) }()
	go obey(ctx, l.box, l.clock)
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

func obey(ctx context.Context, box *mailbox.Mailbox, clock adapter.Clock) {
	for adapter.Wait(ctx, adapter.Wall{}, time.Second) == nil {
		b := mailbox.ClusterState{Read: clock.Now().Unix(), Hosts: 4}
		for _, o := range box.Orders() {
			s := mailbox.Standing{Application: o.Application, Try: o.Try}
			switch o.Want {
			case mailbox.Prepare:
				s.Stand = mailbox.Prepared
			case mailbox.Start, mailbox.Run:
				s.Stand = mailbox.Running
			case mailbox.End:
				s.Stand = mailbox.Over
			case mailbox.Ghost:
				s.Stand = mailbox.Ghosted
			}
			for i := range o.Hosts {
				s.Nodes = append(s.Nodes, fmt.Sprint("n", i+1))
			}
			b.Parts = append(b.Parts, s)
		}
		box.Show(b)
	}
}

func (l *applications) say(s *session, seq int64, m launcher.Message) {
	l.events <- server.Event{Session: s, Seq: seq, Message: m}
}

func TestApplicationStartsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &applications{t: t, path: filepath.Join(t.TempDir(), "delegate.db"), events: make(chan server.Event)}
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

		// Another application waits for the end of the first one, also during a restart of the loop.
		l.say(two, 1, &launcher.Hello{Version: 2, Speaks: []int{2}})
		l.say(two, 2, &launcher.Subscribe{})
		time.Sleep(2 * time.Second)
		l.say(two, 3, &launcher.Request{View: last[*launcher.Change](two).View, Tag: 7, Hosts: []launcher.Hosts{{C: 0, N: 4}}, Walltime: 50})
		time.Sleep(3 * time.Second)
		snapshot, err := l.snapshot()
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
		if !three.over() || last[*launcher.Go](four) == nil {
			t.Errorf("the first was done, and the second told %v", four.heard)
		}
		l.say(four, 2, &launcher.Done{})
		time.Sleep(10 * time.Second)
		if s, err := l.snapshot(); err != nil || len(s.Applications) != 0 {
			t.Errorf("left is %+v, %v", s, err)
		}
		l.stop()
	})
}

// The clock is set while one application runs and another one waits. The launchers of both reconnect. The first application keeps the
// rest of its walltime, and the second one starts after it.
func TestApplicationsContinueWhenTheClockIsSet(t *testing.T) {
	for name, by := range map[string]time.Duration{"back": -time.Hour, "forward": 30 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := &settable{real: map[time.Time]time.Time{}}
				l := &applications{t: t, path: filepath.Join(t.TempDir(), "delegate.db"), events: make(chan server.Event), clock: clock}
				l.begin()
				defer func() { l.stop() }()
				var former []*session
				for i, hosts := range []int{3, 4} {
					s := &session{number: uint64(i + 1)}
					former = append(former, s)
					l.say(s, 1, &launcher.Hello{Version: 2, Speaks: []int{2}})
					time.Sleep(2 * time.Second)
					l.say(s, 2, &launcher.Subscribe{})
					time.Sleep(2 * time.Second)
					l.say(s, 3, &launcher.Request{View: last[*launcher.Change](s).View, Tag: int64(i), Hosts: []launcher.Hosts{{C: 0, N: hosts}}, Walltime: 100})
					time.Sleep(5 * time.Second)
				}
				if last[*launcher.Go](former[0]) == nil || last[*launcher.Start](former[1]) != nil {
					t.Fatalf("they heard %v and %v", former[0].heard, former[1].heard)
				}
				clock.set(by)
				time.Sleep(5 * time.Second)
				one, two := &session{number: 3}, &session{number: 4}
				for i, s := range []*session{one, two} {
					if !former[i].over() {
						t.Errorf("session %d was not closed", i)
					}
					l.say(s, 1, &launcher.Hello{Version: 2, App: int64(i + 1)})
				}
				time.Sleep(5 * time.Second)
				if w := last[*launcher.Welcome](two); w == nil || w.Tag != 1 || last[*launcher.Change](two) == nil || last[*launcher.Start](two) != nil {
					t.Errorf("the one that waits heard %v", two.heard)
				} else if est := last[*launcher.Change](two).Est - clock.Now().Unix(); est < 60 || est > 100 {
					t.Errorf("it would start in %d s", est)
				}
				if last[*launcher.Go](one) == nil {
					t.Errorf("the one that runs heard %v", one.heard)
				}
				time.Sleep(60 * time.Second) // until about 87 s of its 100 s have passed
				if e := last[*launcher.End](one); e != nil {
					t.Errorf("it was ended too early: %+v", e)
				}
				time.Sleep(30 * time.Second)
				if e := last[*launcher.End](one); e == nil || e.Why != launcher.WhyOverrun {
					t.Errorf("the one that ran heard %v", one.heard)
				}
				if c := last[*launcher.Change](two); c != nil {
					l.say(two, 2, &launcher.Ack{View: c.View})
				}
				time.Sleep(40 * time.Second)
				if last[*launcher.Go](two) == nil {
					t.Errorf("the one that waited heard %v", two.heard)
				}
			})
		})
	}
}

// snapshot returns what the journal shows of applications.
func (l *applications) snapshot() (view.Applications, error) {
	j, err := journal.OpenReadOnly(l.path)
	if err != nil {
		return view.Applications{}, err
	}
	defer j.Close()
	report, err := status.ReadApplications(j)
	return report.Applications, err
}
