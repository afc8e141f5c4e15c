// Package server implements the sidecar's end of launchers' sessions (docs/protocol.md, version 2). It verifies which user each peer is,
// limits the frames and the number of peers, and hands messages to the loop of applications (adapter/delegated/loop).
//
// The package knows nothing about applications. It answers only pings, and frames that contain no valid message.
package server
