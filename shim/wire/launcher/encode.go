package launcher

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"

	"accordion/shim/wire"
)

// lengthSize is what a frame's length takes, in bytes.
const lengthSize = 4

// Append adds to b one frame: its length, and the message numbered seq. The same message has the same bytes. The error is a
// *wire.TooLongError when nobody would take it, and b is as it was.
func Append(b []byte, seq int64, m Message) ([]byte, error) {
	begin := len(b)
	value := reflect.ValueOf(m).Elem()
	t := tables[value.Type()]
	out := append(b, 0, 0, 0, 0)
	out = appendHead(out, 0x80, 0xde, 15, t.sent(value)+2)
	out = appendString(out, "t")
	out = appendString(out, m.Type())
	out = appendString(out, "s")
	out = appendInt(out, seq)
	out = t.appendFields(out, value)
	length := len(out) - begin - lengthSize
	if length > MostToClient {
		return b, fmt.Errorf("a message %s: %w", m.Type(), &wire.TooLongError{Length: uint64(length), Most: MostToClient})
	}
	binary.BigEndian.PutUint32(out[begin:], uint32(length))
	return out, nil
}

// Write writes one message as one frame in one call.
func Write(w io.Writer, seq int64, m Message) error {
	frame, err := Append(nil, seq, m)
	if err != nil {
		return err
	}
	_, err = w.Write(frame)
	return err
}

// sent is how many fields of a value are sent.
func (t *table) sent(value reflect.Value) int {
	n := 0
	for _, f := range t.fields {
		if !f.left(value) {
			n++
		}
	}
	return n
}

// left says that a field is not sent.
func (f field) left(value reflect.Value) bool {
	v := value.Field(f.index)
	return f.omitempty && (v.IsZero() || v.Kind() != reflect.Pointer && v.Kind() != reflect.Float64 && empty(v))
}

func empty(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

func (t *table) appendFields(b []byte, value reflect.Value) []byte {
	for _, f := range t.fields {
		if !f.left(value) {
			b = appendString(b, f.key)
			b = appendValue(b, value.Field(f.index), f.lists)
		}
	}
	return b
}

func appendValue(b []byte, v reflect.Value, lists bool) []byte {
	switch v.Kind() {
	case reflect.Int, reflect.Int64:
		return appendInt(b, v.Int())
	case reflect.Float64:
		return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(v.Float()))
	case reflect.Bool:
		if v.Bool() {
			return append(b, 0xc3)
		}
		return append(b, 0xc2)
	case reflect.String:
		return appendString(b, v.String())
	case reflect.Pointer:
		return appendValue(b, v.Elem(), false)
	case reflect.Map:
		return appendStrings(b, v.Interface().(map[string]string))
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return appendBytes(b, v.Bytes())
		}
		b = appendHead(b, 0x90, 0xdc, 15, v.Len())
		if steps, is := v.Interface().([]int64); is { // they are many
			for _, n := range steps {
				b = appendInt(b, n)
			}
			return b
		}
		for i := range v.Len() {
			if lists {
				b = appendList(b, v.Index(i))
			} else {
				b = appendValue(b, v.Index(i), false)
			}
		}
		return b
	default: // a struct: there is nothing else in a message
		t := tables[v.Type()]
		return t.appendFields(appendHead(b, 0x80, 0xde, 15, t.sent(v)), v)
	}
}

// appendList writes a struct as the list of its fields' values.
func appendList(b []byte, v reflect.Value) []byte {
	fields := tables[v.Type()].fields
	b = appendHead(b, 0x90, 0xdc, 15, len(fields))
	for _, f := range fields {
		b = appendValue(b, v.Field(f.index), false)
	}
	return b
}

func appendStrings(b []byte, all map[string]string) []byte {
	b = appendHead(b, 0x80, 0xde, 15, len(all))
	for _, key := range slices.Sorted(maps.Keys(all)) {
		b = appendString(appendString(b, key), all[key])
	}
	return b
}

// appendHead begins a map or a list of n: in the form "fix" up to most, else in 16 or 32 bits.
func appendHead(b []byte, fix, wide byte, most, n int) []byte {
	switch {
	case n <= most:
		return append(b, fix|byte(n))
	case n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, wide), uint16(n))
	}
	return binary.BigEndian.AppendUint32(append(b, wide+1), uint32(n))
}

func appendString(b []byte, s string) []byte {
	switch n := len(s); {
	case n > 31 && n <= math.MaxUint8:
		b = append(b, 0xd9, byte(n))
	default:
		b = appendHead(b, 0xa0, 0xda, 31, n)
	}
	return append(b, s...)
}

func appendBytes(b, data []byte) []byte {
	switch n := len(data); {
	case n <= math.MaxUint8:
		b = append(b, 0xc4, byte(n))
	default:
		b = appendHead(b, 0, 0xc5, -1, n)
	}
	return append(b, data...)
}

// appendInt writes the shortest form.
func appendInt(b []byte, n int64) []byte {
	switch {
	case n >= 0 && n <= math.MaxInt8:
		return append(b, byte(n))
	case n >= -32 && n < 0:
		return append(b, byte(n))
	case n >= 0 && n <= math.MaxUint8:
		return append(b, 0xcc, byte(n))
	case n >= 0 && n <= math.MaxUint16:
		return binary.BigEndian.AppendUint16(append(b, 0xcd), uint16(n))
	case n >= 0 && n <= math.MaxUint32:
		return binary.BigEndian.AppendUint32(append(b, 0xce), uint32(n))
	case n >= 0:
		return binary.BigEndian.AppendUint64(append(b, 0xcf), uint64(n))
	case n >= math.MinInt8:
		return append(b, 0xd0, byte(n))
	case n >= math.MinInt16:
		return binary.BigEndian.AppendUint16(append(b, 0xd1), uint16(n))
	case n >= math.MinInt32:
		return binary.BigEndian.AppendUint32(append(b, 0xd2), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(n))
}
