package seal

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"strings"

	"accordion/shim/wire"
)

// Authority makes and reads credentials. In production it is a Munge.
type Authority interface {
	// Make returns a credential of this process's user for a payload.
	Make(ctx context.Context, payload []byte) (credential string, err error)
	// Read returns a credential's payload and the user who made the credential. The error is a *CredentialError if the credential is not
	// valid, and ErrUnavailable if it could not be checked.
	Read(ctx context.Context, credential string) (payload []byte, uid uint32, err error)
}

// ErrUnavailable means that no credential can be made or read on this host: munge does not run, or is not installed.
var ErrUnavailable = errors.New("munge does not work on this host")

// CredentialError means that a credential is not valid.
type CredentialError struct{ Why string }

func (e *CredentialError) Error() string { return "the credential is refused: " + e.Why }

// RefusedError means that the other side accepts no session now, because it is busy or did not accept a credential. The message is not
// proved to be from the other side.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// The prefixes of payloads for the two directions. They are part of the protocol.
const (
	forRequest = "accordion session 1: request\n"
	forReply   = "accordion session 1: reply\n"
)

// Conn is a connection on which the sender of one frame in each direction is proved. Everything that is read from a Conn is genuine.
type Conn struct {
	net.Conn
	ctx       context.Context
	authority Authority
	nonce     []byte
	mine      string // prefix of the payloads that this end writes
	peer      uint32 // the user who was proved; at a client, set by the first Read
	trust     func(uid uint32) bool
	// await returns the digest that the next frame must have. It is nil if no proved frame follows.
	await  func() ([]byte, error)
	unread bytes.Reader
}

// Accept sends a challenge and reads the proof of a request. The sidecar calls it. ctx limits the programs that are run for the request and
// for the reply. After an error the connection is still open, and its owner has to close it.
func Accept(ctx context.Context, conn net.Conn, a Authority) (*Conn, error) {
	c := &Conn{Conn: conn, ctx: ctx, authority: a, nonce: make([]byte, wire.NonceSize), mine: forReply}
	rand.Read(c.nonce) // never fails (crypto/rand)
	if err := wire.WriteChallenge(conn, wire.Challenge{Nonce: c.nonce}); err != nil {
		return nil, fmt.Errorf("send the challenge: %w", err)
	}
	c.trust = func(uint32) bool { return true }
	digest, err := c.prove(forRequest)
	if err != nil {
		var bad *CredentialError
		if errors.As(err, &bad) || errors.Is(err, ErrUnavailable) {
			// The reason is sent without a proof. An error means that the peer has closed the connection.
			_ = wire.WriteProof(conn, wire.Proof{Why: short(err.Error())})
		}
		return nil, err
	}
	c.await = func() ([]byte, error) { return digest, nil }
	return c, nil
}

// Busy sends the shim a message to ask again. A sidecar that cannot take another session calls it in place of Accept.
func Busy(conn net.Conn, why string) error {
	return wire.WriteChallenge(conn, wire.Challenge{Why: short(why)})
}

// RootOr returns a function that trusts a sidecar run by root or by the user. A sidecar that the user runs can deceive only that user.
func RootOr(uid int) func(uint32) bool {
	return func(by uint32) bool { return by == 0 || int64(by) == int64(uid) }
}

// Connect reads the challenge. The shim calls it. The function `trust` reports whether a user may run the sidecar. A *RefusedError means
// that the sidecar runs but is busy. After an error the connection is still open, and its owner has to close it.
func Connect(ctx context.Context, conn net.Conn, a Authority, trust func(uid uint32) bool) (*Conn, error) {
	challenge, err := wire.ReadChallenge(conn)
	if err != nil {
		return nil, fmt.Errorf("read the challenge: %w", err)
	}
	if challenge.Why != "" {
		return nil, &RefusedError{Why: challenge.Why}
	}
	c := &Conn{Conn: conn, ctx: ctx, authority: a, nonce: challenge.Nonce, mine: forRequest, trust: trust}
	c.await = func() ([]byte, error) { return c.prove(forReply) }
	return c, nil
}

// UID returns the user who was proved. After Accept this is the shim's user. After the first Read of a shim it is the
// sidecar's user.
func (c *Conn) UID() uint32 { return c.peer }

// prove reads a proof and returns the digest of the frame that must follow it.
func (c *Conn) prove(word string) ([]byte, error) {
	proof, err := wire.ReadProof(c.Conn)
	if err != nil {
		return nil, fmt.Errorf("read the proof: %w", err)
	}
	if proof.Why != "" {
		return nil, &RefusedError{Why: proof.Why}
	}
	payload, uid, err := c.authority.Read(c.ctx, proof.Credential)
	if err != nil {
		return nil, err
	}
	prefix := append([]byte(word), c.nonce...)
	digest, ours := bytes.CutPrefix(payload, prefix)
	switch {
	case !ours || len(digest) != sha256.Size:
		return nil, &CredentialError{Why: "it was made for another session"}
	case !c.trust(uid):
		return nil, &CredentialError{Why: fmt.Sprintf("user %d may not run the sidecar", uid)}
	}
	c.peer = uid
	return digest, nil
}

// Read reads the proved frame, and after it the plain connection. It returns no bytes of the proved frame before it has checked the whole
// frame.
func (c *Conn) Read(b []byte) (int, error) {
	if c.await != nil {
		if err := c.open(); err != nil {
			return 0, err
		}
	}
	if c.unread.Len() > 0 {
		return c.unread.Read(b)
	}
	return c.Conn.Read(b)
}

func (c *Conn) open() error {
	await := c.await
	c.await = func() ([]byte, error) { return nil, net.ErrClosed } // no second frame may follow after an error
	digest, err := await()
	if err != nil {
		return err
	}
	frame, err := wire.ReadFrame(c.Conn)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(frame); !bytes.Equal(sum[:], digest) {
		return &CredentialError{Why: "it was made for another message"}
	}
	c.await = nil
	c.unread.Reset(frame)
	return nil
}

// Write writes a proof and then the frame. The frame must be complete, as package wire writes it. If no proof can be made, Write closes the
// connection, because the other side would otherwise wait until its timeout.
func (c *Conn) Write(frame []byte) (int, error) {
	sum := sha256.Sum256(frame)
	payload := append(append([]byte(c.mine), c.nonce...), sum[:]...)
	credential, err := c.authority.Make(c.ctx, payload)
	if err != nil {
		c.Close()
		return 0, err
	}
	var both bytes.Buffer // one buffer, so that both are sent in one write and one packet
	if err := wire.WriteProof(&both, wire.Proof{Credential: credential}); err != nil {
		c.Close()
		return 0, err
	}
	proof := both.Len()
	both.Write(frame)
	n, err := c.Conn.Write(both.Bytes())
	return max(0, n-proof), err
}

// short shortens a text so that it fits into a proof.
func short(text string) string {
	const most = 1000 // bytes; any text of this length fits
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "?")
}
