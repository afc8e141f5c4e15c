package packed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"

	"accordion/shim/wire"
	"accordion/shim/wire/launcher"
)

// Version is the value of "deflate" in hello and welcome. It stands for Dictionary and Window.
const Version = 1

const (
	header = 4    // bytes of a frame's length
	mark   = 0xc1 // first byte of a packed frame; msgpack never begins with it
)

// Packer packs the frames of one direction of a session, in their order, after hello or welcome. The zero value is ready. Only one goroutine
// may use it at a time.
type Packer struct{ past past }

// Pack returns what to send for a frame with its length. The result is never longer than the frame, and may be the frame itself, which is
// not changed. Pack waits while another goroutine packs.
func (p *Packer) Pack(frame []byte) []byte {
	message := frame[header:]
	out, err := deflated(message, p.past.dictionary())
	p.past.add(message)
	if err != nil || len(out) >= len(frame) {
		return frame
	}
	binary.BigEndian.PutUint32(out, uint32(len(out)-header))
	return out
}

// compressor is the only compressor of the process, because one takes almost a MiB. A view for all launchers wakes hundreds of writers
// simultaneously; with a pool of compressors, a sidecar with 200 launchers needed 33 MiB more.
var compressor struct {
	sync.Mutex
	to *flate.Writer
}

// level is a compression level of the library. It is the lowest one that searches for the best repetition, and that
// uses DEFLATE's fixed codes if they are shorter. On the traffic of Figure 12, lower levels send 30 to 40 % more
// bytes, and the best level 1 % fewer.
const level = 7

// deflated returns a message as a frame whose length is not set yet.
func deflated(message, dictionary []byte) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, header+1+len(message)/2))
	out.Write([]byte{0, 0, 0, 0, mark})
	c := &compressor
	c.Lock()
	defer c.Unlock()
	if c.to == nil {
		var err error
		if c.to, err = flate.NewWriter(nil, level); err != nil {
			return nil, err
		}
	}
	c.to.ResetDict(out, dictionary)
	if _, err := c.to.Write(message); err != nil {
		return nil, err
	}
	err := c.to.Close()
	return out.Bytes(), err
}

// Unpacker unpacks the frames of one direction of a session, in their order. The zero value is ready. Only one goroutine may use it at a
// time. After an error it cannot be used any more.
type Unpacker struct{ past past }

// Unpack returns the frame that was packed, with its length. `most` is the largest permitted size in bytes, without the length. Errors are
// *wire.TooLongError, and *launcher.FrameError for damaged frames.
func (u *Unpacker) Unpack(frame []byte, most int) ([]byte, error) {
	if len(frame) > header && frame[header] == mark {
		var err error
		if frame, err = unpack(frame[header+1:], u.past.dictionary(), most); err != nil {
			return nil, err
		}
	}
	u.past.add(frame[min(header, len(frame)):])
	return frame, nil
}

// decompressors is a pool with as many decompressors as goroutines unpack at the same moment.
var decompressors = sync.Pool{New: func() any { return flate.NewReader(bytes.NewReader(nil)) }}

func unpack(data, dictionary []byte, most int) ([]byte, error) {
	from := bytes.NewReader(data)
	d := decompressors.Get().(io.Reader)
	defer decompressors.Put(d)
	if err := d.(flate.Resetter).Reset(from, dictionary); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.Grow(header + min(4*len(data), most))
	out.Write(make([]byte, header))
	n, err := io.Copy(&out, io.LimitReader(d, int64(most)+1))
	switch {
	case n > int64(most):
		return nil, &wire.TooLongError{Length: uint64(n), Most: most}
	case err != nil:
		return nil, &launcher.FrameError{Why: fmt.Sprintf("what is packed is damaged: %v", err)}
	case from.Len() > 0:
		return nil, &launcher.FrameError{Why: fmt.Sprintf("%d bytes after what is packed", from.Len())}
	}
	frame := out.Bytes()
	binary.BigEndian.PutUint32(frame, uint32(n))
	return frame, nil
}
