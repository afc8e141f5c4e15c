package journal

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Lines writes events to a file for log collectors, as JSON lines in the format of `accordion
// journal --json`. The file follows the journal: after a crash Lines continues after the file's
// last line. If a program rotates the file, Lines creates a new one.
type Lines struct {
	journal *Journal
	path    string
	file    *os.File
	since   int64 // id of the last entry that was written or skipped
}

// tail bounds how many bytes of the file are read to find its last line.
const tail = 1 << 20

// KeepLines opens the file of events, and creates it if it is absent. A new file begins with the
// next event. An incomplete last line, left by a crash, is cut off. The error says what to do. The
// caller closes the Lines after Run.
func (j *Journal) KeepLines(path string) (*Lines, error) {
	l := &Lines{journal: j, path: path}
	newest, err := j.newest()
	if err != nil {
		return nil, err
	}
	if err := l.open(); err != nil {
		return nil, err
	}
	last, err := l.last()
	if err != nil {
		l.file.Close()
		return nil, fmt.Errorf("the file of events %s: %w; name another file in [log] events, or move this one away", path, err)
	}
	switch {
	case last == 0:
		l.since = newest
	case last <= newest:
		l.since = last
	default: // the journal is a new one, whose ids start again
	}
	return l, nil
}

// newest returns the highest id that an entry ever had.
func (j *Journal) newest() (id int64, err error) {
	err = j.read.QueryRow(`SELECT seq FROM sqlite_sequence WHERE name = 'entry'`).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return id, explain("reading", j.path, err)
}

func (l *Lines) open() error {
	_, absent := os.Lstat(l.path)
	file, err := os.OpenFile(l.path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err == nil && errors.Is(absent, fs.ErrNotExist) { // log collectors have to read the file, whatever the umask of this process is
		err = file.Chmod(0o644)
	}
	if err != nil {
		return fmt.Errorf("the file of events: %w; name another one in [log] events", err)
	}
	if l.file != nil {
		l.file.Close()
	}
	l.file = file
	return nil
}

// `last` returns the id on the last complete line, and 0 if the file has no complete line.
func (l *Lines) last() (int64, error) {
	info, err := l.file.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("it is no ordinary file")
	}
	from := max(0, info.Size()-tail)
	text, err := io.ReadAll(io.NewSectionReader(l.file, from, tail))
	if err != nil {
		return 0, err
	}
	whole := bytes.LastIndexByte(text, '\n') + 1
	if whole == 0 && from > 0 {
		return 0, errors.New("its last line is longer than any of ours")
	}
	lines := bytes.Split(text[:whole], []byte("\n"))
	var e struct {
		ID int64 `json:"id"`
	}
	if whole > 0 {
		if err := json.Unmarshal(lines[len(lines)-2], &e); err != nil || e.ID < 1 {
			return 0, errors.New("its last line is none of ours")
		}
	} else if len(text) > 0 && text[0] != '{' {
		return 0, errors.New("it holds something else")
	}
	return e.ID, l.file.Truncate(from + int64(whole))
}

// Run writes new events after each pause, until ctx ends. Run repeats failed writes. It calls
// `report` once for each reason of a failure, and with nil when writing works again. An error means
// that the journal cannot be read.
func (l *Lines) Run(ctx context.Context, pause time.Duration, report func(error)) error {
	said := ""
	for {
		err := l.write()
		var broken *Error
		switch {
		case errors.As(err, &broken):
			return err
		case err != nil && err.Error() != said:
			said = err.Error()
			report(err)
		case err == nil && said != "":
			said = ""
			report(nil)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// write appends the new events.
func (l *Lines) write() error {
	if err := l.follow(); err != nil {
		return err
	}
	for e, err := range l.journal.Entries(l.since) {
		if err != nil {
			return err
		}
		if e.Kind == KindEvent {
			line, err := json.Marshal(e)
			if err != nil {
				return fmt.Errorf("entry %d: %w", e.ID, err)
			}
			if err := l.append(append(line, '\n')); err != nil {
				return fmt.Errorf("the file of events: %w", err)
			}
		}
		l.since = e.ID
	}
	return nil
}

// append writes a whole line or nothing: it removes a partly written line.
func (l *Lines) append(line []byte) error {
	n, err := l.file.Write(line)
	if err != nil && n > 0 {
		if info, statErr := l.file.Stat(); statErr == nil {
			err = errors.Join(err, l.file.Truncate(info.Size()-int64(n)))
		}
	}
	return err
}

// follow opens a new file if the old one was moved or removed.
func (l *Lines) follow() error {
	there, err := os.Stat(l.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the file of events: %w", err)
	}
	have, err2 := l.file.Stat()
	if err == nil && err2 == nil && os.SameFile(there, have) {
		return nil
	}
	return l.open()
}

// Close closes the file.
func (l *Lines) Close() error { return l.file.Close() }
