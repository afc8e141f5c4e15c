package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// MaxLine is the maximum length of a line in bytes. The rest of a longer line is dropped.
const MaxLine = 1 << 20

// Lines reads the lines of a text, which end in LF, CR LF or CR. If the first line ends in CR alone, all lines do. Otherwise a CR within a
// line belongs to it.
type Lines struct {
	in     *bufio.Reader
	end    byte // byte at the end of a line; 0 before the first line
	buffer []byte

	Number int    // number of the line; the first line is 1
	Text   string // the line without its end
	Long   bool   // the line is longer than MaxLine; Text is its beginning
	Ended  bool   // the line has an end; a last line without one may be cut
}

// NewLines returns a reader of the lines of in.
func NewLines(in io.Reader) *Lines {
	b, ok := in.(*bufio.Reader)
	if t, text := in.(*Text); text {
		b, ok = t.Reader, true
	}
	if !ok {
		b = bufio.NewReaderSize(in, 64<<10)
	}
	return &Lines{in: b}
}

// Next reads the next line. It returns io.EOF after the last one, or an error of the input.
func (l *Lines) Next() error {
	if l.end == 0 {
		l.end = l.lineEnd()
	}
	l.buffer = l.buffer[:0]
	read, long := false, false
	for {
		piece, err := l.in.ReadSlice(l.end)
		read = read || len(piece) > 0
		if room := MaxLine + 1 - len(l.buffer); len(piece) > room { // one byte more, for the end
			long = long || len(bytes.TrimRight(piece, "\r\n")) > room-1
			l.buffer = append(l.buffer, piece[:room]...)
		} else {
			l.buffer = append(l.buffer, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (err != io.EOF || !read) {
			return err
		}
		l.Ended = err == nil
		break
	}
	line := bytes.TrimRight(l.buffer, "\r\n")
	if l.Long = long || len(line) > MaxLine; l.Long {
		line = line[:MaxLine]
	}
	l.Number++
	l.Text = string(line)
	return nil
}

// lineEnd returns the byte that ends each line. The first line determines it.
func (l *Lines) lineEnd() byte {
	first, _ := l.in.Peek(l.in.Size())
	if at := bytes.IndexByte(first, '\n'); at >= 0 {
		first = bytes.TrimRight(first[:at], "\r")
	}
	if bytes.IndexByte(first, '\r') >= 0 {
		return '\r'
	}
	return '\n'
}

// blank reports whether a line has only white space.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
