package swf

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"accordion/core"
	"accordion/traces/input"
)

// Options say how a log is read.
type Options struct {
	// Strict makes the first line that is not as the format wants it an error, a *Problem. Otherwise such lines are read as
	// well as can be and counted.
	Strict bool
}

// MaxLine bounds a line, in bytes: what has longer ones is no log.
const MaxLine = 1 << 20

// patience is after how many lines that are no jobs, before the first that is one, a Reader takes a file for something else.
const patience = 100

// ErrNotSWF is matched by errors about files that are no logs at all.
var ErrNotSWF = errors.New("no workload log in the Standard Workload Format (header lines that begin with a semicolon, jobs of 18 numbers)")

// Reader reads a log job by job. Make one with NewReader.
type Reader struct {
	// Header is what the lines before the last job said; complete after Next gave io.EOF, and in all known logs after the
	// first job.
	Header Header
	// EPs are the profiles of evolving jobs by their numbers, as Header; nil without any.
	EPs map[int64]core.EP
	// Warnings counts what was wrong and read nevertheless.
	Warnings Warnings

	in      io.Reader
	text    *input.Text // in, unpacked
	beside  bool        // it is unpacked in a goroutine of its own, until close
	ahead   *ahead      // nil: it is not
	name    string
	options Options

	buffer []byte
	at     int // what is before was read
	whole  int // what is before are whole lines; text[whole-1] ends one
	filled int
	line   int // lines read
	jobs   int
	failed error // what ends the log once the lines before it are read; io.EOF
}

// NewReader reads a log, compressed or not (package input); the name is for messages. It reads nothing before Next.
func NewReader(in io.Reader, name string, o Options) *Reader {
	return &Reader{in: in, name: name, options: o}
}

// Next reads the next job into rec, and gives io.EOF after the last. Other errors name the file and the line: a *Problem when
// reading strictly, ErrNotSWF, or what went wrong in reading; then rec means nothing, and the Reader is of no further use.
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
		if job, err := r.slowly(&v, &cpu); err != nil {
			return err
		} else if job {
			r.jobs++
			v.record(rec, cpu)
			return nil
		}
	}
}

// slowly reads a line that is not 18 plain numbers: empty, a comment, or a job that takes care.
func (r *Reader) slowly(v *values, cpu *float64) (job bool, err error) {
	rest := r.buffer[r.at:r.whole]
	end := bytes.IndexAny(rest, "\r\n")
	line := bytes.Trim(rest[:end], separators)
	r.at += lineEnd(rest, end)
	r.line++
	line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // a mark of the byte order, where texts with one are behind each other
	switch {
	case len(line) == 0:
		return false, nil
	case line[0] == ';':
		return false, r.comment(string(line[1:]))
	}
	job, err = careful(line, v, cpu, r.report)
	if err == nil && !job && r.jobs == 0 && r.Warnings[NotJob].Count >= patience {
		err = fmt.Errorf("%s:%d: %w", r.name, r.line, ErrNotSWF)
	}
	return job, err
}

// report counts a problem of the current line, or makes it an error.
func (r *Reader) report(f Field, k Kind, text string) error {
	p := &Problem{File: r.name, Line: r.line, Field: f, Kind: k, Text: text}
	if r.options.Strict {
		return p
	}
	r.Warnings.add(p)
	return nil
}

// comment keeps a header line.
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

// fill makes at least one whole line available, or says why there is none.
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

// drop skips a line that is too long. Before the first job that is an error: what has such lines is no log.
func (r *Reader) drop() error {
	if r.jobs == 0 {
		return fmt.Errorf("%s:%d: a line of more than %d bytes: %w", r.name, r.line+1, MaxLine, ErrNotSWF)
	}
	const shown = 60 // bytes of it
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
		r.whole-- // its \n may come yet
	}
	for r.whole > 0 && !ends(r.buffer[r.whole-1]) {
		r.whole--
	}
}

func ends(c byte) bool { return c == '\n' || c == '\r' }

// ended is what is said when there are no more lines.
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
	return fmt.Errorf("reading %s, after line %d: %w", r.name, r.line, r.failed)
}

// open looks whether the log is compressed.
func (r *Reader) open() error {
	r.buffer = make([]byte, 128<<10) // a last line without an end gets one in the last byte
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

// compressed reports whether the log is, as far as it has been opened.
func (r *Reader) compressed() bool { return r.text != nil && r.text.Compressed != "" }

// close ends what goes on beside.
func (r *Reader) close() {
	if r.ahead != nil {
		r.ahead.Close()
	}
	if r.text != nil {
		r.text.Close()
	}
}
