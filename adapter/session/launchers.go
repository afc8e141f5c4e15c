package session

import (
	"context"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/shim/wire"
)

// Launchers handles the connections whose first frame has version 2: sessions of launchers and of
// the parts that they start. These sessions count among the sessions of the server and of their
// user, like all other sessions.
type Launchers interface {
	// Session serves the connection until it returns. The connection has no deadline. `first` is
	// the peer's first frame, including its length. The connection is closed when ctx ends, and
	// after the return.
	//
	// A connection over TCP has a method Sealed() *seal.Conn. The first frame received on it was
	// authenticated, and the next frame that is sent will be. Later frames are not.
	Session(ctx context.Context, conn net.Conn, peer Peer, first []byte)
	// Full informs a peer that there is no place. It writes at most once, under a deadline that is
	// already set, and returns.
	Full(conn net.Conn, first []byte, why string)
}

// launchers reports whether a connection with this first frame is for Launchers.
func launchers(first []byte) bool { return wire.VersionOf(first) == versionOfLaunchers }

const versionOfLaunchers = 2

// Peers without a place receive a refusal in their own protocol, as long as they are few and send
// their first frame quickly. Other peers receive a refusal in the protocol of `accordion step`.
const (
	maxLate      = 256
	latePatience = time.Second
)

// turnAway informs a peer that there is no place, so that the peer asks again later.
func (s *Server) turnAway(conn Conn, why string, log hclog.Logger) {
	if s.options.Launchers != nil && s.enterLate() {
		defer s.leaveLate()
		conn.SetReadDeadline(time.Now().Add(min(latePatience, s.options.Patience)))
		if first, err := wire.ReadFrame(conn); err == nil && launchers(first) {
			conn.SetWriteDeadline(time.Now().Add(s.options.Patience))
			s.options.Launchers.Full(conn, first, why)
			return
		}
	}
	s.reply(conn, wire.Reply{Status: wire.Busy, Why: why}, log)
}

func (s *Server) enterLate() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.late >= maxLate {
		return false
	}
	s.late++
	return true
}

func (s *Server) leaveLate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late--
}
