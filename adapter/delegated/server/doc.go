// Package server is the sidecar's end of launchers' sessions (docs/protocol.md, version 2). It proves who speaks, bounds frames
// and peers, and hands messages to the loop of applications (adapter/delegated/loop).
//
// It knows nothing of applications, and answers only what is not a message.
package server
