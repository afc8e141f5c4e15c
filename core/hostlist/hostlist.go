// Package hostlist parses and formats lists of node names in Slurm's short form, n[1-3,7],gpu01.
//
//	names, err := hostlist.Expand("n[01-03],gpu1") // n01 n02 n03 gpu1
//	short := hostlist.Compact(names)               // gpu1,n[01-03]
//
// It handles text only, and does not know whether a node exists. Names consist of ASCII letters, digits, dots,
// hyphens and underscores.
package hostlist

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxNames limits the size of a list, so that a hostile one (n[1-999999999]) costs nothing.
const MaxNames = 65536

// An Error describes the wrong piece of a host list and the correct form.
type Error struct {
	Column int    // byte at which the wrong piece begins; the first byte is 1
	Piece  string // the wrong piece, as written
	Want   string // the correct form
}

// Error returns one line of printable ASCII. It cuts a long piece.
func (e *Error) Error() string {
	const shown = 40
	piece, rest := e.Piece, ""
	if len(piece) > shown {
		piece, rest = piece[:shown], "..."
	}
	return fmt.Sprintf("host list, column %d: %s%s is not %s", e.Column, strconv.QuoteToASCII(piece), rest, e.Want)
}

// Expand returns the names in Slurm's order. If a name has several brackets, the last one changes fastest, then
// the first, then the second and so on. n[1-2]-[3-4] is n1-3 n1-4 n2-3 n2-4, and a[0-1]b[0-1]c[0-1] begins with
// a0b0c0 a0b0c1 a1b0c0. A range keeps the width of its first number: [08-10] is 08 09 10. An empty text is an
// empty list. Errors are of type *Error.
func Expand(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var names []string
	for begin := 0; begin <= len(text); {
		end := begin + entryLength(text[begin:])
		e := entry{text: text[begin:end], column: begin + 1}
		if err := e.parse(); err != nil {
			return nil, err
		}
		if e.count > MaxNames-len(names) {
			return nil, &Error{e.column, e.text, fmt.Sprintf("within the %d names that a list may have", MaxNames)}
		}
		names = e.appendNames(names)
		begin = end + 1
	}
	return names, nil
}

// entryLength returns the length of the first entry: up to the first comma outside brackets.
func entryLength(text string) int {
	inside := false
	for i := range len(text) {
		switch text[i] {
		case '[':
			inside = true
		case ']':
			inside = false
		case ',':
			if !inside {
				return i
			}
		}
	}
	return len(text)
}

// entry is one entry of a list. Its literals and brackets alternate, as in n[1-2]-[3-4].
type entry struct {
	text   string
	column int // where text begins in the list
	parts  []part
	count  int // number of names, at most MaxNames+1
}

// part is a literal followed by a bracket. The last part of an entry has no ranges.
type part struct {
	literal string
	ranges  []numbers
}

// numbers is a range in a bracket.
type numbers struct {
	from, to uint64
	width    int // of the first number as written; the minimum width of all
}

func (e *entry) fail(offset int, piece, want string) error {
	return &Error{Column: e.column + offset, Piece: piece, Want: want}
}

func (e *entry) parse() error {
	if e.text == "" {
		return e.fail(0, "", "a node name; is there a comma too many?")
	}
	e.count = 1
	for at := 0; ; {
		rest := e.text[at:]
		open := strings.IndexByte(rest, '[')
		literal := rest
		if open >= 0 {
			literal = rest[:open]
		}
		if i := strings.IndexFunc(literal, notInName); i >= 0 {
			return e.fail(at, literal, "a node name; names have letters, digits, '.', '-' and '_', as in n[1-3,7],gpu01")
		}
		if open < 0 {
			e.parts = append(e.parts, part{literal: literal})
			return nil
		}
		length := strings.IndexByte(rest[open:], ']')
		if length < 0 {
			return e.fail(at+open, rest[open:], "a bracket that is closed, as in n[1-3,7]")
		}
		ranges, err := e.bracket(at+open+1, rest[open+1:open+length])
		if err != nil {
			return err
		}
		e.parts = append(e.parts, part{literal, ranges})
		at += open + length + 1
	}
}

// bracket parses the inside of a bracket, 1-3,7, and multiplies the count.
func (e *entry) bracket(offset int, text string) ([]numbers, error) {
	var ranges []numbers
	count := 0
	for piece := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(piece, "-")
		if !isRange {
			high = low
		}
		from, ok := number(low)
		to, ok2 := number(high)
		if !ok || !ok2 || from > to {
			return nil, e.fail(offset, piece, "a number or a rising range, as in n[1-3,7]")
		}
		ranges = append(ranges, numbers{from, to, len(low)})
		count = min(count+int(min(to-from, MaxNames))+1, MaxNames+1)
		offset += len(piece) + 1
	}
	e.count = min(e.count*count, MaxNames+1)
	return ranges, nil
}

// number parses plain digits, at most 18, so that it cannot overflow.
func number(text string) (n uint64, ok bool) {
	if text == "" || len(text) > 18 {
		return 0, false
	}
	for i := range len(text) {
		if !isDigit(text[i]) {
			return 0, false
		}
		n = 10*n + uint64(text[i]-'0')
	}
	return n, true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func notInName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '-', r == '_':
		return false
	}
	return true
}

// appendNames appends the names of an entry in Slurm's order.
func (e *entry) appendNames(names []string) []string {
	brackets := e.parts
	if last := len(brackets) - 1; brackets[last].ranges == nil { // the text behind the last bracket
		brackets = brackets[:last]
	}
	turning := make([]counter, len(brackets))
	for i := range turning {
		turning[i].set(brackets[i].ranges, 0)
	}
	var name []byte
	for {
		name = name[:0]
		for i, part := range brackets {
			name = append(name, part.literal...)
			r := part.ranges[turning[i].at]
			name = appendNumber(name, turning[i].number, r.width)
		}
		if len(brackets) < len(e.parts) {
			name = append(name, e.parts[len(brackets)].literal...)
		}
		names = append(names, string(name))
		if !turn(brackets, turning) {
			return names
		}
	}
}

// counter is the current number of a bracket.
type counter struct {
	at     int // index of the range
	number uint64
}

func (c *counter) set(ranges []numbers, at int) { c.at, c.number = at, ranges[at].from }

// next advances to the bracket's next number. After the last one it returns to the first and reports false.
func (c *counter) next(ranges []numbers) bool {
	switch {
	case c.number < ranges[c.at].to:
		c.number++
		return true
	case c.at+1 < len(ranges):
		c.set(ranges, c.at+1)
		return true
	}
	c.set(ranges, 0)
	return false
}

// turn advances to the next name: the last bracket changes first, then the others from the left. It reports false
// after the last name.
func turn(brackets []part, turning []counter) bool {
	last := len(brackets) - 1
	if last < 0 {
		return false
	}
	if turning[last].next(brackets[last].ranges) {
		return true
	}
	for i := range last {
		if turning[i].next(brackets[i].ranges) {
			return true
		}
	}
	return false
}

// appendNumber appends n with leading zeros to the width.
func appendNumber(to []byte, n uint64, width int) []byte {
	var digits [20]byte
	text := strconv.AppendUint(digits[:0], n, 10)
	for i := len(text); i < width; i++ {
		to = append(to, '0')
	}
	return append(to, text...)
}
