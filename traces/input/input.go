// Package input reads text files of users: accounting and workload logs, compressed or not, in the encodings of editors and other systems.
//
//	text, err := input.Open(file, "jobs.txt.gz")
//	defer text.Close()
//	rows, err := input.NewRows(text, "jobs.txt.gz", input.Columns{Wanted: []string{"JobIDRaw", "JobName"}, Rest: "JobName"}, &unread)
//	err = rows.Each(&unread, func() error {
//		return use(rows.Text("JobIDRaw"))
//	})
//
// A line that cannot be read is counted (Unread) and skipped.
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

// mark is the byte order mark of UTF-8, which some editors put before a text.
const mark = "\xef\xbb\xbf"

// maxWindow is the maximum memory of zstd in bytes: 128 MiB, which its highest ordinary level needs.
const maxWindow = 128 << 20

// maxNested is how many times a file may be compressed.
const maxNested = 3

// Text is the unpacked text of a file. The caller must call Close.
type Text struct {
	*bufio.Reader
	Compressed string // name of the program; "" for plain text
	close      []func()
}

// Close ends the unpacking. It does not close the file.
func (t *Text) Close() {
	for _, f := range t.close {
		f()
	}
	t.close = nil
}

// A FormError is the error for a file in a form that is not supported.
type FormError struct {
	File    string
	Form    string // "compressed by xz"
	Command string // command that converts the file: "xz -dc FILE"
}

// Error returns one line.
func (e *FormError) Error() string {
	return fmt.Sprintf("read %s: it is %s, which is not read here; convert it first, as in: %s", e.File, e.Form, e.Command)
}

// foreign are unsupported forms that are recognized by their first bytes.
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

// Open returns the text of in: unpacked if it is compressed by gzip, bzip2 or zstd, and without a byte order
// mark. `name` is for messages. Its errors are usage errors: a *FormError, or an error about a damaged
// beginning.
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

// packed returns the program by which the text is compressed, and the function that unpacks it, or nil if it is not compressed by a supported
// program.
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

// plain skips the byte order mark, and returns an error if the input is no text.
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

// utf16 reports whether a text without a mark begins like ASCII in little-endian UTF-16.
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
