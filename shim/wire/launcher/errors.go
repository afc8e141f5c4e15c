package launcher

import (
	"errors"
	"fmt"
	"strings"

	"accordion/shim/wire"
)

// FrameError means that a frame is not a message. It is not msgpack, not a map with string keys, nested too deep, or has no "t".
type FrameError struct{ Why string }

func (e *FrameError) Error() string { return "the frame is no message: " + e.Why }

// TypeError means that a message has an unknown type.
type TypeError struct {
	Seq  int64
	Type string
}

func (e *TypeError) Error() string { return fmt.Sprintf("there is no message of type %.40q", e.Type) }

// FieldError means that a field of a message has an impossible value.
type FieldError struct {
	Seq   int64  // 0 if the field is "s" itself
	Type  string // type of the message
	Field string // such as hosts[2].n
	Why   string
}

func (e *FieldError) Error() string {
	return fmt.Sprintf("%s: field %s: %s", e.Type, e.Field, e.Why)
}

// Refusal returns the Refuse for an error of wire.ReadUpTo, Decode or Check. It returns nil if the connection itself failed.
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

// Final reports whether the connection is closed after a refusal with this code.
func Final(code string) bool {
	switch code {
	case CodeAuth, CodeVersion, CodeUnknown, CodeFull, CodeFrame, CodeSize, CodeFlood:
		return true
	}
	return false
}

// codeOf returns the code for a wrong field. Fields whose errors do not end the session have their own codes.
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
