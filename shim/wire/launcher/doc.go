// Package launcher holds the messages of version 2 of the protocol, between launchers or the parts of applications and the
// sidecar, and their form on the wire (docs/protocol.md is normative).
//
// A frame is a length (4 bytes, big endian) and one msgpack map with string keys: the message's type in "t", the sender's count
// from 1 in "s", and the message's fields. Keys that are not known are passed over.
//
//	frame, err := launcher.Append(nil, 1, &launcher.Hello{Version: launcher.Version, Speaks: []int{2}, Name: "cem"})
//	…
//	frame, err = wire.ReadUpTo(conn, launcher.MostToClient)
//	…
//	message, seq, err := launcher.Decode(frame)
//
// Errors of Decode say whether the frame, its type or one field is wrong; Refusal makes of them the Refuse that the server
// answers. Check says what is wrong in a message by itself. View is what a launcher keeps of the changes.
//
// It is no session: deadlines, pings, credentials and repetition belong to the two ends (adapter/delegated/server, shim/launcher/link).
package launcher
