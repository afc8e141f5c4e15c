// Package conformance checks both ends of the protocol's version 2 by the bytes that they send and accept (docs/protocol.md). It does not use
// package launcher, so that it also finds mistakes that both ends have in common.
//
// Server acts as correct and as faulty clients, to check a server. Client acts as a server for one application, to check a client.
package conformance
