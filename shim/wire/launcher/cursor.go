package launcher

import (
	"encoding/binary"
	"fmt"
	"math"
)

// deepest is how deep lists and maps may be nested in a frame; the message's own map counts.
const deepest = 6

// The kinds of msgpack values.
type kind byte

const (
	kindNil kind = iota
	kindBool
	kindInteger
	kindFloat
	kindString
	kindBytes
	kindExtension
	kindList
	kindMap
)

func (k kind) String() string {
	return [...]string{"nil", "a truth value", "an integer", "a float", "a string", "binary", "an extension", "a list", "a map"}[k]
}

// value is one msgpack value, of a list or map only its head.
type value struct {
	kind  kind
	n     int64   // the integer; 0 or 1; how many values, or pairs, follow
	large bool    // an integer above 2^63 - 1
	float float64 // the float
	data  []byte  // of strings, binary and extensions; in the frame
}

func (v value) String() string {
	switch {
	case v.kind == kindFloat:
		return fmt.Sprint(v.float)
	case v.kind == kindInteger && !v.large:
		return fmt.Sprint(v.n)
	}
	return v.kind.String()
}

// cursor goes through a frame's msgpack. The codec library that package wire uses cannot say which field of a message is wrong, nor
// tell a string from binary in a key; what there is to read is small.
type cursor struct{ rest []byte }

// validate says whether a body is exactly one map with string keys, whole and not too deep. After it next cannot fail.
func validate(body []byte) error {
	c := &cursor{rest: body}
	head, ok := c.take()
	switch {
	case !ok:
		return &FrameError{Why: "it is not msgpack"}
	case head.kind != kindMap:
		return &FrameError{Why: fmt.Sprintf("it is %s and not a map", head.kind)}
	}
	if why := c.check(head, 1); why != "" {
		return &FrameError{Why: why}
	}
	if len(c.rest) > 0 {
		return &FrameError{Why: fmt.Sprintf("%d bytes follow the map", len(c.rest))}
	}
	return nil
}

// check goes through what follows a head at a depth.
func (c *cursor) check(head value, depth int) (why string) {
	if head.kind != kindList && head.kind != kindMap {
		return ""
	}
	if depth > deepest {
		return fmt.Sprintf("it is nested deeper than %d", deepest)
	}
	for range head.n { // a count that lies ends where the bytes do
		if head.kind == kindMap {
			if key, ok := c.take(); !ok || key.kind != kindString {
				return "not msgpack, or a key that is no string"
			}
		}
		if _, ok := c.small(); ok {
			continue
		}
		v, ok := c.take()
		if !ok {
			return "it is not msgpack, or not whole"
		}
		if why := c.check(v, depth+1); why != "" {
			return why
		}
	}
	return ""
}

// next is the next value of a frame that is valid.
func (c *cursor) next() value {
	v, _ := c.take()
	return v
}

// leave passes over what follows a head.
func (c *cursor) leave(head value) { c.check(head, 0) }

func (c *cursor) isNil() bool { return len(c.rest) > 0 && c.rest[0] == 0xc0 }

// small reads an integer in one of the two forms that nearly all have, for profiles are long; false, and nothing is read: it is something else.
func (c *cursor) small() (n int64, ok bool) {
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

// take reads one value; false when it is not msgpack or not whole.
func (c *cursor) take() (value, bool) {
	if len(c.rest) == 0 {
		return value{}, false
	}
	b := c.rest[0]
	c.rest = c.rest[1:]
	switch {
	case b <= 0x7f || b >= 0xe0:
		return value{kind: kindInteger, n: int64(int8(b))}, true
	case b <= 0x8f:
		return value{kind: kindMap, n: int64(b & 0x0f)}, true
	case b <= 0x9f:
		return value{kind: kindList, n: int64(b & 0x0f)}, true
	case b <= 0xbf:
		return c.bytes(kindString, uint64(b&0x1f), true)
	}
	switch b {
	case 0xc0:
		return value{kind: kindNil}, true
	case 0xc2, 0xc3:
		return value{kind: kindBool, n: int64(b & 1)}, true
	case 0xc4, 0xc5, 0xc6:
		return c.sized(kindBytes, b-0xc4)
	case 0xc7, 0xc8, 0xc9:
		return c.extension(c.uint(b - 0xc7))
	case 0xca, 0xcb:
		return c.number(b)
	case 0xcc, 0xcd, 0xce, 0xcf, 0xd0, 0xd1, 0xd2, 0xd3:
		return c.integer(b)
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		return c.extension(1<<(b-0xd4), true)
	case 0xd9, 0xda, 0xdb:
		return c.sized(kindString, b-0xd9)
	case 0xdc, 0xdd:
		n, ok := c.uint(b - 0xdc + 1)
		return value{kind: kindList, n: int64(n)}, ok
	case 0xde, 0xdf:
		n, ok := c.uint(b - 0xde + 1)
		return value{kind: kindMap, n: int64(n)}, ok
	}
	return value{}, false // 0xc1
}

// uint reads an unsigned number of 2^power bytes.
func (c *cursor) uint(power byte) (uint64, bool) {
	size := 1 << power
	if len(c.rest) < size {
		return 0, false
	}
	var wide [8]byte
	copy(wide[8-size:], c.rest)
	c.rest = c.rest[size:]
	return binary.BigEndian.Uint64(wide[:]), true
}

func (c *cursor) integer(b byte) (value, bool) {
	power := (b - 0xcc) & 3
	n, ok := c.uint(power)
	if b < 0xd0 {
		return value{kind: kindInteger, n: int64(n & math.MaxInt64), large: n > math.MaxInt64}, ok
	}
	unused := 64 - 8<<power
	return value{kind: kindInteger, n: int64(n<<unused) >> unused}, ok
}

func (c *cursor) number(b byte) (value, bool) {
	n, ok := c.uint(b - 0xca + 2)
	if b == 0xca {
		return value{kind: kindFloat, float: float64(math.Float32frombits(uint32(n)))}, ok
	}
	return value{kind: kindFloat, float: math.Float64frombits(n)}, ok
}

func (c *cursor) sized(k kind, power byte) (value, bool) {
	n, ok := c.uint(power)
	return c.bytes(k, n, ok)
}

// extension has its type before its bytes.
func (c *cursor) extension(n uint64, ok bool) (value, bool) { return c.bytes(kindExtension, n+1, ok) }

func (c *cursor) bytes(k kind, n uint64, ok bool) (value, bool) {
	if !ok || n > uint64(len(c.rest)) {
		return value{}, false
	}
	v := value{kind: k, data: c.rest[:n]}
	c.rest = c.rest[n:]
	return v, true
}
