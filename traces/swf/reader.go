package swf

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"accordion/core"
	"accordion/traces/input"
)

// Options are the options of a Reader.
type Options struct {
	// Strict makes the first line that violates the format an error, a *Problem. Otherwise such lines are read as far as possible, and
	// counted.
	Strict bool
}

// MaxLine is the maximum length of a line in bytes. A file with longer lines is no log.
const MaxLine = 1 << 20

// maxPreamble is the maximum number of lines before the first job. A Reader rejects a file with more.
const maxPreamble = 100

// ErrNotSWF matches errors for files that are no logs.
var ErrNotSWF = errors.New("no workload log in the Standard Workload Format (header lines that begin with a semicolon, jobs of 18 numbers)")

// Reader reads a log job by job. NewReader creates one.
type Reader struct {
	// Header has the header lines before the last job that Next returned. It is complete after Next returned io.EOF, and in all known logs
	// after the first job.
	Header Header
	// EPs are the profiles of evolving jobs by job number, as complete as Header; nil if there are none.
	EPs map[int64]core.EP
	// Warnings counts the problems in the lines that were read.
	Warnings Warnings

	in      io.Reader
	text    *input.Text // unpacked input
	beside  bool        // unpack in another goroutine until close
	ahead   *ahead      // unpacks in another goroutine; nil if there is none
	name    string
	options Options

	buffer []byte
	at     int // index of the first unread byte
	whole  int // index after the last whole line: text[whole-1] ends a line
	filled int
	line   int // number of lines read
	jobs   int
	failed error // error of the input, returned after all lines before it; io.EOF at the end
}

// NewReader returns a reader of a log, compressed or not (package input). `name` is for messages. It reads nothing before Next.
func NewReader(in io.Reader, name string, o Options) *Reader {
	return &Reader{in: in, name: name, options: o}
}

// Next reads the next job into rec, and returns io.EOF after the last one. Other errors have the file and the line: a *Problem of a strict
// Reader, ErrNotSWF, or an error of the input. After them rec is undefined, and the Reader cannot be used again.
func (r *Reader) Next(rec *Record) error {
	var v values
	var cpu float64
	for {
		if r.at == r.whole {
			if err := r.fill(); err != nil {
				return err
			}
		}
		if length := scan(r.buffer[r.at:r.whole], &v, &cpu); length > 0 {
			r.at += length
			r.line++
			r.jobs++
			v.record(rec, cpu)
			return nil
		}
		if job, err := r.readOther(&v, &cpu); err != nil {
			return err
		} else if job {
			r.jobs++
			v.record(rec, cpu)
			return nil
		}
	}
}

// readOther reads a line that is not 18 plain numbers: an empty line, a comment, or a job for parseLine.
func (r *Reader) readOther(v *values, cpu *float64) (job bool, err error) {
	rest := r.buffer[r.at:r.whole]
	end := bytes.IndexAny(rest, "\r\n")
	line := bytes.Trim(rest[:end], separators)
	r.at += lineEnd(rest, end)
	r.line++
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // byte order mark, if files with one were concatenated
	switch {
	case len(line) == 0:
		return false, nil
	case line[0] == ';':
		return false, r.comment(string(line[1:]))
	}
	job, err = parseLine(line, v, cpu, r.report)
	if err == nil && !job && r.jobs == 0 && r.Warnings[NotJob].Count >= maxPreamble {
		err = fmt.Errorf("%s:%d: %w", r.name, r.line, ErrNotSWF)
	}
	return job, err
}

// report counts a problem of the current line, or returns it as an error.
func (r *Reader) report(f Field, k Kind, text string) error {
	p := &Problem{File: r.name, Line: r.line, Field: f, Kind: k, Text: text}
	if r.options.Strict {
		return p
	}
	r.Warnings.add(p)
	return nil
}

// comment adds a header line.
func (r *Reader) comment(line string) error {
	if _, key, value, ok := field(line); ok && key == profileKey {
		number, ep, err := parseProfile(value)
		if err != nil {
			return r.report(0, BadProfile, err.Error())
		}
		if r.EPs == nil {
			r.EPs = map[int64]core.EP{}
		}
		r.EPs[number] = ep
		return nil
	}
	r.Header.Lines = append(r.Header.Lines, line)
	return nil
}

// fill reads until there is at least one whole line, or returns an error.
func (r *Reader) fill() error {
	if r.buffer == nil {
		if err := r.open(); err != nil {
			return err
		}
	}
	for r.failed == nil {
		r.filled = copy(r.buffer, r.buffer[r.at:r.filled])
		r.at, r.whole = 0, 0
		if r.filled >= MaxLine {
			if err := r.drop(); err != nil {
				return err
			}
			continue
		}
		if r.filled >= len(r.buffer)-1 {
			r.buffer = append(r.buffer, make([]byte, len(r.buffer))...)
		}
		r.read()
		if r.whole > 0 {
			return nil
		}
	}
	return r.ended()
}

// drop skips a line that is too long. Before the first job it returns an error, because a file that begins with a line of this length is not a
// log.
func (r *Reader) drop() error {
	if r.jobs == 0 {
		return fmt.Errorf("%s:%d: a line of more than %d bytes: %w", r.name, r.line+1, MaxLine, ErrNotSWF)
	}
	const shown = 60 // bytes of the line in the error
	r.line++
	if err := r.report(0, NotJob, string(r.buffer[:shown])); err != nil {
		return err
	}
	for r.failed == nil {
		r.at, r.whole, r.filled = 0, 0, 0
		r.read()
		if end := bytes.IndexAny(r.buffer[:r.filled], "\r\n"); end >= 0 {
			r.at = min(lineEnd(r.buffer[:r.filled], end), r.whole)
			break
		}
	}
	return nil
}

// read reads once, and finds the end of the last whole line.
func (r *Reader) read() {
	n, err := io.ReadAtLeast(r.in, r.buffer[r.filled:len(r.buffer)-1], 1)
	r.filled += n
	if err == io.EOF && r.filled > 0 && !ends(r.buffer[r.filled-1]) { // the last line has no end
		r.buffer[r.filled] = '\n'
		r.filled++
	}
	r.failed = err
	r.whole = r.filled
	if err == nil && r.buffer[r.whole-1] == '\r' {
		r.whole-- // its \n may be in the next read
	}
	for r.whole > 0 && !ends(r.buffer[r.whole-1]) {
		r.whole--
	}
}

func ends(c byte) bool { return c == '\n' || c == '\r' }

// ended returns the error at the end of the lines.
func (r *Reader) ended() error {
	switch {
	case errors.Is(r.failed, io.EOF) && r.jobs == 0 && (r.Warnings[NotJob].Count > 0 || len(r.Header.Lines) == 0 && len(r.EPs) == 0):
		return fmt.Errorf("%s: %w", r.name, ErrNotSWF)
	case errors.Is(r.failed, io.EOF):
		return io.EOF
	case r.compressed() && errors.Is(r.failed, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s:%d: the compressed file is truncated after this line; get it again", r.name, r.line)
	case r.compressed():
		return fmt.Errorf("%s:%d: the compressed file is damaged after this line: %w", r.name, r.line, r.failed)
	}
	return fmt.Errorf("read %s, after line %d: %w", r.name, r.line, r.failed)
}

// open finds out whether the log is compressed.
func (r *Reader) open() error {
	r.buffer = make([]byte, 128<<10) // the last byte is for the end of a last line without one
	text, err := input.Open(r.in, r.name)
	if err != nil {
		return err
	}
	r.text, r.in = text, text
	if r.compressed() && r.beside {
		r.ahead = newAhead(text)
		r.in = r.ahead
	}
	return nil
}

// compressed reports whether the log is compressed, as far as it is open.
func (r *Reader) compressed() bool { return r.text != nil && r.text.Compressed != "" }

// close ends the unpacking goroutine.
func (r *Reader) close() {
	if r.ahead != nil {
		r.ahead.Close()
	}
	if r.text != nil {
		r.text.Close()
	}
}
