package launcher

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"

	"accordion/shim/wire"
)

// deepest is how deep lists and maps may be nested in a frame, including the message's own map.
const deepest = 6

// mostMemory limits the memory of a message's lists and maps to a multiple of the frame's size. Valid messages need at most 9 times the
// frame's size. A list of 60,000 empty maps would need 144 times its size.
const mostMemory = 16

// reader fills a message from its frame.
type reader struct {
	*wire.Cursor
	left int // bytes of memory that the message may still use
}

// room reserves memory for n values of a type, before they are made.
func (r *reader) room(kind reflect.Type, n int64) *FieldError {
	if n > int64(r.left)/int64(kind.Size()) {
		return &FieldError{Why: "it says too much in too few bytes"}
	}
	r.left -= int(n) * int(kind.Size())
	return nil
}

// Decode parses a whole frame with its length, as wire.ReadUpTo returns it. It returns the message's number even with an error, if the
// frame has a number. Errors are *FrameError, *TypeError or *FieldError. The message may still have impossible values (see Check).
func Decode(frame []byte) (Message, int64, error) {
	if len(frame) < lengthSize {
		return nil, 0, &FrameError{Why: "it has no length"}
	}
	body := frame[lengthSize:]
	c, err := wire.Open(body, deepest)
	if err != nil {
		return nil, 0, &FrameError{Why: errors.Unwrap(err).Error()}
	}
	kind, seq, err := envelope(*c)
	if err != nil {
		return nil, 0, err
	}
	maker := makers[kind]
	if maker == nil {
		return nil, seq, &TypeError{Seq: seq, Type: kind}
	}
	m := maker()
	r := &reader{Cursor: c, left: mostMemory * len(frame)}
	if err := r.fillStruct(reflect.ValueOf(m).Elem()); err != nil {
		err.Seq, err.Type = seq, kind
		return nil, seq, err
	}
	return m, seq, nil
}

// envelope finds the keys "t" and "s".
func envelope(c wire.Cursor) (kind string, seq int64, err error) {
	for range c.Next().N {
		key := string(c.Next().Data)
		v := c.Next()
		switch {
		case key == "t" && v.Kind == wire.KindString && kind == "":
			kind = string(v.Data)
		case key == "t":
			return "", 0, &FrameError{Why: `"t" is not one string`}
		case key == "s" && v.Kind == wire.KindInteger && v.N > 0 && !v.Large && seq == 0:
			seq = v.N
		case key == "s":
			return "", 0, &FrameError{Why: `"s" is not one positive integer`}
		}
		c.Leave(v)
	}
	switch {
	case kind == "":
		return "", 0, &FrameError{Why: `it has no "t"`}
	case seq == 0:
		return "", 0, &FrameError{Why: `it has no "s"`}
	}
	return kind, seq, nil
}

// fill reads one value into a field. In errors, names of fields are relative to `into`.
func (r *reader) fill(into reflect.Value, lists bool) *FieldError {
	switch kind := into.Kind(); {
	case kind == reflect.Struct && lists:
		return r.fillList(into)
	case kind == reflect.Struct:
		return r.fillStruct(into)
	case kind == reflect.Pointer:
		if err := r.room(into.Type().Elem(), 1); err != nil {
			return err
		}
		into.Set(reflect.New(into.Type().Elem()))
		return r.fillStruct(into.Elem())
	case kind == reflect.Map:
		return r.fillStrings(into)
	case kind == reflect.Slice && into.Type().Elem().Kind() != reflect.Uint8:
		return r.fillSlice(into, lists)
	}
	if why := set(into, r.Next()); why != "" {
		return &FieldError{Why: why}
	}
	return nil
}

// set puts a plain value into a field, or returns why it cannot.
func set(into reflect.Value, v wire.Value) (why string) {
	switch into.Kind() {
	case reflect.Int, reflect.Int64:
		switch {
		case v.Kind != wire.KindInteger:
			return fmt.Sprintf("%s is no integer", v)
		case v.Large:
			return "the integer is too large"
		}
		into.SetInt(v.N)
	case reflect.Float64:
		switch {
		case v.Kind == wire.KindInteger && !v.Large:
			into.SetFloat(float64(v.N))
		case v.Kind != wire.KindFloat || math.IsNaN(v.Float) || math.IsInf(v.Float, 0):
			return fmt.Sprintf("%s is no number", v)
		default:
			into.SetFloat(v.Float)
		}
	case reflect.Bool:
		if v.Kind != wire.KindBool {
			return fmt.Sprintf("%s is neither true nor false", v)
		}
		into.SetBool(v.N != 0)
	case reflect.String:
		if v.Kind != wire.KindString || !utf8.Valid(v.Data) {
			return fmt.Sprintf("%s is no text in UTF-8", v)
		}
		into.SetString(string(v.Data))
	default: // bytes, because messages have no other kinds
		if v.Kind != wire.KindBytes {
			return fmt.Sprintf("%s is not binary", v)
		}
		into.SetBytes(append([]byte(nil), v.Data...))
	}
	return ""
}

func (r *reader) fillStruct(into reflect.Value) *FieldError {
	head := r.Next()
	if head.Kind != wire.KindMap {
		return &FieldError{Why: fmt.Sprintf("%s is no map", head)}
	}
	t := tables[into.Type()]
	var seen uint64
	for range head.N {
		key := string(r.Next().Data)
		at, known := t.byKey[key]
		if !known {
			r.Leave(r.Next())
			continue
		}
		f := t.fields[at]
		if seen&(1<<at) != 0 {
			return &FieldError{Field: key, Why: "it is there twice"}
		}
		seen |= 1 << at
		if r.IsNil() { // as if the key were missing
			r.Next()
			continue
		}
		if err := r.fill(into.Field(f.index), f.lists); err != nil {
			return err.in(key)
		}
	}
	return nil
}

// fillList reads a struct that is sent as the list of its fields' values.
func (r *reader) fillList(into reflect.Value) *FieldError {
	fields := tables[into.Type()].fields
	head := r.Next()
	if head.Kind != wire.KindList || head.N != int64(len(fields)) {
		return &FieldError{Why: fmt.Sprintf("%s is no list of %d", head, len(fields))}
	}
	for _, f := range fields {
		if err := r.fill(into.Field(f.index), false); err != nil {
			return err.in(f.key)
		}
	}
	return nil
}

func (r *reader) fillSlice(into reflect.Value, lists bool) *FieldError {
	head := r.Next()
	if head.Kind != wire.KindList {
		return &FieldError{Why: fmt.Sprintf("%s is no list", head)}
	}
	if err := r.room(into.Type().Elem(), head.N); err != nil { // the frame is complete, so it contains all elements
		return err
	}
	all := reflect.MakeSlice(into.Type(), int(head.N), int(head.N))
	for i := range int(head.N) {
		one := all.Index(i)
		if one.Kind() == reflect.Int64 { // fast, because there are many steps
			if n, ok := r.Small(); ok {
				one.SetInt(n)
				continue
			}
		}
		if err := r.fill(one, lists); err != nil {
			return err.in(fmt.Sprintf("[%d]", i))
		}
	}
	into.Set(all)
	return nil
}

func (r *reader) fillStrings(into reflect.Value) *FieldError {
	head := r.Next()
	if head.Kind != wire.KindMap {
		return &FieldError{Why: fmt.Sprintf("%s is no map", head)}
	}
	if err := r.room(reflect.TypeFor[[3]string](), head.N); err != nil { // a key, a value, and the map's own memory
		return err
	}
	all := make(map[string]string, head.N)
	for range head.N {
		key, v := string(r.Next().Data), r.Next()
		if v.Kind != wire.KindString || !utf8.Valid(v.Data) || !utf8.ValidString(key) {
			return &FieldError{Field: fmt.Sprintf("%.40q", key), Why: fmt.Sprintf("%s is no text in UTF-8", v)}
		}
		all[key] = string(v.Data)
	}
	into.Set(reflect.ValueOf(all))
	return nil
}

// in adds the name of the surrounding value to the front of the field's name.
func (e *FieldError) in(where string) *FieldError {
	if e.Field != "" && e.Field[0] != '[' {
		where += "."
	}
	e.Field = where + e.Field
	return e
}

func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
