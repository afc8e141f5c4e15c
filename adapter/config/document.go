package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// document is a parsed TOML file, or a parsed piece of one, with the positions of its keys.
type document struct {
	file     string
	above    int // number of lines in the file before the piece
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

// first returns the topmost mistake, in which More is the number of the other mistakes. It returns nil if there is no mistake.
func (m mistakes) first() error {
	if len(m) == 0 {
		return nil
	}
	first := slices.MinFunc(m, func(a, b *Error) int { return a.Line - b.Line })
	first.More = len(m) - 1
	return first
}

// section decodes the value of a top-level key into *into. The value is one setting, or a TOML table of settings. t describes all settings.
func section[C any](d *document, into *C, t table[C], name string, content toml.Primitive) mistakes {
	isSection := slices.ContainsFunc(t, func(s setting[C]) bool { return s.section == name && name != "" })
	if !isSection {
		return take(d, into, t, "", name, content)
	}
	if kind := d.md.Type(name); kind != "Hash" && kind != "" { // the kind is "" for a table `a` that the file defines only by a key "a.b" or a header [a.b]
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

// entry decodes the only [[name]] table of a piece.
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

// leaf receives a value from the TOML library. If the function returns an error, the library adds the position of the key to the error.
type leaf func(any) error

// UnmarshalTOML calls the function with the value. The TOML library calls UnmarshalTOML.
func (l leaf) UnmarshalTOML(value any) error { return l(value) }

// mistake converts an error of the TOML library.
func (d *document) mistake(err error) *Error {
	e := &Error{File: d.file, What: err.Error()}
	var parse toml.ParseError
	if errors.As(err, &parse) {
		e.Line, e.What = parse.Position.Line, parse.Message
		if d.above > 0 { // the first line of a piece is its [[key]] line, to which the library may give the line number 0
			e.Line = d.above + max(e.Line, 1)
		}
		if e.What == "" { // for syntax errors the library leaves this field empty
			_, e.What, _ = strings.Cut(parse.Error(), ": ")
		}
	}
	return e
}
