package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/packed"
)

// After a valid hello, a peer sends arbitrary bytes, in pieces of any size. The peer and the loop must receive only valid messages, and
// each must see the end of the session exactly once. To run the test for longer:
//
//	go test -run xxx -fuzz FuzzASession -fuzzminimizetime 1x ./adapter/delegated/server
func FuzzASession(f *testing.F) {
	f.Add([]byte{}, byte(0))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"), byte(3))
	f.Add(raw("\xc1"), byte(1))
	f.Add(raw("\x82\xa1t\xa4sing\xa1s\x02"), byte(0))
	f.Add(raw("\x83\xa1t\xa3ack\xa1s\x02\xa1x"+strings.Repeat("\x91", 300)), byte(0))
	f.Add(raw("\xdf\xff\xff\xff\xff\xa1t\xa3ack"), byte(7))
	var all []byte
	for i, m := range []launcher.Message{
		&launcher.Subscribe{Most: 5, Jobs: []launcher.Part{{Cluster: "a", Job: 1}}}, &launcher.Ack{View: 1}, &launcher.Ack{}, &launcher.List{},
		&launcher.Request{View: 1, Hosts: []launcher.Hosts{{C: 0, N: 4}}, Walltime: 60}, &launcher.Welcome{}, &launcher.Hello{Version: 2},
		&launcher.Ping{}, &launcher.Pong{}, &launcher.Ready{Job: 1}, &launcher.Done{}, &launcher.Parts{Jobs: []launcher.Part{{Cluster: "a", Job: 1}}},
	} {
		all = append(all, frame(f, int64(i+2), m)...)
	}
	f.Add(all, byte(0))
	f.Add(all[:len(all)-3], byte(5))
	f.Add(bytes.Repeat(frame(f, 2, &launcher.Pong{}), 300), byte(0))
	f.Fuzz(func(t *testing.T, sent []byte, piece byte) {
		synctest.Test(t, func(t *testing.T) { fuzzed(t, sent, int(piece), 0) })
	})
}

// The property of FuzzASession also holds for a session with packed frames.
func FuzzAPackedSession(f *testing.F) {
	var p packed.Packer
	var all []byte
	for i, m := range []launcher.Message{
		&launcher.Subscribe{Most: 5}, &launcher.Ack{View: 1}, &launcher.Request{View: 1, Hosts: []launcher.Hosts{{C: 0, N: 4}}, Walltime: 60}, &launcher.Ping{},
	} {
		all = append(all, p.Pack(frame(f, int64(i+2), m))...)
	}
	f.Add(all, byte(0))
	f.Add(append(all, frame(f, 6, &launcher.Ping{})...), byte(3))
	f.Add(all[:len(all)-2], byte(0))
	f.Add(raw("\xc1"), byte(1))
	f.Add(raw("\xc1\xff\xff"), byte(0))
	var bomb packed.Packer
	f.Add(bomb.Pack(raw("\xdb\x00\x0f\x00\x00"+strings.Repeat("0", 0xf0000))), byte(0))
	f.Fuzz(func(t *testing.T, sent []byte, piece byte) {
		synctest.Test(t, func(t *testing.T) { fuzzed(t, sent, int(piece), packed.Version) })
	})
}

// fuzzed plays a session whose peer sends the bytes `sent` in pieces of `piece` bytes (0 means all in one piece), and then waits for the
// end of the session.
func fuzzed(t *testing.T, sent []byte, piece, deflate int) {
	s := newSide(t)
	p := s.connect(context.Background(), 1001, frame(t, 1, &launcher.Hello{Version: 2, Deflate: deflate}))
	of := s.event().Session
	of.Send(&launcher.Welcome{Version: 2})

	var peer sync.WaitGroup
	peer.Go(func() {
		for b := range slicesOf(sent, piece) {
			if _, err := p.conn.Write(b); err != nil {
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	peer.Go(func() { hears(t, p) })
	for e := s.event(); e.Message != nil; e = s.event() {
		if launcher.Check(e.Message) != nil || !launcher.ToServer(e.Message) || e.Session != of {
			t.Errorf("the loop got %+v", e)
		}
	}
	peer.Wait()
	s.end()
	select {
	case e := <-s.Events():
		t.Errorf("after the end: %+v", e)
	default:
	}
}

// hears reads messages until the end of the session. The last message must be a refusal that ends the session, unless the session ended
// because the peer counted as dead.
func hears(t *testing.T, p *peer) {
	over := false
	for {
		m, seq, err := p.message()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("not even a message: %v", err)
			return
		}
		if p.got++; seq != p.got || over {
			t.Errorf("%+v has number %d, want %d; after the last: %v", m, seq, p.got, over)
		}
		if r, is := m.(*launcher.Refuse); is {
			over = launcher.Final(r.Code)
		}
	}
}

func slicesOf(b []byte, piece int) func(yield func([]byte) bool) {
	if piece == 0 {
		piece = max(1, len(b))
	}
	return func(yield func([]byte) bool) {
		for begin := 0; begin < len(b); begin += piece {
			if !yield(b[begin:min(begin+piece, len(b))]) {
				return
			}
		}
	}
}
