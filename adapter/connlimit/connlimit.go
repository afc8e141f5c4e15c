// Package connlimit bounds how many connections, or other things that clients hold, are open at the
// same time, in total and per client.
//
//	limiter := connlimit.New(connlimit.Limits{Total: 2048, PerClient: 256})
//	leave, err := limiter.Enter(connlimit.Of(conn), func() { conn.Close() })
//
// A client is a network, because a program with one address of an IPv6 network can use all
// addresses of that network. An attacker that connects from many networks is bounded in two ways:
// places are kept for known hosts, and the client with the most places loses one to a client with
// fewer.
package connlimit

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A Client is a program or network whose connections count together. The zero Client counts all
// connections whose address identifies no client.
type Client struct {
	Host    string // the client's name among known hosts
	Network string // the client's name among all clients
}

// loopback is the one client for all of 127.0.0.0/8 and ::1.
var loopback = Client{"loopback", "loopback"}

// OfAddr returns the client that connects from an address. Each IPv4 address is one client, and
// each /64 network of IPv6 addresses is one client.
func OfAddr(addr netip.Addr) Client {
	addr = addr.Unmap().WithZone("")
	switch {
	case !addr.IsValid():
		return Client{}
	case addr.IsLoopback():
		return loopback
	case addr.Is4():
		return Client{addr.String(), addr.String()}
	}
	return Client{addr.String(), netip.PrefixFrom(addr, 64).Masked().String()}
}

// Of returns the client at the other end of a connection. The peer's address identifies the client,
// or its user on a Unix socket.
func Of(conn net.Conn) Client {
	if c, is := conn.(*Conn); is {
		return Of(c.Conn)
	}
	switch at := conn.RemoteAddr().(type) {
	case *net.TCPAddr:
		return OfAddr(at.AddrPort().Addr())
	case *net.UnixAddr:
		if c, is := conn.(*net.UnixConn); is {
			return ofUser(c)
		}
	}
	return Client{}
}

func ofUser(conn *net.UnixConn) Client {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Client{}
	}
	var user *unix.Ucred
	var unknown error
	if err := raw.Control(func(fd uintptr) { user, unknown = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil || unknown != nil {
		return Client{}
	}
	name := fmt.Sprintf("user %d", user.Uid)
	return Client{name, name}
}

// Limits bound how many connections are open at the same time.
type Limits struct {
	Total     int // open connections of all clients together
	PerClient int // open connections of one client; 0 means Total
	Kept      int // how many of Total are kept for known hosts; each known host can have up to `sure` of the kept places
	// Replace means that if a client has PerClient connections open, its next connection replaces
	// its oldest. Without Replace the next connection is refused.
	Replace bool
}

// sure bounds how many of the kept places one known host may have, so that a few known hosts do not
// use them up.
const sure = 8

// A FullError reports why no further connection may be open.
type FullError struct {
	Open   int
	Client string // the client that has too many; "" if all clients together have too many
}

func (e *FullError) Error() string {
	if e.Client != "" {
		return fmt.Sprintf("%d connections of %s are open, as many as one client may have", e.Open, e.Client)
	}
	return fmt.Sprintf("%d connections are open, as many as there may be", e.Open)
}

// A Limiter counts what is open, and bounds it.
type Limiter struct {
	limits Limits

	mu    sync.Mutex
	open  int
	of    map[string][]*place // the places of each client, oldest first
	sizes []int               // sizes[n] is how many clients have n places
	known map[string]time.Time
}

type place struct {
	client string
	evict  func()
}

// New returns a limiter in which nothing is open.
func New(l Limits) *Limiter {
	if l.PerClient == 0 {
		l.PerClient = l.Total
	}
	return &Limiter{limits: l, of: map[string][]*place{}, known: map[string]time.Time{}}
}

// Enter takes a place for a client until `leave` is called, which may be called any number of
// times. If another client takes the place over, the limiter calls `evict`, which must not block.
// After that, `leave` has no effect.
//
// If Total places are taken, the client with the most places loses its oldest place to a client
// that has fewer. So a few clients that hold all places do not keep other clients out.
func (l *Limiter) Enter(c Client, evict func()) (leave func(), err error) {
	p := &place{c.Network, evict}
	gone, err := l.enter(c, p)
	if err != nil {
		return nil, err
	}
	if gone != nil {
		gone.evict()
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.remove(p)
	}, nil
}

// enter adds a place. It returns the place that was removed for it, or nil.
func (l *Limiter) enter(c Client, p *place) (gone *place, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	room := l.limits.Total - l.limits.Kept
	if _, known := l.known[c.Host]; known {
		p.client = c.Host
		if len(l.of[p.client]) < sure {
			room = l.limits.Total
		}
	}
	has := len(l.of[p.client])
	switch {
	case has >= l.limits.PerClient && l.limits.Replace:
		gone = l.of[p.client][0]
	case has >= l.limits.PerClient:
		return nil, &FullError{has, p.client}
	case l.open >= room:
		if len(l.sizes)-1 <= has+1 {
			return nil, &FullError{Open: l.open}
		}
		gone = l.of[l.most()][0]
	}
	if gone != nil {
		l.remove(gone)
	}
	l.of[p.client] = append(l.of[p.client], p)
	l.open++
	l.resized(len(l.of[p.client])-1, len(l.of[p.client]))
	return gone, nil
}

// `most` returns a client with the most places.
func (l *Limiter) most() string {
	for c, all := range l.of {
		if len(all) == len(l.sizes)-1 {
			return c
		}
	}
	return ""
}

// resized updates l.sizes after a client's number of places changed from `had` to `has`. The last
// index of l.sizes is the greatest number that exists.
func (l *Limiter) resized(had, has int) {
	for len(l.sizes) <= has {
		l.sizes = append(l.sizes, 0)
	}
	if had > 0 {
		l.sizes[had]--
	}
	if has > 0 {
		l.sizes[has]++
	}
	for len(l.sizes) > 0 && l.sizes[len(l.sizes)-1] == 0 {
		l.sizes = l.sizes[:len(l.sizes)-1]
	}
}

func (l *Limiter) remove(p *place) {
	all := l.of[p.client]
	for i, one := range all {
		if one != p {
			continue
		}
		l.open--
		l.resized(len(all), len(all)-1)
		if all = append(all[:i:i], all[i+1:]...); len(all) == 0 {
			delete(l.of, p.client)
		} else {
			l.of[p.client] = all
		}
		return
	}
}

// mostKnown bounds how many hosts are known.
const mostKnown = 16_384

// Know adds a host to the known hosts, for which places are kept. If there are too many, it removes
// the host that was added longest ago.
func (l *Limiter) Know(c Client, now time.Time) {
	if c.Host == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.known[c.Host]; !known && len(l.known) >= mostKnown {
		oldest := ""
		for host, at := range l.known {
			if oldest == "" || at.Before(l.known[oldest]) {
				oldest = host
			}
		}
		delete(l.known, oldest)
	}
	l.known[c.Host] = now
}

// Knows reports whether a host is known.
func (l *Limiter) Knows(c Client) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, known := l.known[c.Host]
	return known
}

// Open returns how many places are taken.
func (l *Limiter) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// Listen returns a listener whose connections are bounded. A connection beyond the bound is closed
// immediately.
func Listen(inner net.Listener, l Limits) net.Listener {
	return &listener{inner, New(l)}
}

type listener struct {
	net.Listener
	limiter *Limiter
}

func (b *listener) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		leave, err := b.limiter.Enter(Of(c), func() { c.Close() })
		if err != nil {
			c.Close()
			continue
		}
		return &Conn{Conn: c, leave: leave}, nil
	}
}

// Conn is a connection that counts until it is closed.
type Conn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.leave()
	return c.Conn.Close()
}
