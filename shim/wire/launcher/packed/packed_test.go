package packed

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
)

// framed puts the length before a message.
func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

// change returns a typical view of `clusters` clusters with different steps.
func change(t testing.TB, seq int64, clusters int) []byte {
	const now = 1_790_000_000
	m := &launcher.Change{View: seq, Base: seq - 1, Now: now + 7*seq, Est: now + 900 + seq}
	for c := range clusters {
		one := launcher.ClusterChange{C: c, Kind: launcher.KindOccupation, From: m.Now}
		for i := range int64(4) {
			one.Steps = append(one.Steps, m.Now+i*(301+17*int64(c)), (128-37*i+int64(c))&0x7f)
		}
		m.All = append(m.All, one)
	}
	frame, err := launcher.Append(nil, seq, m)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// All frames arrive unchanged, and packed frames are never longer, even if some frames of the session are not packed.
func TestWhatIsPackedIsUnpackedAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p Packer
		var u Unpacker
		words := []string{"", "\x82\xa1t\xa4ping\xa1s\x02", "\xa5steps\x94\xcej", strings.Repeat("n17", 2000), Dictionary, "\xc0"}
		for range rapid.IntRange(1, 12).Draw(t, "frames") {
			message := []byte(rapid.SampledFrom(words).Draw(t, "word"))
			message = append(message, rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "more")...)
			if len(message) > 0 && message[0] == mark {
				message[0] = 0x80 // not msgpack
			}
			frame := framed(message)
			was := bytes.Clone(frame)
			sent := p.Pack(frame)
			if !bytes.Equal(frame, was) || len(sent) > len(frame) || int(binary.BigEndian.Uint32(sent)) != len(sent)-header {
				t.Fatalf("%q becomes %q", frame, sent)
			}
			if rapid.IntRange(0, 4).Draw(t, "plain") == 0 {
				sent = frame
			}
			got, err := u.Unpack(sent, launcher.MostToServer)
			if err != nil || !bytes.Equal(got, was) {
				t.Fatalf("%q arrives as %q, %v", was, got, err)
			}
			if !bytes.Equal(p.past.dictionary(), u.past.dictionary()) || len(p.past.kept) > Window || cap(p.past.kept) > Window {
				t.Fatalf("the two ends remember %d and %d bytes", len(p.past.kept), len(u.past.kept))
			}
		}
	})
}

func TestViewsAreMuchShorterPacked(t *testing.T) {
	var p Packer
	all, sent := 0, 0
	for seq := range int64(20) {
		frame := change(t, seq+1, 8)
		all, sent = all+len(frame), sent+len(p.Pack(frame))
	}
	if 2*sent > all {
		t.Errorf("%d bytes are sent of %d", sent, all)
	}
}

func TestSmallFramesDoNotGrow(t *testing.T) {
	for _, m := range []launcher.Message{&launcher.Ping{}, &launcher.Pong{}, &launcher.Okay{To: 7}, &launcher.Ack{View: 70_000}, &launcher.Done{}} {
		var p Packer
		frame, err := launcher.Append(nil, 300, m)
		if err != nil {
			t.Fatal(err)
		}
		sent := p.Pack(frame)
		t.Logf("%s: %d bytes of %d", m.Type(), len(sent), len(frame))
		if len(sent) > len(frame) {
			t.Errorf("%s has %d bytes and is sent as %d", m.Type(), len(frame), len(sent))
		}
	}
}

// The limit is for the unpacked size.
func TestABombIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		size, most int
		refused    bool
	}{
		"to the server": {16 << 20, launcher.MostToServer, true}, "as long as it may be": {launcher.MostToServer, launcher.MostToServer, false},
		"a byte too long": {launcher.MostToServer + 1, launcher.MostToServer, true}, "to the client": {launcher.MostToClient + 1, launcher.MostToClient, true},
	} {
		var p Packer
		sent := p.Pack(framed(make([]byte, c.size)))
		if len(sent) > launcher.MostToServer {
			t.Fatalf("%s: it has %d bytes packed", name, len(sent))
		}
		var u Unpacker
		_, err := u.Unpack(sent, c.most)
		var long *wire.TooLongError
		if refused := errors.As(err, &long); refused != c.refused || !refused && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r := launcher.Refusal(err); c.refused && (r == nil || r.Code != launcher.CodeSize) {
			t.Errorf("%s: the refusal is %+v", name, r)
		}
	}
}

func TestWhatIsDamagedIsRefused(t *testing.T) {
	var p Packer
	good := p.Pack(change(t, 1, 8))[header:]
	long := []byte{}
	for i := range 5000 {
		long = strconv.AppendInt(append(long, ' '), int64(i*i), 10)
	}
	foreign := Packer{past{kept: long[len(long)-30_000:]}}
	for name, payload := range map[string][]byte{
		"cut":             good[:len(good)-1],
		"nothing":         {mark},
		"a byte too many": append(bytes.Clone(good), 0),
		"no deflate":      {mark, 0xff, 0xff},
		"of another past": foreign.Pack(framed(foreign.past.kept[:200]))[header:],
		"no end":          {mark, 0x00, 0x00, 0x00, 0xff, 0xff}, // a block that is not marked as the last one
	} {
		var u Unpacker
		got, err := u.Unpack(framed(payload), launcher.MostToServer)
		if r := launcher.Refusal(err); r == nil || r.Code != launcher.CodeFrame {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// Unpacking any bytes gives an error, or a frame within the limits after which both ends can continue. To search for longer, run go test -run xxx -fuzz
// FuzzUnpack ./shim/wire/launcher/packed
func FuzzUnpack(f *testing.F) {
	var p Packer
	first, second := p.Pack(change(f, 1, 8))[header:], p.Pack(change(f, 2, 3))[header:]
	f.Add(first, second)
	f.Add(first[:len(first)/2], second)
	f.Add([]byte{mark}, []byte("\x82\xa1t\xa4ping\xa1s\x02"))
	f.Add([]byte("\xc1\x03\x00"), []byte("\xc1\xff"))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		const most = 4096
		var u Unpacker
		var back Packer
		var again Unpacker
		for _, payload := range [][]byte{one, two} {
			got, err := u.Unpack(framed(payload), most+len(payload)) // the reader of frames has checked this limit
			if err != nil {
				if launcher.Refusal(err) == nil {
					t.Errorf("nobody is told of %v", err)
				}
				return
			}
			if len(got) < header || len(got) > header+most+len(payload) || int(binary.BigEndian.Uint32(got)) != len(got)-header {
				t.Fatalf("%q unpacks to %q", payload, got)
			}
			if len(got) > header && got[header] == mark {
				return // a frame that is packed twice is no message
			}
			if same, err := again.Unpack(back.Pack(got), launcher.MostToClient); err != nil || !bytes.Equal(same, got) {
				t.Fatalf("%q is packed and unpacked as %q, %v", got, same, err)
			}
		}
	})
}

func BenchmarkPack(b *testing.B) {
	var p Packer
	var all [][]byte
	for seq := range int64(64) {
		all = append(all, change(b, seq+1, 8))
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.Pack(all[i%len(all)])
	}
}

func BenchmarkUnpack(b *testing.B) {
	var p Packer
	for seq := range int64(20) {
		p.Pack(change(b, seq+1, 8))
	}
	before := bytes.Clone(p.past.kept)
	sent := p.Pack(change(b, 21, 8))
	b.ReportAllocs()
	for b.Loop() {
		u := Unpacker{past{append(make([]byte, 0, Window), before...)}}
		if _, err := u.Unpack(sent, launcher.MostToClient); err != nil {
			b.Fatal(err)
		}
	}
}
