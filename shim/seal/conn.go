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

// Authority makes and reads credentials. Munge is the real one.
type Authority interface {
	// Make returns a credential of this process's user over a payload.
	Make(ctx context.Context, payload []byte) (credential string, err error)
	// Read returns what a credential was made over and by which user. The error is a *CredentialError when the
	// credential is not to be believed, ErrUnavailable when that could not be found out.
	Read(ctx context.Context, credential string) (payload []byte, uid uint32, err error)
}

// ErrUnavailable means that no credential can be made or read here: munge is not running, or not installed.
var ErrUnavailable = errors.New("munge does not work on this host")

// CredentialError is a credential that proves nothing.
type CredentialError struct{ Why string }

func (e *CredentialError) Error() string { return "the credential is refused: " + e.Why }

// RefusedError is the other side's word that it takes no session now: it is busy, or did not believe a credential. The
// word itself is not proved.
type RefusedError struct{ Why string }

func (e *RefusedError) Error() string { return e.Why }

// The words for the two directions. They are part of the protocol.
const (
	forRequest = "accordion session 1: request\n"
	forReply   = "accordion session 1: reply\n"
)

// Conn is a connection on which one frame each way is proved. What is read from it is genuine.
type Conn struct {
	net.Conn
	ctx       context.Context
	authority Authority
	nonce     []byte
	mine      string // the word for what we write
	peer      uint32 // who proved himself; of a client: once Read has returned
	trust     func(uid uint32) bool
	// await returns the digest that the next frame must have; nil when no proved frame is to come.
	await  func() ([]byte, error)
	unread bytes.Reader
}

// Accept is the sidecar's side: it sends a challenge and reads the proof of a request. ctx ends the programs that are
// run, now and for the reply. On an error the connection is still open, and its owner's to close.
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
			// Unproved, for a reader who is in doubt anyway; it is lost when he has gone.
			_ = wire.WriteProof(conn, wire.Proof{Why: short(err.Error())})
		}
		return nil, err
	}
	c.await = func() ([]byte, error) { return digest, nil }
	return c, nil
}

// Busy is Accept for a sidecar that cannot take one session more: it tells the shim to ask again.
func Busy(conn net.Conn, why string) error {
	return wire.WriteChallenge(conn, wire.Challenge{Why: short(why)})
}

// RootOr trusts a sidecar that root runs, and one that the user himself runs: he can lie only to himself.
func RootOr(uid int) func(uint32) bool {
	return func(by uint32) bool { return by == 0 || int64(by) == int64(uid) }
}

// Connect is the shim's side: it reads the challenge. trust says which users the sidecar may be run by. A *RefusedError:
// the sidecar is there and busy. On an error the connection is still open, and its owner's to close.
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

// UID is the user who proved himself: after Accept the shim's, after the first Read of a shim the sidecar's.
func (c *Conn) UID() uint32 { return c.peer }

// prove reads a proof and returns the digest of the frame that is to follow it.
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
		return nil, &CredentialError{Why: fmt.Sprintf("user %d is not one who may run the sidecar", uid)}
	}
	c.peer = uid
	return digest, nil
}

// Read reads the one proved frame, then the bare connection. Nothing of a frame is returned before the whole of it was
// seen to be genuine.
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
	c.await = func() ([]byte, error) { return nil, net.ErrClosed } // there is no second try
	digest, err := await()
	if err != nil {
		return err
	}
	frame, err := wire.ReadFrame(c.Conn)
	if err != nil {
		return err
	}
	if sum := sha256.Sum256(frame); !bytes.Equal(sum[:], digest) {
		return &CredentialError{Why: "it was made over another message"}
	}
	c.await = nil
	c.unread.Reset(frame)
	return nil
}

// Write sends a frame, whole in one call as package wire does, with its proof before it. When no proof can be made, the
// connection is closed: the other side would wait in vain.
func (c *Conn) Write(frame []byte) (int, error) {
	sum := sha256.Sum256(frame)
	payload := append(append([]byte(c.mine), c.nonce...), sum[:]...)
	credential, err := c.authority.Make(c.ctx, payload)
	if err != nil {
		c.Close()
		return 0, err
	}
	var both bytes.Buffer // one write, one packet
	if err := wire.WriteProof(&both, wire.Proof{Credential: credential}); err != nil {
		c.Close()
		return 0, err
	}
	proof := both.Len()
	both.Write(frame)
	n, err := c.Conn.Write(both.Bytes())
	return max(0, n-proof), err
}

// short fits a text into a proof.
func short(text string) string {
	const most = 1000 // bytes; any text of so many fits
	if len(text) > most {
		text = text[:most]
	}
	return strings.ToValidUTF8(text, "?")
}
