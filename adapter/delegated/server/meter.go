package server

// Direction is which way a frame went.
type Direction string

// The directions.
const (
	In  Direction = "in"  // from a launcher or a part
	Out Direction = "out" // to one
)

// Meter counts frames. It is called from many goroutines and must not block.
type Meter interface {
	// Frame: one went, of so many bytes as it was sent, packed or not, its length included, its proof not. Type is its message's, "unknown" when it has one that we do
	// not know, "" when it is no message.
	Frame(d Direction, typ string, bytes int)
}

type noMeter struct{}

func (noMeter) Frame(Direction, string, int) {}

// unknown stands for types that are not ours: a peer could name as many as it likes.
const unknown = "unknown"
