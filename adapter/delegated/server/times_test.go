package server

import (
	"context"
	"sync"
	"testing"
	"time"

	"accordion/shim/wire/launcher"
)

func TestQuietPeerIsPingedAndDeadPeerIsDisconnected(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		begin := time.Now()
		p, of := s.open()
		p.want(&launcher.Ping{})
		if took := time.Since(begin); took != 15*time.Second {
			t.Errorf("asked after %v", took)
		}
		p.send(&launcher.Pong{})
		p.want(&launcher.Ping{})
		p.want(&launcher.Ping{})
		if took := time.Since(begin); took != 45*time.Second {
			t.Errorf("asked for the third time after %v", took)
		}
		p.ended()
		if took := time.Since(begin); took != 60*time.Second {
			t.Errorf("left after %v, 45 s after it was heard last at 15 s", took)
		}
		s.gone(of)
	})
}

func TestPingIsAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		p, of := s.open()
		for range 100 {
			time.Sleep(14 * time.Second)
			p.send(&launcher.Ping{})
			p.want(&launcher.Pong{})
		}
		p.conn.Close()
		s.gone(of) // pings never reach the loop
	})
}

func TestPeerIsNotPingedBeforeItsWelcome(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		p := s.connect(context.Background(), 1001, frame(t, 1, &launcher.Hello{Version: 2}))
		of := s.event().Session
		time.Sleep(44 * time.Second)
		of.Send(&launcher.Welcome{Version: 2})
		p.want(&launcher.Welcome{Version: 2})
	})
}

func TestIncompleteFrameTimesOut(t *testing.T) {
	whole := frame(t, 2, &launcher.Ack{View: 1})
	for name, drip := range map[string]func(p *peer){
		"one byte":             func(p *peer) { p.write(whole[:1]) },
		"all but one byte":     func(p *peer) { p.write(whole[:len(whole)-1]) },
		"a byte every 900 ms ": func(p *peer) { dripped(p, whole, 900*time.Millisecond) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *side) {
				p, of := s.open()
				other, second := s.open()
				begin := time.Now()
				s.ends.Go(func() { drip(p) })
				p.refused(launcher.CodeFrame, 0)
				if took := time.Since(begin); took != frameTime {
					t.Errorf("given up after %v", took)
				}
				p.ended()
				s.gone(of)
				other.send(&launcher.Ack{View: 1})
				if e := s.event(); e.Session != second || e.Message == nil {
					t.Errorf("the other: %+v", e)
				}
			})
		})
	}
}

func dripped(p *peer, b []byte, every time.Duration) {
	for i := range b {
		if _, err := p.conn.Write(b[i : i+1]); err != nil {
			return
		}
		time.Sleep(every)
	}
}

func TestTruncatedFrameIsRefused(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		p, of := s.open()
		p.write(frame(t, 2, &launcher.Ack{View: 1})[:5])
		p.conn.Close()
		s.gone(of)
	})
}

func TestPeerThatReadsNothingIsCutOffAndOthersContinue(t *testing.T) {
	for name, send := range map[string]func(of Session){
		"one message, and not within 5 s": func(of Session) { of.Send(&launcher.Okay{To: 1}) },
		"more messages than may wait": func(of Session) {
			for i := range int64(maxQueue + 2) {
				of.Send(&launcher.Okay{To: i + 1})
			}
		},
		"more bytes than may wait": func(of Session) {
			steps := make([]int64, 600_000)
			for i := range steps {
				steps[i] = int64(1_800_000_000 + i)
			}
			for range 5 {
				of.Send(&launcher.Change{View: 1, All: []launcher.ClusterChange{{Steps: steps}}})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *side) {
				p, of := s.open()
				other, second := s.open()
				begin := time.Now()
				send(of)
				if took := time.Since(begin); took != 0 {
					t.Errorf("the loop waited for %v", took)
				}
				second.Send(&launcher.Okay{To: 9})
				other.want(&launcher.Okay{To: 9})
				s.gone(of)
				if took := time.Since(begin); took > writeTime+time.Second {
					t.Errorf("cut off after %v", took)
				}
				p.conn.Close()
			})
		})
	}
}

func TestLastMessageToPeerThatReadsNothingDoesNotBlock(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		_, of := s.open()
		begin := time.Now()
		for i := range int64(maxQueue / 2) {
			of.Send(&launcher.Okay{To: i + 1})
		}
		time.Sleep(time.Second)
		of.Close(&launcher.End{Why: launcher.WhySilent})
		s.gone(of)
		s.life()
		s.ends.Wait()
		if took := time.Since(begin); took > time.Second+2*writeTime {
			t.Errorf("it took %v", took)
		}
	})
}

func TestMessageThatIsTooLongEndsTheSession(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		p, of := s.open()
		of.Send(&launcher.Change{View: 1, All: []launcher.ClusterChange{{Steps: make([]int64, launcher.MostToClient)}}})
		p.ended()
		s.gone(of)
	})
}

func TestSlowLoopDoesNotDisconnectPeers(t *testing.T) {
	bubble(t, func(t *testing.T, s *side) {
		p, _ := s.open()
		p.send(&launcher.Ack{View: 1})
		time.Sleep(10 * time.Minute)
		s.event()
		p.send(&launcher.Ack{View: 2})
		if e := s.event(); e.Seq != 3 {
			t.Errorf("got %+v", e)
		}
	})
}

func TestAFloodIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		every time.Duration
		least int // least number of messages that must be accepted
		flood bool
	}{
		"at once":                 {0, burst, true},
		"100 a second":            {10 * time.Millisecond, 2*burst - 10, true},
		"as fast as is sustained": {time.Second / sustained, 5000, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *side) {
				p, _ := s.open()
				taken := 0
				s.ends.Go(func() {
					for range 5000 {
						time.Sleep(c.every)
						p.seq++
						if _, err := p.conn.Write(frame(t, p.seq, &launcher.Ack{View: 1})); err != nil {
							return
						}
					}
					p.conn.Close()
				})
				var reads sync.WaitGroup
				reads.Go(func() {
					if c.flood {
						p.refused(launcher.CodeFlood, 0)
					}
					p.ended()
				})
				for e := s.event(); e.Message != nil; e = s.event() {
					taken++
				}
				reads.Wait()
				if taken < c.least || c.flood && taken > c.least+20 {
					t.Errorf("%d were taken, want about %d", taken, c.least)
				}
			})
		})
	}
}
