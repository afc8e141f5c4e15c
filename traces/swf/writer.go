package swf

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"accordion/core"
	"accordion/core/ep"
	"accordion/traces/files"
)

// Writer writes a log job by job, in columns. NewWriter creates one. The caller must call Flush at the end.
type Writer struct {
	out  *bufio.Writer
	line []byte
}

// NewWriter writes the header and the profiles of evolving jobs. Its errors come from the output, or are about an invalid profile.
func NewWriter(out io.Writer, h *Header, eps map[int64]core.EP) (*Writer, error) {
	w := &Writer{out: bufio.NewWriterSize(out, 64<<10)}
	for _, line := range h.Lines {
		w.comment(line)
	}
	if len(eps) > 0 && !slices.Contains(h.Lines, profileNote) {
		w.comment(profileNote)
	}
	for _, number := range slices.Sorted(maps.Keys(eps)) {
		if err := ep.Check(eps[number], core.MaxNodes); err != nil {
			return nil, fmt.Errorf("job %d: %w", number, err)
		}
		w.comment(fmt.Sprintf(" %s: %d %s", profileKey, number, ep.Format(eps[number])))
	}
	return w, w.out.Flush()
}

// comment writes a header line. Line ends in the text cannot end the comment. Flush returns its errors.
func (w *Writer) comment(line string) {
	w.out.WriteByte(';')
	w.out.WriteString(strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' {
			return ' '
		}
		return r
	}, line))
	w.out.WriteByte('\n')
}

// widths are the widths of the columns, as in the archive's logs.
var widths = [Fields]int{5, 8, 6, 6, 4, 6, 5, 4, 6, 5, 2, 3, 3, 3, 2, 2, 5, 2}

// Write writes a job.
func (w *Writer) Write(r *Record) error {
	line := w.line[:0]
	for i, n := range of(r) {
		if i > 0 {
			line = append(line, ' ')
		}
		var digits [32]byte
		text := strconv.AppendInt(digits[:0], n, 10)
		if i == int(FieldCPU)-1 {
			text = strconv.AppendFloat(digits[:0], r.CPU+0, 'f', -1, 64) // +0: never -0
		}
		for range widths[i] - len(text) {
			line = append(line, ' ')
		}
		line = append(line, text...)
	}
	w.line = append(line, '\n')
	_, err := w.out.Write(w.line)
	return err
}

// Flush writes buffered data.
func (w *Writer) Flush() error { return w.out.Flush() }

// Write writes a whole log as plain text.
func Write(out io.Writer, log *Log) error {
	w, err := NewWriter(out, &log.Header, log.EPs)
	if err != nil {
		return err
	}
	for i := range log.Records {
		if err := w.Write(&log.Records[i]); err != nil {
			return err
		}
	}
	return w.Flush()
}

// WriteFile writes a whole log to a file, compressed by gzip if the name ends in .gz. It replaces an existing file only when the new one is
// complete. It writes into an existing device or pipe.
func WriteFile(path string, log *Log) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInto(path, log)
	}
	return files.Save(files.File{Path: path, Write: func(out io.Writer) error { return writeTo(out, log, strings.HasSuffix(path, ".gz")) }})
}

// writeInto writes into an existing device or pipe.
func writeInto(path string, log *Log) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write a log: %w", err)
	}
	if err := errors.Join(writeTo(file, log, strings.HasSuffix(path, ".gz")), file.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeTo(file io.Writer, log *Log, zip bool) error {
	if !zip {
		return Write(file, log)
	}
	packed := gzip.NewWriter(file)
	if err := Write(packed, log); err != nil {
		return err
	}
	return packed.Close()
}
