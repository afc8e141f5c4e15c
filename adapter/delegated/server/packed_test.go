package server

import (
	"strings"
	"testing"
	"testing/synctest"

	"accordion/adapter/session"
	"accordion/shim/launcher/link/linktest"
	"accordion/shim/seal"
	"accordion/shim/wire/launcher"
	"accordion/shim/wire/launcher/packed"
)

// With packed frames, the loop sends and receives the same messages as without packing. The Meter counts the packed bytes.
func TestFramesArePackedIfThePeerCanUnpackThem(t *testing.T) {
	bytes := map[int]int{}
	for _, deflate := range []int{0, packed.Version, packed.Version + 1} {
		synctest.Test(t, func(t *testing.T) {
			s := newSide(t)
			p, of := s.greet(launcher.Hello{Version: launcher.Version, Deflate: deflate})
			if p.packs != (deflate > 0) {
				t.Fatalf("hello says deflate %d, and frames are packed: %v", deflate, p.packs)
			}
			for view := range int64(20) {
				of.Send(change(view + 1))
				p.want(change(view + 1))
				p.send(&launcher.Ack{View: view + 1})
				if e := s.event(); e.Seq != view+2 || e.Message.(*launcher.Ack).View != view+1 {
					t.Fatalf("got %+v", e)
				}
			}
			p.conn.Close()
			s.gone(of)
			s.end()
			bytes[deflate] = s.meter.bytes
		})
	}
	if 3*bytes[packed.Version] > bytes[0] || bytes[packed.Version+1] > bytes[packed.Version]+8 {
		t.Errorf("bytes that were counted, by what hello says: %v", bytes)
	}
}

func TestFrameThatUnpacksToTooMuchIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		send func(p *peer)
		code string
	}{
		"a bomb": {func(p *peer) {
			p.write(p.pack.Pack(raw("\xdb\x00\xff\x00\x00" + strings.Repeat("\x00", 0xff0000))))
		}, launcher.CodeSize},
		"damaged": {func(p *peer) {
			b := p.pack.Pack(frame(p.t, 2, &launcher.Ack{View: 1}))
			p.write(append(b[:3], append([]byte{b[3] - 1}, b[4:len(b)-1]...)...))
		}, launcher.CodeFrame},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSide(t)
				p, of := s.greet(launcher.Hello{Version: launcher.Version, Deflate: packed.Version})
				c.send(p)
				p.refused(c.code, 0)
				p.ended()
				s.gone(of)
				s.end()
			})
		})
	}
}

// Over TCP, the proofs of frames are computed from the packed bytes.
func TestASessionOverTCPMayBePacked(t *testing.T) {
	s := serve(t, t.Context(), session.Options{})
	events := s.welcomed(t.Context())
	mine, err := seal.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	_, sealed := s.far(t, launcher.Hello{Version: 2, Key: mine.PublicKey().Bytes(), Deflate: packed.Version})
	m, _, err := linktest.Read(sealed, launcher.MostToClient)
	if err != nil {
		t.Fatal(err)
	}
	welcome := m.(*launcher.Welcome)
	stream, err := sealed.Stream(mine, welcome.Key)
	if err != nil || welcome.Deflate != packed.Version {
		t.Fatalf("%v, %+v", err, welcome)
	}
	var out packed.Packer
	var in packed.Unpacker
	for i := range int64(10) {
		if err := stream.WriteFrame(out.Pack(frame(t, i+2, &launcher.Ack{View: i + 1}))); err != nil {
			t.Fatal(err)
		}
		e := next(t, events)
		if ack, is := e.Message.(*launcher.Ack); !is || e.Seq != i+2 || ack.View != i+1 {
			t.Fatalf("got %+v", e)
		}
		e.Session.Send(change(i + 1))
		b, err := stream.ReadFrame(launcher.MostToClient)
		if err != nil {
			t.Fatal(err)
		}
		sent := len(b)
		if b, err = in.Unpack(b, launcher.MostToClient); err != nil {
			t.Fatal(err)
		}
		if m, _, err := launcher.Decode(b); err != nil || m.(*launcher.Change).View != i+1 || sent >= len(b) {
			t.Fatalf("got %+v, %v, in %d bytes of %d", m, err, sent, len(b))
		}
	}
}
