package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Kind is the kind of a msgpack value.
type Kind byte

// The kinds.
const (
	KindNil Kind = iota
	KindBool
	KindInteger
	KindFloat
	KindString
	KindBytes
	KindExtension
	KindList
	KindMap
)

func (k Kind) String() string {
	return [...]string{"nil", "a truth value", "an integer", "a float", "a string", "binary", "an extension", "a list", "a map"}[k]
}

// Value is one msgpack value. For a list or a map it is only the head.
type Value struct {
	Kind  Kind
	N     int64   // the integer; 0 or 1 for a truth value; the number of values, or pairs, that follow
	Large bool    // the integer is above 2^63 - 1
	Float float64 // the float
	Data  []byte  // bytes of a string, binary or extension; a part of the frame, not a copy
}

func (v Value) String() string {
	switch {
	case v.Kind == KindFloat:
		return fmt.Sprint(v.Float)
	case v.Kind == KindInteger && !v.Large:
		return fmt.Sprint(v.N)
	}
	return v.Kind.String()
}

// Cursor reads the msgpack of a frame that Open has checked. It allocates no memory, because frames from unknown peers are checked with it
// before they are decoded. Unlike the codec, it distinguishes a string from binary, and allows errors to name the wrong field of a message.
type Cursor struct{ rest []byte }

// Open returns a Cursor at the beginning of a body. It checks that the body is exactly one complete map with string keys, with at most
// `deepest` levels including the map itself. The error is a *MalformedError. No method of the Cursor fails afterwards.
func Open(body []byte, deepest int) (*Cursor, error) {
	c := &Cursor{rest: body}
	head, ok := c.take()
	switch {
	case !ok:
		return nil, malformed("it is not msgpack")
	case head.Kind != KindMap:
		return nil, malformed("it is %s and not a map", head.Kind)
	}
	if why := c.pass(head, deepest); why != "" {
		return nil, malformed("%s", why)
	}
	if len(c.rest) > 0 {
		return nil, malformed("%d bytes follow the map", len(c.rest))
	}
	return &Cursor{rest: body}, nil
}

// pass skips the values that belong to a head. These values may nest to the given number of levels.
func (c *Cursor) pass(head Value, levels int) (why string) {
	if head.Kind != KindList && head.Kind != KindMap {
		return ""
	}
	if levels == 0 {
		return "it is nested too deeply"
	}
	for range head.N { // if the count is too high, the loop ends where the bytes end
		if head.Kind == KindMap {
			if key, ok := c.take(); !ok || key.Kind != KindString {
				return "it is not msgpack, or a key is not a string"
			}
		}
		if _, ok := c.Small(); ok {
			continue
		}
		v, ok := c.take()
		if !ok {
			return "it is not msgpack, or not whole"
		}
		if why := c.pass(v, levels-1); why != "" {
			return why
		}
	}
	return ""
}

// Next returns the next value. For a list or a map it returns the head.
func (c *Cursor) Next() Value {
	v, _ := c.take()
	return v
}

// Leave skips the values that belong to a head.
func (c *Cursor) Leave(head Value) { c.pass(head, -1) }

// IsNil reports whether the next value is nil.
func (c *Cursor) IsNil() bool { return len(c.rest) > 0 && c.rest[0] == 0xc0 }

// Small reads an integer in one of the two forms that nearly all integers have, because profiles are long. For anything
// else it returns false and reads nothing.
func (c *Cursor) Small() (n int64, ok bool) {
	switch r := c.rest; {
	case len(r) > 0 && r[0] <= 0x7f:
		c.rest = r[1:]
		return int64(r[0]), true
	case len(r) > 4 && r[0] == 0xce:
		c.rest = r[5:]
		return int64(binary.BigEndian.Uint32(r[1:])), true
	}
	return 0, false
}

// take reads one value. It returns false when the bytes are not msgpack or not complete.
func (c *Cursor) take() (Value, bool) {
	if len(c.rest) == 0 {
		return Value{}, false
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	switch {
	case b <= 0x7f || b >= 0xe0:
		return Value{Kind: KindInteger, N: int64(int8(b))}, true
	case b <= 0x8f:
		return Value{Kind: KindMap, N: int64(b & 0x0f)}, true
	case b <= 0x9f:
		return Value{Kind: KindList, N: int64(b & 0x0f)}, true
	case b <= 0xbf:
		return c.bytes(KindString, uint64(b&0x1f), true)
	}
	switch b {
	case 0xc0:
		return Value{Kind: KindNil}, true
	case 0xc2, 0xc3:
		return Value{Kind: KindBool, N: int64(b & 1)}, true
	case 0xc4, 0xc5, 0xc6:
		return c.sized(KindBytes, b-0xc4)
	case 0xc7, 0xc8, 0xc9:
		return c.extension(c.uint(b - 0xc7))
	case 0xca, 0xcb:
		return c.number(b)
	case 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3:
		return c.integer(b)
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		return c.extension(1<<(b-0xd4), true)
	case 0xd9, 0xda, 0xdb:
		return c.sized(KindString, b-0xd9)
	case 0xdc, 0xdd:
		n, ok := c.uint(b - 0xdc + 1)
		return Value{Kind: KindList, N: int64(n)}, ok
	case 0xde, 0xdf:
		n, ok := c.uint(b - 0xde + 1)
		return Value{Kind: KindMap, N: int64(n)}, ok
	}
	return Value{}, false // 0xc1
}

// uint reads an unsigned number of 2^power bytes.
func (c *Cursor) uint(power byte) (uint64, bool) {
	size := 1 << power
	if len(c.rest) < size {
		return 0, false
	}
	var wide [8]byte
	copy(wide[8-size:], c.rest)
	c.rest = c.rest[size:]
	return binary.BigEndian.Uint64(wide[:]), true
}

func (c *Cursor) integer(b byte) (Value, bool) {
	power := (b - 0xcc) & 3
	n, ok := c.uint(power)
	if b < 0xd0 {
		return Value{Kind: KindInteger, N: int64(n & math.MaxInt64), Large: n > math.MaxInt64}, ok
	}
	unused := 64 - 8<<power
	return Value{Kind: KindInteger, N: int64(n<<unused) >> unused}, ok
}

func (c *Cursor) number(b byte) (Value, bool) {
	n, ok := c.uint(b - 0xca + 2)
	if b == 0xca {
		return Value{Kind: KindFloat, Float: float64(math.Float32frombits(uint32(n)))}, ok
	}
	return Value{Kind: KindFloat, Float: math.Float64frombits(n)}, ok
}

func (c *Cursor) sized(k Kind, power byte) (Value, bool) {
	n, ok := c.uint(power)
	return c.bytes(k, n, ok)
}

// extension reads an extension, which has its type before its bytes.
func (c *Cursor) extension(n uint64, ok bool) (Value, bool) { return c.bytes(KindExtension, n+1, ok) }

func (c *Cursor) bytes(k Kind, n uint64, ok bool) (Value, bool) {
	if !ok || n > uint64(len(c.rest)) {
		return Value{}, false
	}
	v := Value{Kind: k, Data: c.rest[:n]}
	c.rest = c.rest[n:]
	return v, true
}
