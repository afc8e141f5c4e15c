package session

import (
	"context"
	"net"

	"accordion/shim/wire"
)

// Readers handles the connections whose first frame is a wire.Query, from users who read the
// journal. These connections count among the sessions of the server and of their user, and do not
// reach the loop.
type Readers interface {
	// Session serves the connection until it returns. The connection has no deadline. It is closed
	// when ctx ends, and after the return.
	Session(ctx context.Context, conn net.Conn, peer Peer, first []byte)
}

// queries reports whether the first frame of a connection is a query, for Readers.
func queries(first []byte) bool { return wire.VersionOf(first) == wire.VersionOfQueries }
