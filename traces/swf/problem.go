package swf

import (
	"fmt"
	"strings"

	"accordion/core"
)

// Kind is a way in which a line violates the format.
type Kind int

// The kinds of problems, and what a Reader that is not strict does.
const (
	Missing    Kind = iota // fewer than 18 fields: the missing fields become Unknown
	Surplus                // more than 18 fields: ignored
	NotNumber              // a field without a number: becomes Unknown
	OutOfRange             // a number beyond the field's bounds: becomes Unknown
	Fraction               // a fraction other than .0 in a whole number: cut off
	NotJob                 // a line that does not begin with a job number: ignored
	BadProfile             // an EP line without a valid profile: ignored
	kinds
)

var done = [kinds]string{
	Missing:    "lines with fewer than 18 fields, the others taken as unknown",
	Surplus:    "lines with more than 18 fields, the others left out",
	NotNumber:  "fields that are no numbers, taken as unknown",
	OutOfRange: "numbers out of range, taken as unknown",
	Fraction:   "fractions of whole numbers, cut off",
	NotJob:     "lines that are no jobs, left out",
	BadProfile: "EP lines that say no profile, left out",
}

// Problem is a place in a log that violates the format: the error of a strict Reader.
type Problem struct {
	File  string // name that the Reader was given
	Line  int    // line number; the first line is 1
	Field Field  // 0 means the whole line
	Kind  Kind
	Text  string // text of the field; for Missing and Surplus the number of fields
}

// Error returns one line: file:line, the field by number and name, what is wrong, and what would be right.
func (p *Problem) Error() string {
	at := fmt.Sprintf("%s:%d", p.File, p.Line)
	if p.Field > 0 {
		at = fmt.Sprintf("%s: field %d (%s)", at, int(p.Field), p.Field)
	}
	switch p.Kind {
	case Missing, Surplus:
		return fmt.Sprintf("%s: %s fields; a job has %d", at, p.Text, Fields)
	case NotNumber:
		return fmt.Sprintf("%s: %s is no number; write -1 for what is unknown", at, core.Shown(p.Text))
	case OutOfRange:
		return fmt.Sprintf("%s: %s is out of range; at most %d", at, core.Shown(p.Text), p.Field.most())
	case Fraction:
		return fmt.Sprintf("%s: %s is not a whole number", at, core.Shown(p.Text))
	case BadProfile:
		return fmt.Sprintf("%s: %s", at, p.Text)
	}
	return fmt.Sprintf("%s: %s is no job number; a line is a job of %d numbers, or begins with a semicolon", at, core.Shown(p.Text), Fields)
}

// Warnings counts the problems in the lines that a Reader read.
type Warnings [kinds]Warning

// Warning counts one kind of problem.
type Warning struct {
	Count int
	First *Problem // nil if there was none
}

// Total returns the number of problems.
func (w *Warnings) Total() int {
	sum := 0
	for _, k := range w {
		sum += k.Count
	}
	return sum
}

// Lines returns one line for each kind of problem that occurred: how often, and where first.
func (w *Warnings) Lines() []string {
	var lines []string
	for kind, k := range w {
		if k.Count > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d, first %v", done[kind], k.Count, k.First))
		}
	}
	return lines
}

// String returns the lines as one text.
func (w *Warnings) String() string { return strings.Join(w.Lines(), "\n") }

func (w *Warnings) add(p *Problem) {
	if w[p.Kind].Count++; w[p.Kind].First == nil {
		w[p.Kind].First = p
	}
}
