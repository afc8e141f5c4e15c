package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// MaxLine bounds a line, in bytes. What is behind that is dropped up to the line's end.
const MaxLine = 1 << 20

// Lines reads the lines of a text, which may end in LF, CR LF or CR. Where the first line ends in CR alone, all lines do; otherwise a CR
// within a line belongs to it.
type Lines struct {
	in     *bufio.Reader
	end    byte // of a line; 0 before the first
	buffer []byte

	Number int    // of the line, from 1
	Text   string // without its end
	Long   bool   // it has more than MaxLine bytes, and Text is its beginning
	Ended  bool   // it has an end: false for a last line that may be cut
}

// NewLines reads the lines of in.
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

// Next goes to the next line. It returns io.EOF behind the last one, or what went wrong in reading.
func (l *Lines) Next() error {
	if l.end == 0 {
		l.end = l.lineEnd()
	}
	l.buffer = l.buffer[:0]
	read, long := false, false
	for {
		piece, err := l.in.ReadSlice(l.end)
		read = read || len(piece) > 0
		if room := MaxLine + 1 - len(l.buffer); len(piece) > room { // and its end
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

// lineEnd returns the byte in which lines end, by the first of them.
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

// blank reports whether a line has nothing but white space.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
