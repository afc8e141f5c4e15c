package srun

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Option is one option of a command line.
type Option struct {
	Name  string // long name, without dashes
	Value string
	Given bool // a value was given, possibly an empty one: true for --comment= but not for --exclusive
}

// String returns the option as one word.
func (o Option) String() string {
	if !o.Given {
		return "--" + o.Name
	}
	return "--" + o.Name + "=" + o.Value
}

// Line is a parsed command line of srun.
type Line struct {
	Options []Option // in their order; if an option may be given only once, the last one counts
	Program []string // the program with its arguments; empty if there is none
}

// Last returns the last option of a name.
func (l Line) Last(name string) (o Option, ok bool) {
	for _, o := range slices.Backward(l.Options) {
		if o.Name == name {
			return o, true
		}
	}
	return Option{}, false
}

// Parse parses the arguments as srun does. The options end before the first word that is not an option, or at "--". Short options may be
// bundled, and long options may be shortened as long as they are unique. Parse calls `foreign` for options that it does not know, such as
// the options of a cluster's plug-ins. The error is one line for the user.
func Parse(arguments []string, foreign func(name string) (Takes, bool)) (Line, error) {
	p := parser{rest: arguments, foreign: foreign}
	for len(p.rest) > 0 {
		word := p.rest[0]
		if len(word) < 2 || word[0] != '-' {
			break
		}
		p.rest = p.rest[1:]
		if word == "--" {
			break
		}
		read := p.bundle
		if strings.HasPrefix(word, "--") {
			read = p.long
		}
		if err := read(strings.TrimLeft(word[:2], "-") + word[2:]); err != nil {
			return Line{}, err
		}
	}
	return Line{Options: p.options, Program: p.rest}, nil
}

type parser struct {
	rest    []string
	options []Option
	foreign func(string) (Takes, bool)
}

// long parses an option from its text without the dashes.
func (p *parser) long(text string) error {
	written, value, given := strings.Cut(text, "=")
	name, takes, err := p.named(written)
	if err != nil {
		return err
	}
	switch {
	case takes == Nothing && given:
		return fmt.Errorf("--%s takes no value", name)
	case takes == Value && !given:
		if value, given = p.next(); !given {
			return fmt.Errorf("--%s needs a value", name)
		}
	}
	p.options = append(p.options, Option{Name: name, Value: value, Given: given})
	return nil
}

// named finds an option by its name, which may be shortened.
func (p *parser) named(written string) (name string, takes Takes, err error) {
	takes, known := longNames[written]
	if !known && p.foreign != nil {
		if takes, foreign := p.foreign(written); foreign {
			return written, takes, nil
		}
	}
	name = written
	if !known {
		var all []string
		for _, other := range slices.Sorted(maps.Keys(longNames)) {
			if written != "" && strings.HasPrefix(other, written) {
				all = append(all, other)
			}
		}
		switch len(all) {
		case 0:
			return "", 0, fmt.Errorf("srun has no option --%s (srun --help lists them)", written)
		case 1:
			name, takes = all[0], longNames[all[0]]
		default:
			return "", 0, fmt.Errorf("--%s may be --%s: write it in full", written, strings.Join(all, ", --"))
		}
	}
	if alias := aliases[name]; alias != "" {
		name = alias
	}
	return name, takes, nil
}

// bundle parses short options from their text without the dash. The last option may have a value, which is the rest of the word or the next
// word.
func (p *parser) bundle(text string) error {
	for i := range len(text) {
		name, known := shortNames[text[i]]
		if !known {
			return fmt.Errorf("srun has no option -%c (srun --help lists them)", rune(text[i]))
		}
		value := text[i+1:]
		switch longNames[name] {
		case Nothing:
			p.options = append(p.options, Option{Name: name})
			continue
		case Value:
			if value == "" {
				var given bool
				if value, given = p.next(); !given {
					return fmt.Errorf("-%c (--%s) needs a value", rune(text[i]), name)
				}
			}
			p.options = append(p.options, Option{Name: name, Value: value, Given: true})
		case Perhaps:
			p.options = append(p.options, Option{Name: name, Value: value, Given: value != ""})
		}
		return nil
	}
	return nil
}

// next removes and returns the next word.
func (p *parser) next() (word string, ok bool) {
	if len(p.rest) == 0 {
		return "", false
	}
	word, p.rest = p.rest[0], p.rest[1:]
	return word, true
}
