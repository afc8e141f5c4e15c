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

// Version is what hello and welcome say in "deflate": which Dictionary, and which Window.
const Version = 1

const (
	header = 4    // bytes of a frame's length
	mark   = 0xc1 // begins what is packed: no msgpack begins so
)

// Packer packs the frames of one direction of a session, all that come after hello or welcome, in their order. The zero value is ready. One
// goroutine may use it at a time.
type Packer struct{ past past }

// Pack is what to send of a frame, its length included: never more than the frame itself. The frame stays as it is, and may be the result.
// It waits for whoever packs at the moment.
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

// compressor is the only one of the process. It takes almost a MiB, and a view for all wakes hundreds of writers at once: with a pool of them a
// sidecar of 200 launchers was once seen with 33 MiB more.
var compressor struct {
	sync.Mutex
	to *flate.Writer
}

// level is the first one of the library that looks for the best repetition and takes DEFLATE's fixed codes where their own would cost more:
// measured on Figure 12 those before it send 30 to 40 % more, the best one after it 1 % less.
const level = 7

// deflated is a message as a frame of which only the length is missing.
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

// Unpacker unpacks the frames of one direction of a session, in their order. The zero value is ready. One goroutine may use it at a time.
// After an error it is of no use.
type Unpacker struct{ past past }

// Unpack is the frame that was sent, its length included. Of what is unpacked most bytes are allowed, the length not among them. Errors
// are *wire.TooLongError, and *launcher.FrameError for what is damaged.
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

// decompressors are as many as unpack at the same moment.
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
