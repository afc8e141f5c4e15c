// Package packed compresses the frames of a launcher's session, if both ends agreed to that in hello and welcome (docs/protocol.md, "Packed
// frames", is normative):
//
//	var out packed.Packer
//	var in packed.Unpacker
//	…
//	err := stream.WriteFrame(out.Pack(frame))
//	…
//	frame, err := stream.ReadFrame(launcher.MostToClient)
//	frame, err = in.Unpack(frame, launcher.MostToClient)
//
// A packed frame is the byte 0xc1, with which no msgpack begins, and the message as raw DEFLATE (RFC 1951) with a
// preset dictionary. The dictionary is the end (Window) of the data before this message: Dictionary, and then the earlier messages in the same direction.
// So frames must be packed, and unpacked, in their order. A frame that would not become smaller is sent unchanged.
//
// A Packer and an Unpacker keep a KiB each and no compressor, because there are thousands of sessions.
package packed
