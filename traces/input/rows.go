package input

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"accordion/core"
)

// Columns say what rows are to have.
type Columns struct {
	Wanted  []string // the names that must be in the line of names
	Rest    string   // the column whose values may contain the separator, where it is the last
	Default []string // the names where the text has no line of names; nil: it must have one
	Command string   // prints such a text: for messages
}

// separators may stand between the fields of a row; the first one with which a line has all wanted names is the text's.
var separators = []string{"|", "\t", ";"}

// patience is how many lines may stand before the line of names: what a login shell said, an error message.
const patience = 100

// Rows reads rows of fields below a line of names, as sacct prints them. The same line of names may come again, where texts are put
// behind each other. A separator at the end of each line is no field where the line of names has one, too.
//
// Another line of names is no row: the rows below it are still read by the first. A user's job name with a line end in it can
// look like one.
type Rows struct {
	lines   *Lines
	file    string
	columns Columns

	names     []string
	places    map[string]int
	separator string
	trailing  bool // lines end in a separator

	fields []string // of the current row
	again  bool     // the current line is the one that was looked at first
}

// NewRows reads the line of names. It returns an *Error where there is none. Lines above it are counted as unread.
func NewRows(in io.Reader, file string, c Columns, unread *Unread) (*Rows, error) {
	r := &Rows{lines: NewLines(in), file: file, columns: c, separator: separators[0]}
	var first *Error
	var above Unread
	for range patience {
		switch err := r.scan(); {
		case errors.Is(err, io.EOF) && first == nil:
			return nil, &Error{File: file, Line: 1, Why: "no text; want what this prints: " + c.Command}
		case errors.Is(err, io.EOF):
			return nil, first
		case err != nil:
			return nil, r.failed(err)
		}
		missing := r.header()
		if missing == "" {
			unread.join(above)
			return r, nil
		}
		if c.Default != nil {
			r.named(c.Default)
			r.again = true
			return r, nil
		}
		if first == nil {
			first = &Error{File: file, Line: r.lines.Number,
				Why: fmt.Sprintf("no column %s in %s; want what this prints: %s", missing, core.Shown(r.lines.Text), c.Command)}
		}
		above.Add(r.Wrong("", "above the line of names"))
		if r.lines.Long {
			break
		}
	}
	return nil, first
}

// failed returns the error of a failed reading.
func (r *Rows) failed(err error) error {
	return fmt.Errorf("read %s, after line %d: %w", r.file, r.lines.Number, err)
}

// scan goes to the next line that is not blank.
func (r *Rows) scan() error {
	for {
		if err := r.lines.Next(); err != nil {
			return err
		}
		r.lines.Text = strings.TrimPrefix(r.lines.Text, mark) // where texts with one are behind each other
		if !blank(r.lines.Text) {
			return nil
		}
	}
}

// header takes the current line for a line of names; it returns the wanted column that is not in it.
func (r *Rows) header() (missing string) {
	for _, separator := range separators {
		names := strings.Split(r.lines.Text, separator)
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		lacks := lacking(names, r.columns.Wanted)
		if missing == "" {
			missing = lacks
		}
		if lacks != "" {
			continue
		}
		r.separator = separator
		r.trailing = len(names) > 1 && names[len(names)-1] == ""
		if r.trailing {
			names = names[:len(names)-1]
		}
		r.named(names)
		return ""
	}
	return missing
}

// lacking returns the first wanted name that is not among the names; "" where all are.
func lacking(names, wanted []string) string {
	there := make(map[string]bool, len(names))
	for _, name := range names {
		there[name] = true
	}
	for _, name := range wanted {
		if !there[name] {
			return name
		}
	}
	return ""
}

func (r *Rows) named(names []string) {
	r.names = names
	r.places = make(map[string]int, len(names))
	for i, name := range names {
		if _, twice := r.places[name]; !twice {
			r.places[name] = i
		}
	}
}

// Next goes to the next row. It returns an *Error for a line that cannot be read, after which Next goes on; io.EOF behind the last
// row; or what went wrong in reading.
func (r *Rows) Next() error {
	for {
		if !r.again {
			if err := r.scan(); errors.Is(err, io.EOF) {
				return err
			} else if err != nil {
				return r.failed(err)
			}
		}
		r.again = false
		if !r.repeated() {
			return r.split()
		}
	}
}

// repeated reports whether the current line is the line of names again: texts that one command printed are put behind each other.
func (r *Rows) repeated() bool {
	if !strings.HasPrefix(strings.TrimSpace(r.lines.Text), r.names[0]) {
		return false
	}
	names := strings.Split(r.lines.Text, r.separator)
	if r.trailing {
		names = names[:len(names)-1]
	}
	return slices.EqualFunc(names, r.names, func(field, name string) bool { return strings.TrimSpace(field) == name })
}

// split takes the current line apart.
func (r *Rows) split() error {
	line, n := r.lines.Text, len(r.names)
	r.fields = r.fields[:0]
	switch {
	case r.lines.Long:
		return r.Wrong("", fmt.Sprintf("a line of more than %d bytes", MaxLine))
	}
	if r.trailing {
		line = strings.TrimSuffix(line, r.separator)
	}
	for field := range strings.SplitSeq(line, r.separator) {
		r.fields = append(r.fields, field)
	}
	switch rest := r.names[n-1] == r.columns.Rest; {
	case len(r.fields) > n && rest:
		r.fields = append(r.fields[:n-1], strings.Join(r.fields[n-1:], r.separator))
	case len(r.fields) == 1 && n > 1 && rest:
		return r.Wrong("", fmt.Sprintf("one field for %d columns: the rest of a %s with a line end in it, or no row", n, r.columns.Rest))
	case r.Has(strings.TrimSpace(r.fields[0])) && lacking(r.fields, r.columns.Wanted) == "":
		return r.Wrong("", "a line of other names than the first: read that text by itself")
	case len(r.fields) != n:
		hint := ""
		if r.columns.Rest != "" && !rest {
			hint = fmt.Sprintf("; a %s may have a %s in it: ask for %s last", r.columns.Rest, r.separator, r.columns.Rest)
		}
		return r.Wrong("", fmt.Sprintf("%d fields for %d columns%s", len(r.fields), n, hint))
	}
	return nil
}

// Wrong returns the error of a column of the current row; "" for the whole line.
func (r *Rows) Wrong(column, why string) *Error {
	return &Error{File: r.file, Line: r.lines.Number, Column: column, Why: why}
}

// Has reports whether the rows have a column.
func (r *Rows) Has(column string) bool {
	_, has := r.places[column]
	return has
}

// Text returns the current row's value of a column; "" where the column is missing.
func (r *Rows) Text(column string) string {
	if at, has := r.places[column]; has && at < len(r.fields) {
		return r.fields[at]
	}
	return ""
}

// Line returns the current line and its number.
func (r *Rows) Line() (text string, number int) { return r.lines.Text, r.lines.Number }

// Cut reports whether the last line has no end, so that it may be cut.
func (r *Rows) Cut() bool { return !r.lines.Ended && r.lines.Number > 0 }

// Each calls use for each row, and counts in unread the lines that cannot be read. A use that returns an *Error makes its line such a
// one. It returns what went wrong in reading otherwise.
func (r *Rows) Each(unread *Unread, use func() error) error {
	for {
		err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = use()
		}
		var wrong *Error
		switch {
		case errors.As(err, &wrong):
			unread.Add(wrong)
		case err != nil:
			return err
		}
	}
}
