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

// ErrForged means that a received frame is not the next frame that the peer sent. A frame was changed, left out, repeated or sent back.
var ErrForged = errors.New("a frame is not the peer's next one: its code is wrong")

// Stream carries the frames of a long session. Over TCP each frame is followed by an authentication code under a key that only the two ends
// have, because calling munge for each frame would take too long. One goroutine may write while another reads. After an error the Stream
// cannot be used any more.
type Stream struct {
	conn    net.Conn
	out, in *coder // nil if nothing is proved, because the peer is on this machine
}

// Plain returns a Stream on a Unix socket, where the kernel proves which user is at the other end.
func Plain(conn net.Conn) *Stream { return &Stream{conn: conn} }

// NewKey returns a key for one session.
func NewKey() (*ecdh.PrivateKey, error) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for the session: %w", err)
	}
	return key, nil
}

// Stream returns the Stream that follows the first proved frame in each direction. In these frames both ends have sent their public keys.
// The error is a *CredentialError if `theirs` is not a valid key.
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
	if c.mine == forReply { // this end is the server
		s.out, s.in = newCoder(key, toClient), newCoder(key, toServer)
	}
	return s, nil
}

// WriteFrame writes a whole frame, with its length, in one write. The connection's deadline limits it.
func (s *Stream) WriteFrame(frame []byte) error {
	if s.out != nil {
		frame = append(bytes.Clone(frame), s.out.next(frame)...)
	}
	_, err := s.conn.Write(frame)
	return err
}

// ReadFrame returns the next frame, with its length, if the frame is genuine. Errors are those of wire.ReadUpTo, and ErrForged. If a frame
// is too long, ReadFrame reads only its length, which is not proved.
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

// coder computes the codes of one direction.
type coder struct {
	mac       hash.Hash
	direction byte
	number    uint64 // number of the previous frame
}

func newCoder(key []byte, direction byte) *coder {
	return &coder{mac: hmac.New(sha256.New, key), direction: direction}
}

// next returns the code of the next frame.
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
