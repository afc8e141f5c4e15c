package session

import (
	"context"
	"net"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/shim/wire"
)

// Launchers takes the connections whose first frame is of version 2: sessions of launchers and of the parts that they start. They count
// among the server's sessions and its users' as all others do.
type Launchers interface {
	// Session has the connection until it returns, and no deadline stands on it. Its first frame, length included, was read and came from
	// the peer. When ctx ends the connection is closed, and so it is after the return.
	//
	// A connection over TCP has a method Sealed() *seal.Conn: its next frame out is proved as its first one in was, nothing later is.
	Session(ctx context.Context, conn net.Conn, peer Peer, first []byte)
	// Full tells one for whom there is no place. It writes once at most, under a deadline that stands already, and returns.
	Full(conn net.Conn, first []byte, why string)
}

// launchers says whether a connection is Launchers' by its first frame.
func launchers(first []byte) bool { return wire.VersionOf(first) == versionOfLaunchers }

const versionOfLaunchers = 2

// Those for whom there is no place are told so in their own protocol, as long as they are few and quick; else in that of `step`.
const (
	maxLate      = 256
	latePatience = time.Second
)

// turnAway tells a peer that there is no place. It asks again later.
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
