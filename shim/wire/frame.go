package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/ugorji/go/codec"
)

// ErrTruncated means that the peer closed the connection in the middle of a frame. If the peer closed the connection before the first byte
// of a frame, the error is io.EOF.
var ErrTruncated = errors.New("the frame is truncated")

// TooLongError means that a frame is, or would be, longer than allowed. Nothing after its length was read or written.
type TooLongError struct {
	Length uint64 // bytes
	Most   int    // bytes that were allowed; 0 means MaxFrame
}

func (e *TooLongError) Error() string {
	most := e.Most
	if most == 0 {
		most = MaxFrame
	}
	return fmt.Sprintf("the frame is too long: %d bytes, at most %d are allowed", e.Length, most)
}

// VersionError means that the version of a frame is not ours. Version is 0 if the frame has no version.
type VersionError struct{ Version int64 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("the frame is of version %d, and this is version %d: use the same release of accordion for the job and the sidecar", e.Version, Version)
}

// MalformedError means that a frame is not one msgpack map with our fields, or has values that are not possible.
type MalformedError struct{ Err error }

func (e *MalformedError) Error() string { return "the frame is malformed: " + e.Err.Error() }
func (e *MalformedError) Unwrap() error { return e.Err }

// WriteRequest writes one request, and sets its Version.
func WriteRequest(w io.Writer, r Request) error {
	r.Version = Version
	return write(w, &r)
}

// WriteReply writes one reply, and sets its Version.
func WriteReply(w io.Writer, r Reply) error {
	r.Version = Version
	return write(w, &r)
}

// ReadRequest reads one request and checks that its numbers are possible. It reads nothing after the frame. The error is io.EOF,
// ErrTruncated, a *TooLongError, a *VersionError, a *MalformedError, or an error of the reader.
func ReadRequest(r io.Reader) (Request, error) {
	var q Request
	if err := readUpTo(r, MaxFrame, strict, &q); err != nil {
		return Request{}, err
	}
	switch {
	case q.Job <= 0:
		return Request{}, malformed("job %d: a job id is positive", q.Job)
	case q.Step < 0:
		return Request{}, malformed("step %d: steps count from 1", q.Step)
	case q.Waits < 0:
		return Request{}, malformed("waits %d: seconds are not negative", q.Waits)
	}
	return q, nil
}

// ReadReply reads one reply, with the same errors as ReadRequest. It ignores fields that it does not know, because a
// later sidecar may send more.
func ReadReply(r io.Reader) (Reply, error) {
	var p Reply
	if err := readUpTo(r, MaxFrame, lenient, &p); err != nil {
		return Reply{}, err
	}
	switch p.Status {
	case Resized, Refused, Over, Late, Busy:
	default:
		return Reply{}, malformed("status %q is none of ours", p.Status)
	}
	if p.Count < 0 || p.Step < 0 || p.Steps < 0 || p.Generation < 0 {
		return Reply{}, malformed("a negative number")
	}
	for _, a := range p.Allocations {
		if a.Job <= 0 || a.Nodes == "" {
			return Reply{}, malformed("an allocation of job %d on the nodes %q", a.Job, a.Nodes)
		}
	}
	return p, nil
}

func malformed(format string, args ...any) error {
	return &MalformedError{Err: fmt.Errorf(format, args...)}
}

const header = 4 // bytes of the length

// write encodes a frame into one buffer and writes the buffer in one call, so that a deadline does not cut a frame inside its header.
func write(w io.Writer, message any) error { return writeUpTo(w, MaxFrame, message) }

func writeUpTo(w io.Writer, most int, message any) error {
	frame, err := encode(message)
	if err != nil {
		return fmt.Errorf("encode a frame: %w", err)
	}
	if n := len(frame) - header; n > most {
		e := &TooLongError{Length: uint64(n)}
		if most != MaxFrame {
			e.Most = most
		}
		return e
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-header))
	_, err = w.Write(frame)
	return err
}

// readUpTo reads one frame with at most the given number of bytes. It checks the version before it decodes the rest.
func readUpTo(r io.Reader, most int, f *format, into any) error {
	frame, err := ReadUpTo(r, most)
	if err != nil {
		return err
	}
	body := frame[header:]
	if err := checkVersion(body); err != nil {
		return err
	}
	return decode(body, f, into)
}

// ReadFrame reads one whole frame, with its length, and does not parse it. It is for callers that must know that a message is genuine
// before they parse it. The error is io.EOF, ErrTruncated, a *TooLongError, or an error of the reader.
func ReadFrame(r io.Reader) ([]byte, error) { return ReadUpTo(r, MaxFrame) }

// ReadUpTo reads a frame as ReadFrame does. The msgpack of the frame may have at most the given number of bytes.
func ReadUpTo(r io.Reader, most int) ([]byte, error) {
	var head [header]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, truncated(err)
	}
	length := binary.BigEndian.Uint32(head[:])
	if uint64(length) > uint64(most) {
		e := &TooLongError{Length: uint64(length)}
		if most != MaxFrame {
			e.Most = most
		}
		return nil, e
	}
	frame := make([]byte, header+int(length))
	copy(frame, head[:])
	if _, err := io.ReadFull(r, frame[header:]); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, ErrTruncated // The header was read, so even an end before the first byte comes too early.
		}
		return nil, truncated(err)
	}
	return frame, nil
}

func truncated(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTruncated
	}
	return err
}

// checkVersion checks only "v". It allows fields that we do not know.
func checkVersion(body []byte) error {
	v, err := version(body, maxDepth)
	if err == nil && v != Version {
		err = &VersionError{Version: v}
	}
	return err
}

// version returns the value of "v" in a body. It returns 0 when "v" is not an integer.
func version(body []byte, deepest int) (found int64, err error) {
	c, err := Open(body, deepest)
	if err != nil {
		return 0, err
	}
	for range c.Next().N {
		key, v := c.Next(), c.Next()
		if string(key.Data) == "v" {
			found = 0
			if v.Kind == KindInteger && !v.Large {
				found = v.N
			}
		}
		if v.Kind == KindList && v.N > mostListed {
			return 0, malformed("a list of %d elements", v.N)
		}
		c.Leave(v)
	}
	return found, nil
}

// VersionOf returns the version of a frame, which is given with its length. It parses nothing else. It returns 0 if the frame has no
// version or is not a message. The version of a connection's first frame is the version of the protocol.
func VersionOf(frame []byte) int64 {
	if len(frame) <= header {
		return 0
	}
	v, _ := version(frame[header:], deepest)
	return v
}

// format is a codec handle with a pool of its decoders. A handle must not change after its first use. newFormat returns a complete handle,
// which can be shared.
type format struct{ decoders sync.Pool }

var (
	lenient = newFormat(false)
	strict  = newFormat(true)

	encoders = sync.Pool{New: func() any { return codec.NewEncoderBytes(new([]byte), handle(true)) }}
)

func newFormat(strict bool) *format {
	h := handle(strict)
	return &format{decoders: sync.Pool{New: func() any { return codec.NewDecoderBytes(nil, h) }}}
}

// maxDepth limits the nesting of a frame. Our messages are one map of plain values, and of lists of such maps.
const maxDepth = 4

// mostListed limits the number of elements of a list. An Allocation takes at least 14 bytes.
const mostListed = MaxFrame / 14

// deepest limits the nesting in frames of later versions, which may nest deeper. The code for such a version applies its own limit.
const deepest = 64

func handle(strict bool) *codec.MsgpackHandle {
	h := new(codec.MsgpackHandle)
	h.WriteExt = true  // the present msgpack specification, which distinguishes strings from bytes
	h.Canonical = true // the same message gives the same bytes
	h.RawToString = true
	h.SignedInteger = true // plain integers decode as int64
	h.ValidateUnicode = true
	h.ErrorIfNoField = strict
	h.MaxDepth = deepest + 1 // a limit of the codec; Open has checked the depth before
	h.MaxInitLen = 64        // because a short frame may claim to be a map with 2^32 entries
	return h
}

// decode decodes a body that Open has accepted.
func decode(body []byte, f *format, into any) error {
	d := f.decoders.Get().(*codec.Decoder)
	d.ResetBytes(body)
	err := d.Decode(into)
	d.ResetBytes(nil) // releases the body
	f.decoders.Put(d)
	if err != nil {
		return &MalformedError{Err: err}
	}
	return nil
}

// encode returns a frame whose length is not filled in yet.
func encode(message any) ([]byte, error) {
	var body []byte
	e := encoders.Get().(*codec.Encoder)
	e.ResetBytes(&body)
	err := e.Encode(message)
	e.ResetBytes(new([]byte))
	encoders.Put(e)
	if err != nil {
		return nil, err
	}
	return append(make([]byte, header, header+len(body)), body...), nil
}
