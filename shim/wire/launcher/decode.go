package launcher

import (
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"
)

// Decode reads a whole frame, its length included, as wire.ReadUpTo returns it. It returns the message's number wherever there is one.
// Errors are *FrameError, *TypeError or *FieldError. What a message says may still be impossible: see Check.
func Decode(frame []byte) (Message, int64, error) {
	if len(frame) < lengthSize {
		return nil, 0, &FrameError{Why: "it has no length"}
	}
	body := frame[lengthSize:]
	if err := validate(body); err != nil {
		return nil, 0, err
	}
	kind, seq, err := envelope(body)
	if err != nil {
		return nil, 0, err
	}
	maker := makers[kind]
	if maker == nil {
		return nil, seq, &TypeError{Seq: seq, Type: kind}
	}
	m := maker()
	c := &cursor{rest: body}
	if err := c.fillStruct(reflect.ValueOf(m).Elem(), ""); err != nil {
		err.Seq, err.Type = seq, kind
		return nil, seq, err
	}
	return m, seq, nil
}

// envelope finds "t" and "s" in a frame that is valid.
func envelope(body []byte) (kind string, seq int64, err error) {
	c := &cursor{rest: body}
	for range c.next().n {
		key := string(c.next().data)
		v := c.next()
		switch {
		case key == "t" && v.kind == kindString && kind == "":
			kind = string(v.data)
		case key == "t":
			return "", 0, &FrameError{Why: `"t" is not one string`}
		case key == "s" && v.kind == kindInteger && v.n > 0 && !v.large && seq == 0:
			seq = v.n
		case key == "s":
			return "", 0, &FrameError{Why: `"s" is not one positive integer`}
		}
		c.leave(v)
	}
	switch {
	case kind == "":
		return "", 0, &FrameError{Why: `it has no "t"`}
	case seq == 0:
		return "", 0, &FrameError{Why: `it has no "s"`}
	}
	return kind, seq, nil
}

// fill reads one value into a field; path names the field in errors.
func (c *cursor) fill(into reflect.Value, lists bool, path string) *FieldError {
	switch into.Kind() {
	case reflect.Struct:
		return c.fillStruct(into, path)
	case reflect.Pointer:
		into.Set(reflect.New(into.Type().Elem()))
		return c.fillStruct(into.Elem(), path)
	case reflect.Map:
		return c.fillStrings(into, path)
	case reflect.Slice:
		if into.Type().Elem().Kind() != reflect.Uint8 {
			return c.fillSlice(into, lists, path)
		}
	}
	v := c.next()
	why := v.set(into)
	if why != "" {
		return &FieldError{Field: path, Why: why}
	}
	return nil
}

// set puts a plain value into a field, or says why it cannot.
func (v value) set(into reflect.Value) (why string) {
	switch into.Kind() {
	case reflect.Int, reflect.Int64:
		switch {
		case v.kind != kindInteger:
			return fmt.Sprintf("%s is no integer", v)
		case v.large:
			return "the integer is too large"
		}
		into.SetInt(v.n)
	case reflect.Float64:
		switch {
		case v.kind == kindInteger && !v.large:
			into.SetFloat(float64(v.n))
		case v.kind != kindFloat || math.IsNaN(v.float) || math.IsInf(v.float, 0):
			return fmt.Sprintf("%s is no number", v)
		default:
			into.SetFloat(v.float)
		}
	case reflect.Bool:
		if v.kind != kindBool {
			return fmt.Sprintf("%s is neither true nor false", v)
		}
		into.SetBool(v.n != 0)
	case reflect.String:
		if v.kind != kindString || !utf8.Valid(v.data) {
			return fmt.Sprintf("%s is no text in UTF-8", v)
		}
		into.SetString(string(v.data))
	default: // bytes: there is nothing else in a message
		if v.kind != kindBytes {
			return fmt.Sprintf("%s is not binary", v)
		}
		into.SetBytes(append([]byte(nil), v.data...))
	}
	return ""
}

func (c *cursor) fillStruct(into reflect.Value, path string) *FieldError {
	head := c.next()
	if head.kind != kindMap {
		return &FieldError{Field: path, Why: fmt.Sprintf("%s is no map", head)}
	}
	t := tables[into.Type()]
	var seen uint64
	for range head.n {
		key := string(c.next().data)
		at, known := t.byKey[key]
		if !known {
			c.leave(c.next())
			continue
		}
		f := t.fields[at]
		inside := join(path, key)
		if seen&(1<<at) != 0 {
			return &FieldError{Field: inside, Why: "it is there twice"}
		}
		seen |= 1 << at
		if c.isNil() { // as if it were not there
			c.next()
			continue
		}
		if err := c.fill(into.Field(f.index), f.lists, inside); err != nil {
			return err
		}
	}
	return nil
}

// fillList reads a struct that is sent as the list of its fields' values.
func (c *cursor) fillList(into reflect.Value, path string) *FieldError {
	fields := tables[into.Type()].fields
	head := c.next()
	if head.kind != kindList || head.n != int64(len(fields)) {
		return &FieldError{Field: path, Why: fmt.Sprintf("%s is no list of %d", head, len(fields))}
	}
	for _, f := range fields {
		if err := c.fill(into.Field(f.index), false, join(path, f.key)); err != nil {
			return err
		}
	}
	return nil
}

func (c *cursor) fillSlice(into reflect.Value, lists bool, path string) *FieldError {
	head := c.next()
	if head.kind != kindList {
		return &FieldError{Field: path, Why: fmt.Sprintf("%s is no list", head)}
	}
	n := int(head.n) // so many values are there: the frame is valid
	all := reflect.MakeSlice(into.Type(), n, n)
	for i := range n {
		var err *FieldError
		switch one := all.Index(i); {
		case lists:
			err = c.fillList(one, element(path, i))
		case one.Kind() == reflect.Int64: // steps are many: no names for those that are right
			if n, ok := c.small(); ok {
				one.SetInt(n)
			} else if why := c.next().set(one); why != "" {
				err = &FieldError{Field: element(path, i), Why: why}
			}
		default:
			err = c.fill(one, false, element(path, i))
		}
		if err != nil {
			return err
		}
	}
	into.Set(all)
	return nil
}

func (c *cursor) fillStrings(into reflect.Value, path string) *FieldError {
	head := c.next()
	if head.kind != kindMap {
		return &FieldError{Field: path, Why: fmt.Sprintf("%s is no map", head)}
	}
	all := make(map[string]string, min(head.n, 64))
	for range head.n {
		key := string(c.next().data)
		v := c.next()
		if v.kind != kindString || !utf8.Valid(v.data) || !utf8.ValidString(key) {
			return &FieldError{Field: join(path, fmt.Sprintf("%.40q", key)), Why: fmt.Sprintf("%s is no text in UTF-8", v)}
		}
		all[key] = string(v.data)
	}
	into.Set(reflect.ValueOf(all))
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func element(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }
