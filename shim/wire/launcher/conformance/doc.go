// Package conformance checks both ends of the protocol's version 2 by the bytes that they send and accept (docs/protocol.md). It does not use
// package launcher, so that it also finds mistakes that both ends have in common.
//
// Server plays clients, good and bad, against a server. Client is a server that plays one application's life with a client.
package conformance
