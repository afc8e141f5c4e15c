package server

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter/session"
	"accordion/shim/wire/launcher"
)

// bubble runs a test of a server in virtual time.
func bubble(t *testing.T, test func(t *testing.T, s *side)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newSide(t)
		defer s.end()
		test(t, s)
	})
}

func TestMessagesReachTheLoopInOrderWithTheirUser(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		hello := &launcher.Hello{Version: launcher.Version, Speaks: []int{2}, Name: "app"}
		p := s.connect(context.Background(), 1001, frame(t, 1, hello))
		e := s.event()
		if want := (User{Name: "alice", Cluster: "a", PID: 7}); e.Session.User() != want {
			t.Errorf("user %+v, want %+v", e.Session.User(), want)
		}
		if !reflect.DeepEqual(e.Message, hello) || e.Seq != 1 {
			t.Errorf("got %+v", e)
		}
		for i := range 20 {
			ack := &launcher.Ack{View: int64(i + 1)}
			p.send(ack)
			if e := s.event(); e.Seq != p.seq || !reflect.DeepEqual(e.Message, ack) {
				t.Fatalf("got %+v", e)
			}
		}
		p.conn.Close()
		s.gone(e.Session)
		e.Session.Send(&launcher.Ping{}) // has no effect, because the session has ended
		e.Session.Close(nil)
		if n := s.meter.of("in ack"); n != 20 {
			t.Errorf("%d acks were counted", n)
		}
	})
}

func TestEachSessionHasANumberOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		_, a := s.open()
		_, b := s.open()
		if a.Number() == b.Number() {
			t.Errorf("both have %d", a.Number())
		}
	})
}

func TestAUserWithoutANameIsRefused(t *testing.T) {
	hello := &launcher.Hello{Version: launcher.Version}
	bubble(t, func(t *testing.T, s *side) {
		p := s.connect(context.Background(), 1002, frame(t, 1, hello))
		p.refused(launcher.CodeAuth, 1)
		p.ended()
	})
	synctest.Test(t, func(t *testing.T) {
		s := newSide(t)
		hang := make(chan struct{})
		var asked atomic.Int32
		s.door = s.Of("a", func(uint32) (string, error) { asked.Add(1); <-hang; return "", errors.New("too late") })
		begin := time.Now()
		for range 3 {
			p := s.connect(context.Background(), 1001, frame(t, 1, hello))
			p.refused(launcher.CodeAuth, 1)
			p.ended()
		}
		if took := time.Since(begin); took != 3*session.NamePatience || asked.Load() != 1 {
			t.Errorf("a directory that hangs: refused after %v, asked %d times", took, asked.Load())
		}
		close(hang)
		s.end()
	})
}

// raw returns a frame with the given body.
func raw(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestInvalidFramesAreRefusedAndDoNotReachTheLoop(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		code  string
		to    int64
		field string
	}{
		"too long":           {bytes: binary.BigEndian.AppendUint32(nil, launcher.MostToServer+1), code: launcher.CodeSize},
		"an HTTP request":    {bytes: []byte("GET / HTTP/1.1\r\n\r\n"), code: launcher.CodeSize},
		"no msgpack":         {bytes: raw("\xc1\xc1\xc1"), code: launcher.CodeFrame},
		"empty":              {bytes: raw(""), code: launcher.CodeFrame},
		"no map":             {bytes: raw("\x93\x01\x02\x03"), code: launcher.CodeFrame},
		"no type":            {bytes: raw("\x81\xa1s\x02"), code: launcher.CodeFrame},
		"deep":               {bytes: raw("\x83\xa1t\xa3ack\xa1s\x02\xa1x" + strings.Repeat("\x91", 60000) + "\x00"), code: launcher.CodeFrame},
		"a map of 2^32":      {bytes: raw("\xdf\xff\xff\xff\xff"), code: launcher.CodeFrame},
		"an unknown type":    {bytes: raw("\x82\xa1t\xa4sing\xa1s\x02"), code: launcher.CodeType, to: 2},
		"a server's message": {bytes: frame(t, 2, &launcher.Welcome{Version: 2}), code: launcher.CodeType, to: 2},
		"a refusal":          {bytes: frame(t, 2, &launcher.Refuse{Code: "x"}), code: launcher.CodeType, to: 2},
		"hello again":        {bytes: frame(t, 2, &launcher.Hello{Version: 2}), code: launcher.CodeState, to: 2},
		"no view":            {bytes: frame(t, 2, &launcher.Ack{}), code: launcher.CodeView, to: 2, field: "view"},
		"no walltime":        {bytes: frame(t, 2, &launcher.Request{View: 1, Hosts: []launcher.Hosts{{C: 0, N: 1}}}), code: launcher.CodeWalltime, to: 2, field: "walltime"},
		"no hosts":           {bytes: frame(t, 2, &launcher.Request{View: 1, Walltime: 1}), code: launcher.CodeHosts, to: 2, field: "hosts"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *side) {
				p, of := s.open()
				go p.conn.Write(c.bytes) // a server that refuses early does not read everything
				if r := p.refused(c.code, c.to); r.Field != c.field {
					t.Errorf("field %q, want %q", r.Field, c.field)
				}
				if launcher.Final(c.code) {
					p.ended()
					s.gone(of)
					return
				}
				p.seq = 2
				p.send(&launcher.Ack{View: 3})
				if e := s.event(); e.Seq != 3 {
					t.Errorf("the next event is %+v", e)
				}
			})
		})
	}
}

func TestAFirstFrameThatIsNoHelloIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		first []byte
		code  string
		to    int64
	}{
		"another message": {frame(t, 1, &launcher.Ack{View: 1}), launcher.CodeFrame, 1},
		"a later version": {frame(t, 1, &launcher.Hello{Version: 3}), launcher.CodeVersion, 1},
		"no number":       {raw("\x82\xa1v\x02\xa1t\xa5hello"), launcher.CodeFrame, 0},
		"a long name":     {frame(t, 1, &launcher.Hello{Version: 2, Name: strings.Repeat("x", 65)}), launcher.CodeSize, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *side) {
				p := s.connect(context.Background(), 1001, c.first)
				r := p.refused(c.code, c.to)
				if c.code == launcher.CodeVersion && !reflect.DeepEqual(r.Speaks, []int{2}) {
					t.Errorf("speaks %v", r.Speaks)
				}
				p.ended()
				select {
				case e := <-s.Events():
					t.Errorf("the loop got %+v", e)
				case <-time.After(time.Minute):
				}
			})
		})
	}
}

func TestSessionBeyondTheLimitIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		ours, theirs := net.Pipe()
		p := &peer{t: t, conn: theirs}
		s.ends.Go(func() {
			s.door.Full(ours, frame(t, 1, &launcher.Hello{Version: 2}), "9 sessions are open")
		})
		if r := p.refused(launcher.CodeFull, 1); !strings.Contains(r.Text, "9 sessions") {
			t.Errorf("got %q", r.Text)
		}
		p.ended()
	})
}

func TestTheLastMessageIsWrittenAndTheSessionEnds(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		p, of := s.open()
		of.Send(&launcher.Okay{To: 1})
		of.Close(&launcher.End{Why: launcher.WhyNewer})
		of.Send(&launcher.Okay{To: 2}) // has no effect, because the session has been closed
		p.want(&launcher.Okay{To: 1})
		p.want(&launcher.End{Why: launcher.WhyNewer})
		p.ended()
		s.gone(of)
	})
}

func TestASessionThatTheLoopClosesWhileItsMessageWaitsEnds(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		p, of := s.open()
		p.send(&launcher.Ack{View: 1})
		synctest.Wait() // the reader waits for the loop
		of.Close(nil)
		p.ended()
		synctest.Wait()
		if e := s.event(); e.Message != nil {
			e = s.event() // the message was already on its way
			if e.Message != nil {
				t.Errorf("got %+v", e)
			}
		}
	})
}

func TestSessionsEndWithTheirServerOrWithTheLoop(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		ctx, cancel := context.WithCancel(t.Context())
		p := s.connect(ctx, 1001, frame(t, 1, &launcher.Hello{Version: 2}))
		of := s.event().Session
		other, _ := s.open()
		cancel() // one cluster's session server ends
		p.ended()
		s.gone(of)
		other.send(&launcher.Ack{View: 1})
		synctest.Wait() // a reader waits for a loop
		s.life()        // the loop ends
		other.ended()
	})
}

func TestMessagesAreCopiedOnceTheyAreSent(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		p, of := s.open()
		m := &launcher.Change{View: 1, Now: 5, All: []launcher.ClusterChange{{C: 0, Kind: 4, From: 5, Steps: []int64{5, 1}}}}
		of.Send(m)
		m.All[0].Steps[1] = 77
		if got := p.read().(*launcher.Change); got.All[0].Steps[1] != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestPartReceivesTheNameOfItsCluster(t *testing.T) {
	s := newSide(t)
	defer s.end()
	for says, want := range map[string]string{"": "a", "b": "b"} {
		p := s.connect(context.Background(), 1001, frame(t, 1, &launcher.Hello{Version: launcher.Version, Part: &launcher.Part{Cluster: says, Job: 7}}))
		e := s.event()
		if h, is := e.Message.(*launcher.Hello); !is || h.Part.Cluster != want {
			t.Errorf("the loop hears %+v", e.Message)
		}
		e.Session.Send(&launcher.Welcome{Version: launcher.Version, App: 1, Pace: 1})
		if w, is := p.read().(*launcher.Welcome); !is || w.Cluster != want {
			t.Errorf("a part that says %q is told %q", says, w.Cluster)
		}
		p.conn.Close()
		s.event()
	}
}
