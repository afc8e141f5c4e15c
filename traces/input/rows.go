package input

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"accordion/core"
)

// Columns is what the rows of a text must have.
type Columns struct {
	Wanted  []string // names of required columns
	Rest    string   // column that may contain the separator if it is the last one
	Default []string // names for a text without a header line; nil if the header line is required
	Command string   // command that prints a text with these columns, for messages
}

// separators are the possible separators of fields. The first one that gives a header line with all wanted columns is used.
var separators = []string{"|", "\t", ";"}

// maxPreamble is the maximum number of lines before the header line, such as messages of a login shell.
const maxPreamble = 100

// Rows reads rows of fields after a header line, as sacct prints them. The header line may occur again, as in concatenated outputs. If the
// header line ends with a separator, a separator at the end of any other line does not begin another field.
//
// A later line that looks like a different header does not change the columns, because the name of a user's job may contain such a line.
type Rows struct {
	lines   *Lines
	file    string
	columns Columns

	names     []string
	places    map[string]int
	separator string
	trailing  bool // lines end with a separator

	fields []string // fields of the current row
	again  bool     // Next returns the current line, which NewRows has already read
}

// NewRows reads the header line, and returns an *Error if there is none. It counts the lines before the header line as unread.
func NewRows(in io.Reader, file string, c Columns, unread *Unread) (*Rows, error) {
	r := &Rows{lines: NewLines(in), file: file, columns: c, separator: separators[0]}
	var first *Error
	var above Unread
	for range maxPreamble {
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

// failed returns the error for a failed read.
func (r *Rows) failed(err error) error {
	return fmt.Errorf("read %s, after line %d: %w", r.file, r.lines.Number, err)
}

// scan reads the next line that is not blank.
func (r *Rows) scan() error {
	for {
		if err := r.lines.Next(); err != nil {
			return err
		}
		r.lines.Text = strings.TrimPrefix(r.lines.Text, mark) // byte order mark, if texts with one were concatenated
		if !blank(r.lines.Text) {
			return nil
		}
	}
}

// header uses the current line as header line. It returns the name of a wanted column that is missing, or "".
func (r *Rows) header() (missing string) {
	for _, separator := range separators {
		names := strings.Split(r.lines.Text, separator)
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		lacks := missingName(names, r.columns.Wanted)
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

// missingName returns the first wanted name that is not among the names, or "".
func missingName(names, wanted []string) string {
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

// Next reads the next row. It returns an *Error for a line that cannot be read; Next may be called again. It returns io.EOF after the last
// row, or an error of the input.
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

// repeated reports whether the current line is the header line again, because outputs of the same command may be concatenated.
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

// split splits the current line into fields.
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
	case r.Has(strings.TrimSpace(r.fields[0])) && missingName(r.fields, r.columns.Wanted) == "":
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

// Wrong returns the error for a column of the current row; "" is the whole line.
func (r *Rows) Wrong(column, why string) *Error {
	return &Error{File: r.file, Line: r.lines.Number, Column: column, Why: why}
}

// Has reports whether the rows have a column.
func (r *Rows) Has(column string) bool {
	_, has := r.places[column]
	return has
}

// Text returns the value of a column in the current row, or "" if the column does not exist.
func (r *Rows) Text(column string) string {
	if at, has := r.places[column]; has && at < len(r.fields) {
		return r.fields[at]
	}
	return ""
}

// Line returns the current line and its number.
func (r *Rows) Line() (text string, number int) { return r.lines.Text, r.lines.Number }

// Cut reports whether the last line has no end, so that it may be incomplete.
func (r *Rows) Cut() bool { return !r.lines.Ended && r.lines.Number > 0 }

// Each calls `use` for each row. It counts in `unread` the lines that cannot be read, and the lines for which
// `use` returns an *Error. It returns other errors of `use` and of the input.
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
