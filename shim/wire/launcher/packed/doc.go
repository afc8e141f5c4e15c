// Package packed makes the frames of a session of launchers smaller, where both ends have agreed to it in hello and welcome
// (docs/protocol.md, "Packed frames", is normative):
//
//	var out packed.Packer
//	var in packed.Unpacker
//	…
//	err := stream.WriteFrame(out.Pack(frame))
//	…
//	frame, err := stream.ReadFrame(launcher.MostToClient)
//	frame, err = in.Unpack(frame, launcher.MostToClient)
//
// A packed frame is the byte 0xc1, with which no msgpack begins, and the message as raw DEFLATE (RFC 1951) with a preset dictionary: what
// went before in the same direction, and at the beginning Dictionary. So each frame has to be packed, and unpacked, in its order. What
// would not become smaller is sent as it is.
//
// A Packer and an Unpacker keep a KiB each and no compressor: there are thousands of sessions.
package packed
