package launcher

import (
	"errors"
	"fmt"
	"strings"

	"accordion/shim/wire"
)

// FrameError is a frame that is no message at all: not msgpack, not a map with string keys, nested too deep, without "t".
type FrameError struct{ Why string }

func (e *FrameError) Error() string { return "the frame is no message: " + e.Why }

// TypeError is a message of a type that is none of ours.
type TypeError struct {
	Seq  int64
	Type string
}

func (e *TypeError) Error() string { return fmt.Sprintf("there is no message of type %.40q", e.Type) }

// FieldError is a message with a field that cannot be what it says.
type FieldError struct {
	Seq   int64  // 0 when the field is "s" itself
	Type  string // of the message
	Field string // as hosts[2].n
	Why   string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: field %s: %s", e.Type, e.Field, e.Why)
}

// Refusal is the Refuse for an error of wire.ReadUpTo, Decode or Check; nil when the connection itself failed and nothing can be said.
func Refusal(err error) *Refuse {
	var long *wire.TooLongError
	var frame *FrameError
	var kind *TypeError
	var bad *FieldError
	switch {
	case errors.As(err, &long):
		return &Refuse{Code: CodeSize, Text: err.Error()}
	case errors.As(err, &frame):
		return &Refuse{Code: CodeFrame, Text: err.Error()}
	case errors.As(err, &kind):
		return &Refuse{To: kind.Seq, Code: CodeType, Text: err.Error()}
	case errors.As(err, &bad):
		return &Refuse{To: bad.Seq, Code: codeOf(bad.Type, bad.Field), Text: err.Error(), Field: bad.Field}
	}
	return nil
}

// Final says that the connection is closed after a refusal of that code.
func Final(code string) bool {
	switch code {
	case CodeAuth, CodeVersion, CodeUnknown, CodeFull, CodeFrame, CodeSize, CodeFlood:
		return true
	}
	return false
}

// codeOf is the code for a field that is wrong: what a launcher may say wrong while the session goes on has its own.
func codeOf(kind, path string) string {
	top, _, _ := strings.Cut(path, ".")
	top, _, _ = strings.Cut(top, "[")
	switch {
	case kind == "hello":
		return CodeFrame
	case top == "hosts" && strings.HasSuffix(path, ".c"), top == "filter":
		return CodeCluster
	case top == "hosts":
		return CodeHosts
	case top == "walltime", top == "most":
		return CodeWalltime
	case top == "jobs", top == "job":
		return CodeJob
	case top == "view":
		return CodeView
	case top == "tag", top == "code":
		return CodeState
	}
	return CodeFrame
}
