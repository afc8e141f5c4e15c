// Package launchers is the sidecar's end of launchers' sessions (version 2 of the protocol, docs/protocol.md): it proves who speaks, keeps
// frames and peers within their bounds, and hands messages to the loop of applications (adapter/delegate).
//
// It knows nothing of applications: it answers only what is no message at all.
package launchers
