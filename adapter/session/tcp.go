package session

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"accordion/shim/seal"
)

// A host that vanishes without a word (its power fails, its cable is pulled) is noticed after idle + probes × interval.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 10 * time.Second, Count: 3}

// How many connections may be open at once whose users are not known yet: so many proofs are read within a shim's
// patience. One that is refused is told to ask again.
const (
	maxStrangers        = 2048
	maxStrangersPerHost = maxStrangers / 8 // so that one host cannot keep the others out
)

// tcpListener is the Transport that crosses machines: munge says who asks (package seal).
type tcpListener struct {
	*net.TCPListener
	authority seal.Authority
	life      context.Context // of the programs that munge needs
	end       context.CancelFunc

	mu        sync.Mutex
	strangers int
	hosts     map[netip.Addr]int // strangers of each host that has any
}

func listenTCP(address string, a seal.Authority, alive net.KeepAliveConfig) (*tcpListener, error) {
	config := net.ListenConfig{KeepAliveConfig: alive, Control: dropSilent(alive)}
	l, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	return &tcpListener{TCPListener: l.(*net.TCPListener), authority: a, life: life, end: end, hosts: map[netip.Addr]int{}}, nil
}

// dropSilent bounds how long a reply may stay unacknowledged, where the keep-alive is silent. Accepted connections
// inherit it.
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

// enter counts a stranger in, or says why he may not come in.
func (l *tcpListener) enter(host netip.Addr) (why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.hosts[host] >= maxStrangersPerHost:
		return fmt.Sprintf("%d connections of %s wait for their proof, as many as one host may have", l.hosts[host], host)
	case l.strangers >= maxStrangers:
		return fmt.Sprintf("%d connections wait for their proof, as many as there may be", l.strangers)
	}
	l.strangers++
	l.hosts[host]++
	return ""
}

func (l *tcpListener) leave(host netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.strangers--
	if l.hosts[host]--; l.hosts[host] == 0 {
		delete(l.hosts, host)
	}
}

// tcpConn knows its peer by a munge credential over a nonce of ours. After Peer, its frames are proved.
type tcpConn struct {
	*net.TCPConn
	listener *tcpListener
	sealed   *seal.Conn // set by Peer
}

func (c *tcpConn) Peer() (Peer, error) {
	l, from := c.listener, c.RemoteAddr().(*net.TCPAddr).AddrPort()
	host := from.Addr().Unmap()
	if why := l.enter(host); why != "" {
		_ = seal.Busy(c.TCPConn, why) // who does not take it asks again all the same
		return Peer{}, fmt.Errorf("%s: %s", from, why)
	}
	defer l.leave(host)
	sealed, err := seal.Accept(l.life, c.TCPConn, l.authority)
	if err != nil {
		return Peer{}, fmt.Errorf("%s: %w", from, err)
	}
	c.sealed = sealed
	return Peer{UID: sealed.UID(), From: from.String()}, nil
}

func (c *tcpConn) Read(b []byte) (int, error)  { return c.sealed.Read(b) }
func (c *tcpConn) Write(b []byte) (int, error) { return c.sealed.Write(b) }

// Sealed is what a launcher's session goes on with: after its first frame it is proved in another way.
func (c *tcpConn) Sealed() *seal.Conn { return c.sealed }
