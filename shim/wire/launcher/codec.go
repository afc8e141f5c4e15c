package launcher

import (
	"sync"

	"github.com/ugorji/go/codec"
)

// pairs has the keys and values of one map, in the order of sending.
type pairs []any

// MapBySlice marks pairs as a map for the codec.
func (pairs) MapBySlice() {}

// Handles must not change after their first use. Then they are safe to share.
var (
	handle = func() *codec.MsgpackHandle {
		h := new(codec.MsgpackHandle)
		h.WriteExt = true                  // the present msgpack specification, which distinguishes strings and bytes
		h.Canonical = true                 // the same message has the same bytes
		h.PositiveIntUnsigned = true       // the shortest form
		h.NilCollectionToZeroLength = true // an empty list is sent as a list
		return h
	}()
	encoders = sync.Pool{New: func() any { return codec.NewEncoderBytes(new([]byte), handle) }}
)

// write returns a map in msgpack.
func write(fields pairs) (body []byte, err error) {
	e := encoders.Get().(*codec.Encoder)
	defer encoders.Put(e)
	e.ResetBytes(&body)
	err = e.Encode(fields)
	e.ResetBytes(new([]byte))
	return body, err
}
