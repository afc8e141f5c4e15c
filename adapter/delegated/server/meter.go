package server

// Directions of frames.
const (
	In  = "in"  // from a launcher or a part
	Out = "out" // to a launcher or a part
)

// Meter counts frames. It is called from many goroutines and must not block.
type Meter interface {
	// Frame counts one frame. bytes is the size of the frame as it was sent, packed or not, including its length field but not its proof.
	// typ is the type of its message, "unknown" for a type that this version does not know, or "" if the frame has no message.
	Frame(direction, typ string, bytes int)
}

type noMeter struct{}

func (noMeter) Frame(string, string, int) {}

// unknown is the type as which messages of unknown types are counted, because a peer could send any number of different types.
const unknown = "unknown"
