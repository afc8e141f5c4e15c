package seal_test

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"

	"accordion/shim/seal"
	"accordion/shim/seal/sealtest"
	"accordion/shim/wire"
)

// framed returns a frame with a body.
func framed(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// streams are the two ends of a session after its first frames. Each end has a connection of its own, which the test
// can interrupt.
type streams struct {
	client, server     *seal.Stream
	clientEnd, toTap   net.Conn // what the client writes arrives at toTap
	serverEnd, fromTap net.Conn // what is written to fromTap arrives at the server
	nonce              []byte
	clientKey          *ecdh.PrivateKey
	serverPublic       []byte
}

func open(t *testing.T) *streams {
	t.Helper()
	realm := sealtest.NewRealm()
	s := &streams{}
	s.clientEnd, s.toTap = pipe(t)
	s.serverEnd, s.fromTap = pipe(t)
	accepted := make(chan *seal.Conn, 1)
	go func() {
		c, err := seal.Accept(t.Context(), s.serverEnd, realm.User(0))
		if err != nil {
			t.Errorf("accept: %v", err)
		}
		accepted <- c
	}()
	challenge, err := wire.ReadFrame(s.fromTap)
	if err != nil {
		t.Fatal(err)
	}
	said, err := wire.ReadChallenge(bytes.NewReader(challenge))
	if err != nil {
		t.Fatal(err)
	}
	s.nonce = said.Nonce
	s.toTap.Write(challenge)
	client, err := seal.Connect(t.Context(), s.clientEnd, realm.User(alice), seal.RootOr(alice))
	if err != nil {
		t.Fatal(err)
	}
	client.Write(framed("hello"))
	for range 2 { // proof and frame
		frame, err := wire.ReadFrame(s.toTap)
		if err != nil {
			t.Fatal(err)
		}
		s.fromTap.Write(frame)
	}
	server := <-accepted
	if got, err := wire.ReadFrame(server); err != nil || string(got[4:]) != "hello" {
		t.Fatalf("the server got %q, %v", got, err)
	}
	var keys [2]*ecdh.PrivateKey
	for i := range keys {
		if keys[i], err = seal.NewKey(); err != nil {
			t.Fatal(err)
		}
	}
	s.clientKey, s.serverPublic = keys[0], keys[1].PublicKey().Bytes()
	if s.client, err = client.Stream(keys[0], s.serverPublic); err != nil {
		t.Fatal(err)
	}
	if s.server, err = server.Stream(keys[1], keys[0].PublicKey().Bytes()); err != nil {
		t.Fatal(err)
	}
	return s
}

const sealed = 4 + 3 + 32 // bytes of a frame with three bytes of msgpack

// sent returns frames of the client as they are on the network.
func (s *streams) sent(t *testing.T, bodies ...string) [][]byte {
	t.Helper()
	var all [][]byte
	for _, body := range bodies {
		if err := s.client.WriteFrame(framed(body)); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, sealed)
		if _, err := io.ReadFull(s.toTap, b); err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func TestOnlyGenuineFramesOfALongSessionArrive(t *testing.T) {
	changed := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 1
		return b
	}
	for name, c := range map[string]struct {
		play func(s *streams, f [][]byte) [][]byte
		good int // frames that arrive before the refusal
	}{
		"as sent":          {func(_ *streams, f [][]byte) [][]byte { return f }, 3},
		"a changed byte":   {func(_ *streams, f [][]byte) [][]byte { return [][]byte{f[0], changed(f[1], 5)} }, 1},
		"a changed code":   {func(_ *streams, f [][]byte) [][]byte { return [][]byte{f[0], changed(f[1], sealed-1)} }, 1},
		"one again":        {func(_ *streams, f [][]byte) [][]byte { return [][]byte{f[0], f[0]} }, 1},
		"one left out":     {func(_ *streams, f [][]byte) [][]byte { return [][]byte{f[0], f[2]} }, 1},
		"two exchanged":    {func(_ *streams, f [][]byte) [][]byte { return [][]byte{f[1], f[0]} }, 0},
		"of the first one": {func(_ *streams, f [][]byte) [][]byte { return [][]byte{append(framed("abc"), f[0][7:]...)} }, 0},
		"no code": {func(_ *streams, f [][]byte) [][]byte {
			return [][]byte{append(framed("aaa"), make([]byte, 32)...)}
		}, 0},
		"sent back": {func(s *streams, _ [][]byte) [][]byte {
			s.server.WriteFrame(framed("xyz"))
			b := make([]byte, sealed)
			io.ReadFull(s.fromTap, b)
			return [][]byte{b}
		}, 0},
		"of another session": {func(_ *streams, _ [][]byte) [][]byte { return open(t).sent(t, "aaa") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			frames := s.sent(t, "aaa", "bbb", "ccc")
			played := c.play(s, frames)
			for i, b := range played {
				s.fromTap.Write(b)
				got, err := s.server.ReadFrame(100)
				switch {
				case i < c.good && (err != nil || !bytes.Equal(got, b[:len(got)])):
					t.Fatalf("frame %d: %q, %v", i, got, err)
				case i >= c.good && (!errors.Is(err, seal.ErrForged) || got != nil):
					t.Fatalf("frame %d was believed: %q, %v", i, got, err)
				}
			}
		})
	}
}

// The test computes the authentication code as docs/protocol.md describes it.
func TestTheCodeIsTheOneOfTheProtocol(t *testing.T) {
	s := open(t)
	public, err := ecdh.X25519().NewPublicKey(s.serverPublic)
	if err != nil {
		t.Fatal(err)
	}
	shared, err := s.clientKey.ECDH(public)
	if err != nil {
		t.Fatal(err)
	}
	key, err := hkdf.Key(sha256.New, shared, s.nonce, "accordion session 2", 32)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range s.sent(t, "aaa", "bbb") {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte{0, 0, 0, 0, 0, 0, 0, 0, byte(i + 1)})
		mac.Write(b[:7])
		if !hmac.Equal(mac.Sum(nil), b[7:]) {
			t.Errorf("frame %d: another code", i+1)
		}
	}
}

func TestAStreamRefusesWhatIsNoKeyAndBoundsFrames(t *testing.T) {
	near, far := pipe(t)
	realm := sealtest.NewRealm()
	go seal.Accept(t.Context(), far, realm.User(0))
	c, err := seal.Connect(t.Context(), near, realm.User(alice), seal.RootOr(alice))
	if err != nil {
		t.Fatal(err)
	}
	key, err := seal.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for _, theirs := range [][]byte{nil, make([]byte, 31), make([]byte, 32)} { // the last key gives a shared secret that is publicly known
		var bad *seal.CredentialError
		if _, err := c.Stream(key, theirs); !errors.As(err, &bad) {
			t.Errorf("the key %x: %v", theirs, err)
		}
	}
	near.Close() // the server's read ends
	s := open(t)
	s.fromTap.Write(framed("0123456789"))
	var long *wire.TooLongError
	if _, err := s.server.ReadFrame(9); !errors.As(err, &long) {
		t.Errorf("too long: %v", err)
	}
	cut := open(t)
	cut.fromTap.Write(framed("aaa"))
	cut.fromTap.Close()
	if _, err := cut.server.ReadFrame(9); !errors.Is(err, wire.ErrTruncated) {
		t.Errorf("without its code: %v", err)
	}
}
