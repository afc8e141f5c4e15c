package session

import (
	"context"
	"net"

	"accordion/shim/wire"
)

// Readers takes the connections whose first frame is a wire.Query: users who look at the journal. They count among the server's
// sessions and its users' as all others do, and never reach the loop.
type Readers interface {
	// Session answers until it returns, and no deadline stands on the connection. When ctx ends the connection is closed, and so it is
	// after the return.
	Session(ctx context.Context, conn net.Conn, peer Peer, first []byte)
}

// queries reports whether a connection is Readers' by its first frame.
func queries(first []byte) bool { return wire.VersionOf(first) == wire.VersionOfQueries }
