// Package launcher is version 2 of what the sidecar's socket speaks: sessions of launchers, and of the parts that they start
// (docs/protocol.md). It has the messages, their bytes, and what of a message is possible by itself. It knows no connection: shim/link
// is the launcher's end, adapter/launchers the sidecar's.
//
// It is not version 1, the requests of `accordion step`, which are in shim/wire.
package launcher
