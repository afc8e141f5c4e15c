// Package conformance judges both ends of the protocol's version 2 by the bytes that they send and take (docs/protocol.md). It uses nothing
// of package launcher: what both would get wrong alike is seen here.
//
// Server plays clients, good and bad, against a server; Client is a server that plays one application's life with a client.
package conformance
