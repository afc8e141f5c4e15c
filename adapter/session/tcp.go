package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"accordion/adapter/connlimit"
	"accordion/shim/seal"
)

// keepAlive configures after what time the server notices a host that vanishes silently, because
// its power fails or its cable is pulled: Idle + Count × Interval.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// strangers bounds the open connections whose users are not authenticated yet, so that all their
// credentials can be checked before shims give up. A refused peer is asked to try again. A host is
// known once a user was authenticated on a connection from it.
var strangers = connlimit.Limits{
	Total:     2048,
	PerClient: 2048 / 8, // so that one network cannot keep the others out
	Kept:      2048 / 4, // so that many networks cannot keep the hosts of jobs out
}

// tcpListener is the Transport over TCP: munge authenticates the user (package seal).
type tcpListener struct {
	*net.TCPListener
	authority seal.Authority
	life      context.Context // the context that ends the munge programs
	end       context.CancelFunc
	strangers *connlimit.Limiter
}

func listenTCP(address string, a seal.Authority, alive net.KeepAliveConfig) (*tcpListener, error) {
	config := net.ListenConfig{KeepAliveConfig: alive, Control: dropSilent(alive)}
	l, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	return &tcpListener{TCPListener: l.(*net.TCPListener), authority: a, life: life, end: end, strangers: connlimit.New(strangers)}, nil
}

// dropSilent bounds how long a reply may stay unacknowledged, because TCP sends no keep-alive
// probes during that time. Accepted connections inherit it.
func dropSilent(alive net.KeepAliveConfig) func(string, string, syscall.RawConn) error {
	bound := alive.Idle + time.Duration(alive.Count)*alive.Interval
	return func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(bound/time.Millisecond))
		})
		if err != nil {
			return err
		}
		return failed
	}
}

func (l *tcpListener) Accept() (Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return &tcpConn{TCPConn: c, listener: l}, nil
}

func (l *tcpListener) Close() error {
	l.end()
	return l.TCPListener.Close()
}

// tcpConn identifies its peer by a munge credential over a nonce that this host chose. After Peer
// its frames are authenticated.
type tcpConn struct {
	*net.TCPConn
	listener *tcpListener
	sealed   *seal.Conn // set by Peer
}

func (c *tcpConn) Peer() (Peer, error) {
	l, client := c.listener, connlimit.Of(c.TCPConn)
	from := c.RemoteAddr().String()
	leave, err := l.strangers.Enter(client, func() { c.TCPConn.Close() })
	if full := (*connlimit.FullError)(nil); errors.As(err, &full) {
		_ = seal.Busy(c.TCPConn, waiting(full)) // a client that does not read this answer asks again anyway
		return Peer{}, &strangerError{client.Network, fmt.Errorf("%s: %s", from, waiting(full))}
	}
	defer leave()
	sealed, err := seal.Accept(l.life, c.TCPConn, l.authority)
	if err != nil {
		return Peer{}, &strangerError{client.Network, fmt.Errorf("%s: %w", from, err)}
	}
	l.strangers.Know(client, time.Now())
	c.sealed = sealed
	return Peer{UID: sealed.UID(), From: from}, nil
}

// `waiting` returns the message to a peer for which there is no place.
func waiting(full *connlimit.FullError) string {
	if full.Client != "" {
		return fmt.Sprintf("%d connections of %s wait for their proof, as many as one network may have", full.Open, full.Client)
	}
	return fmt.Sprintf("%d connections wait for their proof, as many as there may be", full.Open)
}

// A strangerError is the error that a peer could not be authenticated, with the reason.
type strangerError struct {
	network string
	error
}

func (e *strangerError) Unwrap() error { return e.error }

func (c *tcpConn) Read(b []byte) (int, error)  { return c.sealed.Read(b) }
func (c *tcpConn) Write(b []byte) (int, error) { return c.sealed.Write(b) }

// Sealed returns the connection for a launcher's session, which authenticates its later frames in
// another way.
func (c *tcpConn) Sealed() *seal.Conn { return c.sealed }
