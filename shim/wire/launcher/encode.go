package launcher

import (
	"encoding/binary"
	"fmt"
	"io"
	"reflect"

	"accordion/shim/wire"
)

// lengthSize is the size of a frame's length, in bytes.
const lengthSize = 4

// Append appends one frame to b: its length, and the message with the number seq. The same message always has the same bytes. The error is a
// *wire.TooLongError if no peer would accept the frame; b is then returned unchanged.
func Append(b []byte, seq int64, m Message) ([]byte, error) {
	body, err := write(append(pairs{"t", m.Type(), "s", seq}, sent(reflect.ValueOf(m).Elem())...))
	if err == nil && len(body) > MostToClient {
		err = &wire.TooLongError{Length: uint64(len(body)), Most: MostToClient}
	}
	if err != nil {
		return b, fmt.Errorf("a message %s: %w", m.Type(), err)
	}
	return append(binary.BigEndian.AppendUint32(b, uint32(len(body))), body...), nil
}

// Write writes one message as one frame, in one call.
func Write(w io.Writer, seq int64, m Message) error {
	frame, err := Append(nil, seq, m)
	if err != nil {
		return err
	}
	_, err = w.Write(frame)
	return err
}

// sent returns the keys and values of a struct's fields that are sent.
func sent(v reflect.Value) pairs {
	all := pairs{} // nil would be an empty list
	for _, f := range tables[v.Type()].fields {
		if one := v.Field(f.index); !f.omitempty || !empty(one) {
			all = append(all, f.key, f.value(one))
		}
	}
	return all
}

// empty reports whether a field with omitempty is left out.
func empty(v reflect.Value) bool {
	return v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// value returns what the codec writes for a field.
func (f field) value(v reflect.Value) any {
	switch kind := v.Kind(); {
	case kind == reflect.Pointer:
		return sent(v.Elem())
	case kind == reflect.Struct && f.lists:
		var all []any
		for _, inside := range tables[v.Type()].fields {
			all = append(all, inside.value(v.Field(inside.index)))
		}
		return all
	case kind == reflect.Struct:
		return sent(v)
	case kind == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		all := make([]any, v.Len())
		for i := range all {
			all[i] = f.value(v.Index(i))
		}
		return all
	}
	return v.Interface()
}
