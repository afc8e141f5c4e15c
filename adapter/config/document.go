package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// document is a TOML file, or a piece of one: its top-level keys and their positions.
type document struct {
	file     string
	above    int // lines of the file before the piece
	md       toml.MetaData
	sections map[string]toml.Primitive
}

// decode parses the text as TOML.
func decode(file, text string, above int) (*document, error) {
	d := &document{file: file, above: above}
	var err error
	if d.md, err = toml.Decode(text, &d.sections); err != nil {
		return nil, d.mistake(err)
	}
	return d, nil
}

// mistakes are the mistakes in a file.
type mistakes []*Error

// first returns the topmost mistake, with the number of the others, and nil if there is no mistake.
func (m mistakes) first() error {
	if len(m) == 0 {
		return nil
	}
	first := slices.MinFunc(m, func(a, b *Error) int { return a.Line - b.Line })
	first.More = len(m) - 1
	return first
}

// section decodes a top-level key: one setting, or a TOML table of settings that t describes.
func section[C any](d *document, into *C, t table[C], name string, content toml.Primitive) mistakes {
	isSection := slices.ContainsFunc(t, func(s setting[C]) bool { return s.section == name && name != "" })
	if !isSection {
		return take(d, into, t, "", name, content)
	}
	if kind := d.md.Type(name); kind != "Hash" && kind != "" { // the kind is "" for a table that exists only because of "a.b" or [a.b]
		return mistakes{d.refuse(content, fmt.Errorf("%s must be a table: write [%s] on a line of its own", name, name))}
	}
	return keys(d, into, t, name, content)
}

// keys decodes a table of settings.
func keys[C any](d *document, into *C, t table[C], name string, content toml.Primitive) mistakes {
	var all map[string]toml.Primitive
	if err := d.md.PrimitiveDecode(content, &all); err != nil {
		return mistakes{d.mistake(err)}
	}
	return values(d, into, t, name, all)
}

// entry decodes the only [[name]] of a piece.
func entry[C any](d *document, into *C, t table[C], name string, content toml.Primitive) (wrong mistakes) {
	if d.md.Type(name) != "ArrayHash" {
		return mistakes{d.refuse(content, fmt.Errorf("write [[%s]] on a line of its own", name))}
	}
	var all []map[string]toml.Primitive
	if err := d.md.PrimitiveDecode(content, &all); err != nil {
		return mistakes{d.mistake(err)}
	}
	for _, one := range all {
		wrong = append(wrong, values(d, into, t, "["+name+"]", one)...)
	}
	return wrong
}

func values[C any](d *document, into *C, t table[C], section string, all map[string]toml.Primitive) (wrong mistakes) {
	for key, value := range all {
		wrong = append(wrong, take(d, into, t, section, key, value)...)
	}
	return wrong
}

// take decodes the value of one setting.
func take[C any](d *document, into *C, t table[C], section, key string, value toml.Primitive) mistakes {
	put := leaf(func(any) error { return t.unknown(section, key) })
	if s, ok := t.find(section, key); ok {
		put = func(v any) error { return s.take(into, v) }
	}
	if err := d.md.PrimitiveDecode(value, put); err != nil {
		return mistakes{d.mistake(err)}
	}
	return nil
}

// refuse returns a mistake at the position of content.
func (d *document) refuse(content toml.Primitive, why error) *Error {
	return d.mistake(d.md.PrimitiveDecode(content, leaf(func(any) error { return why })))
}

// at returns a mistake at the position of a top-level key.
func (d *document) at(key, why string) *Error { return d.refuse(d.sections[key], errors.New(why)) }

// leaf receives a value from the TOML library. The library adds the key's position to its error.
type leaf func(any) error

// UnmarshalTOML passes the value to the function.
func (l leaf) UnmarshalTOML(value any) error { return l(value) }

// mistake converts an error of the TOML library.
func (d *document) mistake(err error) *Error {
	e := &Error{File: d.file, What: err.Error()}
	var parse toml.ParseError
	if errors.As(err, &parse) {
		e.Line, e.What = parse.Position.Line, parse.Message
		if d.above > 0 { // a piece begins with its [[key]] line
			e.Line = d.above + max(e.Line, 1)
		}
		if e.What == "" { // syntax errors of the library have their text in another field
			_, e.What, _ = strings.Cut(parse.Error(), ": ")
		}
	}
	return e
}
