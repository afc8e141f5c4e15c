package launcher

import (
	"io"

	"accordion/shim/wire"
)

// Read reads one frame of at most `most` bytes, and nothing after it.
func Read(r io.Reader, most int) (Message, int64, error) {
	frame, err := wire.ReadUpTo(r, most)
	if err != nil {
		return nil, 0, err
	}
	return Decode(frame)
}
