// Package input reads the text files that people bring: accounting and workload logs, compressed or not, as editors and other
// systems leave them.
//
//	text, err := input.Open(file, "jobs.txt.gz")
//	defer text.Close()
//	rows, err := input.NewRows(text, "jobs.txt.gz", input.Columns{Wanted: []string{"JobIDRaw", "JobName"}, Rest: "JobName"}, &unread)
//	err = rows.Each(&unread, func() error {
//		return use(rows.Text("JobIDRaw"))
//	})
//
// A line that cannot be read costs that line: it is counted (Unread), and the next one is read.
package input

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// mark is UTF-8's mark of the byte order, which editors put before a text.
const mark = "\xef\xbb\xbf"

// maxWindow bounds the memory that unpacking by zstd takes, in bytes: 128 MiB is what its highest ordinary level needs.
const maxWindow = 128 << 20

// maxNested bounds how often a file may be compressed over and over.
const maxNested = 3

// Text is the text of a file. Close it.
type Text struct {
	*bufio.Reader
	Compressed string // by which program; "" for plain text
	close      []func()
}

// Close ends what unpacks the text. It does not close the file.
func (t *Text) Close() {
	for _, f := range t.close {
		f()
	}
	t.close = nil
}

// A FormError names a form in which no text is read here.
type FormError struct {
	File    string
	Form    string // "compressed by xz"
	Command string // that makes it readable: "xz -dc FILE"
}

// Error returns one line.
func (e *FormError) Error() string {
	return fmt.Sprintf("read %s: it is %s, which is not read here; convert it first, as in: %s", e.File, e.Form, e.Command)
}

// foreign are the forms that are recognized by their first bytes and not read.
var foreign = []struct {
	at                   int
	magic, form, command string
}{
	{0, "\xfd7zXZ\x00", "compressed by xz", "xz -dc FILE"},
	{0, "PK\x03\x04", "a zip archive", "unzip -p FILE"},
	{0, "7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "7z x -so FILE"},
	{0, "Rar!\x1a\x07", "a RAR archive", "unrar p -inul FILE"},
	{0, "\x04\x22\x4d\x18", "compressed by lz4", "lz4 -dc FILE"},
	{0, "\x1f\x9d", "compressed by compress", "gzip -dc FILE"},
	{0, "LZIP", "compressed by lzip", "lzip -dc FILE"},
	{257, "ustar", "a tar archive", "tar -xOf FILE"},
	{0, "\xff\xfe", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"},
	{0, "\xfe\xff", "text in UTF-16", "iconv -f UTF-16 -t UTF-8 FILE"},
}

// Open returns the text that in has, unpacked where it is compressed by gzip, bzip2 or zstd, and without a mark of the byte order. The
// name is for messages. Its errors are the user's: a *FormError, or a damaged beginning.
func Open(in io.Reader, name string) (*Text, error) {
	t := &Text{Reader: bufio.NewReaderSize(in, 64<<10)}
	for range maxNested {
		program, unpack := t.packed()
		if unpack == nil {
			return t, t.plain(name)
		}
		inner, err := unpack(t)
		if err != nil {
			t.Close()
			return nil, fmt.Errorf("read %s: it is compressed by %s without a whole beginning: %w", name, program, err)
		}
		t.Compressed = program
		t.Reader = bufio.NewReaderSize(inner, 64<<10)
	}
	t.Close()
	return nil, fmt.Errorf("read %s: it is compressed more than %d times; unpack it first", name, maxNested-1)
}

// packed returns the program by which the text is compressed, and what unpacks it; nil for none that is read here.
func (t *Text) packed() (program string, unpack func(*Text) (io.Reader, error)) {
	first, _ := t.Peek(4)
	switch {
	case bytes.HasPrefix(first, []byte("\x1f\x8b")):
		return "gzip", func(t *Text) (io.Reader, error) { return gzip.NewReader(t.Reader) }
	case bytes.HasPrefix(first, []byte("BZh")) && len(first) == 4 && '1' <= first[3] && first[3] <= '9':
		return "bzip2", func(t *Text) (io.Reader, error) { return bzip2.NewReader(t.Reader), nil }
	case bytes.HasPrefix(first, []byte("\x28\xb5\x2f\xfd")):
		return "zstd", unpackZstd
	}
	return "", nil
}

func unpackZstd(t *Text) (io.Reader, error) {
	d, err := zstd.NewReader(t.Reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, err
	}
	t.close = append(t.close, d.Close)
	return d, nil
}

// plain skips the mark of the byte order, and refuses what is no text.
func (t *Text) plain(name string) error {
	first, _ := t.Peek(257 + len("ustar"))
	for _, f := range foreign {
		if len(first) >= f.at && bytes.HasPrefix(first[f.at:], []byte(f.magic)) {
			t.Close()
			return &FormError{File: name, Form: f.form, Command: f.command}
		}
	}
	if utf16(first) {
		t.Close()
		return &FormError{File: name, Form: "text in UTF-16", Command: "iconv -f UTF-16LE -t UTF-8 FILE"}
	}
	if bytes.HasPrefix(first, []byte(mark)) {
		_, err := t.Discard(len(mark))
		return err
	}
	return nil
}

// utf16 reports whether a text without a mark begins as ASCII does in little-endian UTF-16.
func utf16(first []byte) bool {
	const letters = 4
	if len(first) < 2*letters {
		return false
	}
	for i := range letters {
		if c := first[2*i]; c < ' ' || c > '~' || first[2*i+1] != 0 {
			return false
		}
	}
	return true
}
