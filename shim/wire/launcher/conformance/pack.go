package conformance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ugorji/go/codec"
)

// fields lists the keys and values of a map alternately, in the order in which they are sent.
type fields []any

// `list` is a msgpack list. `wide` is an integer in 64 bits, and `big` is an unsigned one. `raw` is sent unchanged.
type (
	list []any
	wide int64
	big  uint64
	raw  string
)

// pack writes a value in msgpack. An int takes one byte if it fits, and otherwise 64 bits.
func pack(b []byte, v any) []byte {
	switch v := v.(type) {
	case raw:
		return append(b, v...)
	case int:
		if v >= 0 && v < 128 {
			return append(b, byte(v))
		}
		return pack(b, wide(v))
	case int64:
		return pack(b, int(v))
	case wide:
		return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(v))
	case big:
		return binary.BigEndian.AppendUint64(append(b, 0xcf), uint64(v))
	case float64:
		h := new(codec.MsgpackHandle)
		var out []byte
		codec.NewEncoderBytes(&out, h).MustEncode(v)
		return append(b, out...)
	case string:
		return append(append(b, 0xda, byte(len(v)>>8), byte(len(v))), v...)
	case list:
		b = append(b, 0xdc, byte(len(v)>>8), byte(len(v)))
		for _, one := range v {
			b = pack(b, one)
		}
		return b
	case fields:
		b = append(b, 0xde, byte(len(v)/2>>8), byte(len(v)/2))
		for _, one := range v {
			b = pack(b, one)
		}
		return b
	}
	panic(fmt.Sprintf("%T is nothing that is sent", v))
}

// frame puts the length before a body.
func frame(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// message is a received message.
type message map[string]any

func (m message) kind() string { s, _ := m["t"].(string); return s }

func (m message) int(key string) int64 { n, _ := m[key].(int64); return n }

// read reads one frame. `in` is the data that was received before, or nil if nothing is packed.
func read(r io.Reader, most uint32, in *past) (message, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > most {
		return nil, fmt.Errorf("a frame of %d bytes, at most %d are allowed", n, most)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	if in != nil {
		var err error
		if body, err = in.unpack(body, int(most)); err != nil {
			return nil, err
		}
	}
	h := new(codec.MsgpackHandle)
	h.WriteExt, h.RawToString, h.SignedInteger = true, true, true
	var m message
	d := codec.NewDecoderBytes(body, h)
	if err := d.Decode(&m); err != nil {
		return nil, fmt.Errorf("a frame that is no map: %w", err)
	}
	if d.NumBytesRead() != len(body) {
		return nil, errors.New("bytes after the map of a frame")
	}
	return m, nil
}
