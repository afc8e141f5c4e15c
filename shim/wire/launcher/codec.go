package launcher

import (
	"sync"

	"github.com/ugorji/go/codec"
)

// pairs are the keys and values of one map, in the order in which they are sent.
type pairs []any

// MapBySlice marks pairs as a map for the codec.
func (pairs) MapBySlice() {}

// A handle must not change after its first use, and is then safe to share.
var (
	handle = func() *codec.MsgpackHandle {
		h := new(codec.MsgpackHandle)
		h.WriteExt = true                  // the present msgpack specification, in which strings are not bytes
		h.Canonical = true                 // the same message, the same bytes
		h.PositiveIntUnsigned = true       // the shortest form
		h.NilCollectionToZeroLength = true // an empty list is a list
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
