// Package launcher defines the messages of version 2 of the protocol, and their binary form (docs/protocol.md is
// normative). Launchers, and the parts of applications, exchange these messages with the sidecar.
//
// A frame is a length (4 bytes, big endian) and one msgpack map with string keys. The map has the message's type in
// "t", the message's number in "s", and the message's fields. Each sender counts its messages from 1. Unknown keys are
// ignored.
//
//	frame, err := launcher.Append(nil, 1, &launcher.Hello{Version: launcher.Version, Speaks: []int{2}, Name: "cem"})
//	…
//	frame, err = wire.ReadUpTo(conn, launcher.MostToClient)
//	…
//	message, seq, err := launcher.Decode(frame)
//
// Errors of Decode distinguish a wrong frame, a wrong type and a wrong field. Refusal turns them into the Refuse that the server sends.
// Check finds what is wrong in a message alone, without its session. View is the state that a launcher builds from the changes.
//
// Deadlines, pings, credentials and repetition belong to the two ends (adapter/delegated/server, shim/launcher/link).
package launcher
