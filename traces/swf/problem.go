package swf

import (
	"fmt"
	"strings"

	"accordion/core"
)

// Kind is a way in which a line is not as the format wants it.
type Kind int

// The kinds of problems, and what a Reader that is not strict does about each.
const (
	Missing    Kind = iota // fewer than 18 fields: the others are Unknown
	Surplus                // more than 18 fields: left out
	NotNumber              // a field that is no number: Unknown
	OutOfRange             // a number beyond the field's bounds: Unknown
	Fraction               // a fraction other than .0 where numbers are whole: cut off
	NotJob                 // a line that does not begin with a job number: left out
	BadProfile             // an EP line that says no profile of a job: left out
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

// Problem is one place where a log is not as the format wants it: the error of a strict Reader.
type Problem struct {
	File  string // as the Reader was told
	Line  int    // from 1
	Field Field  // 0: the whole line
	Kind  Kind
	Text  string // what stands there; for Missing and Surplus how many fields there are
}

// Error is one line: file:line, the field by number and name, what is wrong, what would be right.
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

// Warnings counts what a Reader found wrong and read nevertheless.
type Warnings [kinds]Warning

// Warning is how often one kind of problem was met.
type Warning struct {
	Count int
	First *Problem // nil where there was none
}

// Total is how many problems there were.
func (w *Warnings) Total() int {
	sum := 0
	for _, k := range w {
		sum += k.Count
	}
	return sum
}

// Lines says each kind of problem that was met, how often, and where first: one line each.
func (w *Warnings) Lines() []string {
	var lines []string
	for kind, k := range w {
		if k.Count > 0 {
			lines = append(lines, fmt.Sprintf("%s: %d, first %v", done[kind], k.Count, k.First))
		}
	}
	return lines
}

// String is the lines together.
func (w *Warnings) String() string { return strings.Join(w.Lines(), "\n") }

func (w *Warnings) add(p *Problem) {
	if w[p.Kind].Count++; w[p.Kind].First == nil {
		w[p.Kind].First = p
	}
}
