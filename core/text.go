package core

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// These limits keep a hostile job comment from making planning slow or overflowing a number.
const (
	MaxNodes         = 1_000_000           // nodes of one step
	MaxSteps         = 1024                // steps of a job as written: in all alternatives, before equal neighbors are joined
	MaxTotal    Time = 3650 * 24 * 60 * 60 // seconds of one profile: ten years of 365 days
	shownLength      = 40                  // bytes of a wrong piece that an error shows
)

// A SyntaxError describes the wrong piece of a user's text and the correct form.
type SyntaxError struct {
	What   string // what was read: "evolution profile"
	Column int    // byte at which the wrong piece begins in the text; the first byte is 1
	Piece  string // the wrong piece, as written
	Want   string // the correct form, as shown to the user
}

// Error returns one line of printable ASCII, whatever the piece contains. It cuts a long piece.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s, column %d: %s is not %s", e.What, e.Column, Shown(e.Piece), e.Want)
}

// Shown quotes a piece of a user's text for a one-line message. It escapes the piece to ASCII and cuts it at 40
// bytes.
func Shown(piece string) string {
	if len(piece) > shownLength {
		return strconv.QuoteToASCII(piece[:shownLength]) + "..."
	}
	return strconv.QuoteToASCII(piece)
}

// DurationForms lists the forms of a duration, for messages.
const DurationForms = "500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS"

// ParseDuration parses a duration in whole seconds. It accepts whole numbers of d, h, m and s, each at most once and
// in this order (500s, 90m, 1h30m, 2d), or Slurm's MM:SS, HH:MM:SS and D-HH:MM:SS. The first field of MM:SS and
// HH:MM:SS may be any number. ParseDuration refuses a bare number, because it means minutes in Slurm and seconds in
// OAR. The result is from 0 to MaxTotal. For all other text ok is false.
func ParseDuration(text string) (d Time, ok bool) {
	if strings.IndexByte(text, ':') >= 0 {
		d, ok = parseClock(text)
	} else {
		d, ok = parseUnits(text)
	}
	return d, ok && d <= MaxTotal
}

// parseUnits parses durations such as 2d, 1h30m and 500s.
func parseUnits(text string) (Time, bool) {
	const units = "dhms"
	seconds := [len(units)]Time{24 * 60 * 60, 60 * 60, 60, 1}
	var sum Time
	next := 0 // index of the largest unit that may still come
	for text != "" {
		n, rest, ok := leadingNumber(text)
		if !ok || rest == "" {
			return 0, false
		}
		unit := strings.IndexByte(units[next:], rest[0])
		if unit < 0 {
			return 0, false
		}
		next += unit + 1
		sum += n * seconds[next-1]
		text = rest[1:]
	}
	return sum, next > 0
}

// parseClock parses Slurm's MM:SS, HH:MM:SS and D-HH:MM:SS.
func parseClock(text string) (Time, bool) {
	days, clock, hasDays := strings.Cut(text, "-")
	if !hasDays {
		days, clock = "0", text
	}
	sum, rest, ok := leadingNumber(days)
	if !ok || rest != "" {
		return 0, false
	}
	fields := strings.Split(clock, ":")
	if len(fields) > 3 || hasDays && len(fields) != 3 {
		return 0, false
	}
	for i, field := range fields {
		n, rest, ok := leadingNumber(field)
		if !ok || rest != "" || i > 0 && (len(field) != 2 || n > 59) {
			return 0, false
		}
		if i == 0 && hasDays {
			if len(field) > 2 || n > 23 {
				return 0, false
			}
			n += 24 * sum
		}
		if i == 0 {
			sum = 0
		}
		sum = 60*sum + n
	}
	return sum, true
}

// ParseNodes parses a number of nodes, from 1 to MaxNodes, in plain digits.
func ParseNodes(text string) (n int, ok bool) {
	value, rest, ok := leadingNumber(text)
	return int(value), ok && rest == "" && value >= 1 && value <= MaxNodes
}

// ParseStep parses NODESxDURATION, a piece of a user's text that begins at the given column. Its error is a
// *SyntaxError that names what is parsed ("evolution profile"). For a piece that was written loosely the error
// suggests the correct text: 8x1h for 8X1h.
func ParseStep(what string, column int, piece string) (Step, error) {
	s, err := parseStep(what, column, piece)
	if err == nil {
		return s, nil
	}
	if tidy := TidyStep(piece); tidy != piece && len(piece) <= shownLength {
		err.Want += "; write " + tidy
	}
	return s, err
}

func parseStep(what string, column int, piece string) (Step, *SyntaxError) {
	if ranged.MatchString(piece) {
		return Step{}, &SyntaxError{what, column, piece, "NODESxDURATION: a range of nodes after it is for malleable jobs, which this release does not run"}
	}
	if strings.ContainsAny(piece, asciiSpace) {
		return Step{}, &SyntaxError{what, column, piece, "NODESxDURATION: no blanks after the comma or anywhere else, as in 5x500s,10x1h"}
	}
	nodes, length, ok := strings.Cut(piece, "x")
	if !ok {
		return Step{}, &SyntaxError{what, column, piece, "NODESxDURATION, such as 5x500s or 10x1h30m"}
	}
	n, ok := ParseNodes(nodes)
	if !ok {
		return Step{}, &SyntaxError{what, column, nodes, fmt.Sprintf("a number of nodes from 1 to %d, as in 5x500s", MaxNodes)}
	}
	d, ok := ParseDuration(length)
	if !ok || d == 0 {
		return Step{}, &SyntaxError{what, column + len(nodes) + 1, length, "a duration above 0 and up to 3650 days: write " + DurationForms}
	}
	return Step{Duration: d, Nodes: n}, nil
}

// ranged matches a piece that ends with blanks and a range of nodes, as in 16x2h 4-64. The form is reserved: see
// core/moldable.
var ranged = regexp.MustCompile(`[^ \t\r\n\v\f][ \t\r\n\v\f]+[0-9]+-[0-9]+$`)

// asciiSpace lists the white space that the Lua plug-in recognizes.
const asciiSpace = " \t\r\n\v\f"

// TrimSpace cuts ASCII white space off both ends of a user's text, as the Lua plug-in does. It also returns the
// column at which the rest begins.
func TrimSpace(text string) (body string, column int) {
	body = strings.TrimLeft(text, asciiSpace)
	return strings.TrimRight(body, asciiSpace), 1 + len(text) - len(body)
}

// leadingNumber splits off the leading digits of a text. It returns a number above every limit for any number that is
// too large, so that nothing overflows.
func leadingNumber(text string) (n Time, rest string, ok bool) {
	i := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		n = min(10*n+Time(text[i]-'0'), 10*MaxTotal)
	}
	return n, text[i:], i > 0
}

// FormatDuration formats seconds as users write them, largest unit first: 5400 is "1h30m", 500 is "8m20s".
// ParseDuration reads the result.
func FormatDuration(d Time) string {
	if d <= 0 {
		return strconv.FormatInt(d, 10) + "s"
	}
	var text []byte
	for _, unit := range []struct {
		length Time
		letter byte
	}{{24 * 60 * 60, 'd'}, {60 * 60, 'h'}, {60, 'm'}, {1, 's'}} {
		if n := d / unit.length; n > 0 {
			text = append(strconv.AppendInt(text, n, 10), unit.letter)
			d -= n * unit.length
		}
	}
	return string(text)
}

// Printable returns a user's text with a ? in place of each character that a terminal would interpret or that is
// invalid.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}
