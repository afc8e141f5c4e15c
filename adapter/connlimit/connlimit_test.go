package connlimit

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestClientsAreNetworks(t *testing.T) {
	for _, c := range []struct{ address, host, network string }{
		{"192.0.2.7", "192.0.2.7", "192.0.2.7"},
		{"::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7"},
		{"127.0.0.1", "loopback", "loopback"},
		{"127.255.3.9", "loopback", "loopback"},
		{"::ffff:127.0.0.2", "loopback", "loopback"},
		{"::1", "loopback", "loopback"},
		{"2001:db8:1:2::7", "2001:db8:1:2::7", "2001:db8:1:2::/64"},
		{"2001:db8:1:2:ffff::", "2001:db8:1:2:ffff::", "2001:db8:1:2::/64"},
		{"fe80::7%eth0", "fe80::7", "fe80::/64"},
	} {
		if got := OfAddr(netip.MustParseAddr(c.address)); got != (Client{c.host, c.network}) {
			t.Errorf("%s is %+v, want %s of %s", c.address, got, c.host, c.network)
		}
	}
	if got := OfAddr(netip.Addr{}); got != (Client{}) {
		t.Errorf("no address is %+v", got)
	}
}

// crowd opens n connections, each from another address, and returns how many were admitted.
func crowd(l *Limiter, n int, address func(i int) string) (in int) {
	for i := range n {
		if _, err := l.Enter(OfAddr(netip.MustParseAddr(address(i))), func() {}); err == nil {
			in++
		}
	}
	return in
}

func ofOneNetwork(i int) string { return fmt.Sprintf("2001:db8::%x:%x", i>>16, i&0xffff) }

func ofManyNetworks(i int) string { return fmt.Sprintf("2001:db8:%x:%x::1", i>>16, i&0xffff) }

func TestPlacesOfOneClient(t *testing.T) {
	for name, address := range map[string]func(int) string{
		"one address":      func(int) string { return "192.0.2.1" },
		"one IPv6 network": ofOneNetwork,
		"loopback":         func(i int) string { return fmt.Sprintf("127.%d.%d.1", i>>8&255, i&255) },
	} {
		l := New(Limits{Total: 100, PerClient: 10})
		if got := crowd(l, 1000, address); got != 10 || l.Open() != 10 {
			t.Errorf("%s: %d got in and %d are open, want 10", name, got, l.Open())
		}
		l = New(Limits{Total: 100, PerClient: 10, Replace: true})
		if got := crowd(l, 1000, address); got != 1000 || l.Open() != 10 {
			t.Errorf("%s, replaced: %d got in and %d are open, want 1000 and 10", name, got, l.Open())
		}
	}
}

func TestClientWithMostLosesItsOldest(t *testing.T) {
	l := New(Limits{Total: 20})
	evicted := []int{}
	var leaves []func()
	for i := range 20 {
		leave, err := l.Enter(Client{"greedy", "greedy"}, func() { evicted = append(evicted, i) })
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	for i := range 10 {
		if _, err := l.Enter(Client{"modest", "modest"}, func() { t.Error("a modest one was evicted") }); err != nil {
			t.Errorf("modest %d: %v", i, err)
		}
	}
	if _, err := l.Enter(Client{"modest", "modest"}, func() {}); err == nil || !strings.Contains(err.Error(), "20 connections are open") {
		t.Errorf("one more than half: %v", err)
	}
	if fmt.Sprint(evicted) != "[0 1 2 3 4 5 6 7 8 9]" || l.Open() != 20 {
		t.Errorf("evicted %v, %d open", evicted, l.Open())
	}
	for _, leave := range append(leaves, leaves...) { // also the leave functions of evicted connections, and each function twice
		leave()
	}
	if l.Open() != 10 || len(l.of) != 1 {
		t.Errorf("%d open of %d clients, want 10 of one", l.Open(), len(l.of))
	}
}

func TestKnownHostsAlwaysHavePlaces(t *testing.T) {
	l := New(Limits{Total: 2000, PerClient: 200, Kept: 500})
	now := time.Unix(1_800_000_000, 0)
	node := func(i int) Client { return OfAddr(netip.MustParseAddr(fmt.Sprintf("2001:db8:ffff:ffff::%x", i+1))) }
	for i := range 100 {
		l.Know(node(i), now)
	}
	if got := crowd(l, 100_000, ofManyNetworks); got != 1500 {
		t.Errorf("%d of a crowd of as many networks got in, want 1500", got)
	}
	// On each of 20 nodes a hostile user takes as many places as possible.
	for i := range 20 {
		for range 300 {
			l.Enter(node(i), func() {})
		}
	}
	for i := 20; i < 60; i++ { // 320 places; the hostile nodes keep at least 160
		for try := range sure {
			if _, err := l.Enter(node(i), func() { t.Errorf("node %d was evicted", i) }); err != nil {
				t.Fatalf("node %d, connection %d: %v", i, try+1, err)
			}
		}
	}
	// The known nodes have places of their own, and do not count among the unknown hosts of their
	// network.
	if got := OfAddr(netip.MustParseAddr("2001:db8:ffff:ffff::9999")); len(l.of[got.Network]) != 0 {
		t.Error("nodes count as strangers")
	}
}

func TestNumberOfKnownHostsIsBounded(t *testing.T) {
	l := New(Limits{Total: 10})
	now := time.Unix(1_800_000_000, 0)
	for i := range mostKnown + 3 {
		l.Know(Client{Host: fmt.Sprint(i)}, now.Add(time.Duration(i)*time.Second))
	}
	if _, known := l.known["2"]; known || len(l.known) != mostKnown {
		t.Errorf("%d hosts are known, the third: %v", len(l.known), known)
	}
}

func TestListenerCountsConnectionUntilItIsClosed(t *testing.T) {
	socket, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	bounded := Listen(socket, Limits{Total: 2})
	defer bounded.Close()
	accepted := make(chan net.Conn)
	go func() {
		for {
			c, err := bounded.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- c
		}
	}()
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("unix", socket.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(10 * time.Second))
		return c
	}
	dial()
	first := <-accepted
	dial()
	<-accepted
	if n, err := dial().Read(make([]byte, 1)); n != 0 || err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("the third: %d bytes, %v; want it closed", n, err)
	}
	first.Close()
	first.Close()
	dial()
	fourth := <-accepted
	limiter := bounded.(*listener).limiter
	if limiter.Open() != 2 || !strings.HasPrefix(Of(fourth.(*Conn).Conn).Host, "user ") {
		t.Errorf("%d are open, the last of %+v", limiter.Open(), Of(fourth.(*Conn).Conn))
	}
}
