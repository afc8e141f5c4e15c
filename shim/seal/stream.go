package seal

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"

	"accordion/shim/wire"
)

// streamInfo is part of the protocol.
const streamInfo = "accordion session 2"

// The directions of a frame. They are part of the protocol.
const (
	toServer = 0
	toClient = 1
)

// ErrForged is a frame that was not the next one that the peer sent: changed, left out, sent again or sent back.
var ErrForged = errors.New("a frame is not the peer's next one: its code does not fit")

// Stream carries the frames of a long session. Over TCP each is followed by a code under a key that only the two ends have: munge
// for every frame would be too dear. One goroutine may write while another reads. After an error it is of no use.
type Stream struct {
	conn    net.Conn
	out, in *coder // nil: nothing is proved, on this machine
}

// Plain is a Stream on a connection of which the kernel tells who is at the other end.
func Plain(conn net.Conn) *Stream { return &Stream{conn: conn} }

// NewKey is a key for one session.
func NewKey() (*ecdh.PrivateKey, error) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for the session: %w", err)
	}
	return key, nil
}

// Stream is what follows the first proved frame each way, in which both ends told their public keys. The error is a
// *CredentialError when the other's is no key.
func (c *Conn) Stream(mine *ecdh.PrivateKey, theirs []byte) (*Stream, error) {
	public, err := ecdh.X25519().NewPublicKey(theirs)
	if err != nil {
		return nil, &CredentialError{Why: fmt.Sprintf("the session's key: %v", err)}
	}
	shared, err := mine.ECDH(public)
	if err != nil {
		return nil, &CredentialError{Why: fmt.Sprintf("the session's key: %v", err)}
	}
	key, err := hkdf.Key(sha256.New, shared, c.nonce, streamInfo, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("make the session's key: %w", err)
	}
	s := &Stream{conn: c.Conn, out: newCoder(key, toServer), in: newCoder(key, toClient)}
	if c.mine == forReply { // we are the server
		s.out, s.in = newCoder(key, toClient), newCoder(key, toServer)
	}
	return s, nil
}

// WriteFrame sends a whole frame, its length included, in one write. It is bounded by the connection's deadline.
func (s *Stream) WriteFrame(frame []byte) error {
	if s.out != nil {
		frame = append(bytes.Clone(frame), s.out.next(frame)...)
	}
	_, err := s.conn.Write(frame)
	return err
}

// ReadFrame returns the next frame, its length included, when it is genuine. Errors are those of wire.ReadUpTo and ErrForged. A
// frame that is too long was not looked at beyond its length, which nothing proves.
func (s *Stream) ReadFrame(most int) ([]byte, error) {
	frame, err := wire.ReadUpTo(s.conn, most)
	if err != nil || s.in == nil {
		return frame, err
	}
	var code [sha256.Size]byte
	if _, err := io.ReadFull(s.conn, code[:]); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, wire.ErrTruncated
		}
		return nil, err
	}
	if !hmac.Equal(s.in.next(frame), code[:]) {
		return nil, ErrForged
	}
	return frame, nil
}

// coder makes the codes of one direction.
type coder struct {
	mac       hash.Hash
	direction byte
	number    uint64 // of the frame before
}

func newCoder(key []byte, direction byte) *coder {
	return &coder{mac: hmac.New(sha256.New, key), direction: direction}
}

// next is the code of the next frame.
func (c *coder) next(frame []byte) []byte {
	c.number++
	var head [9]byte
	head[0] = c.direction
	binary.BigEndian.PutUint64(head[1:], c.number)
	c.mac.Reset()
	c.mac.Write(head[:])
	c.mac.Write(frame)
	return c.mac.Sum(nil)
}
