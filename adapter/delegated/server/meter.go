package server

// Directions of frames.
const (
	In  = "in"  // from a launcher or a part
	Out = "out" // to a launcher or a part
)

// Meter counts frames. It is called from many goroutines and must not block.
type Meter interface {
	// Frame counts one frame. bytes is its size as sent, packed or not, with its length and without its proof. typ is the type of its
	// message, "unknown" for a type that this version does not know, or "" if the frame has no message.
	Frame(direction, typ string, bytes int)
}

type noMeter struct{}

func (noMeter) Frame(string, string, int) {}

// unknown is counted instead of unknown types: a peer could name any number of them.
const unknown = "unknown"
