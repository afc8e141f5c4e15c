// Package server is the sidecar's end of launchers' sessions (docs/protocol.md, version 2). It proves which user the peer is, limits frames
// and peers, and hands messages to the loop of applications (adapter/delegated/loop).
//
// It knows nothing about applications. It answers only pings, and frames that are no message.
package server
