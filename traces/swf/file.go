package swf

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"accordion/core"
)

// Log is a whole log in memory.
type Log struct {
	Name     string // name of the file, without folder and .swf.gz
	Header   Header
	Records  []Record          // in the order of the file
	EPs      map[int64]core.EP // requested profiles of evolving jobs by job number, in processors; nil if there are none
	Warnings Warnings          // counts of the errors in the file
}

// ReadFile reads a log, compressed or not (package input). Errors name file and line. All errors are usage errors: the file does not exist, is
// not a log, is truncated, or has a *Problem if it is read strictly.
func ReadFile(path string, o Options) (*Log, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read workload log: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read workload log: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a workload log in it", path)
	}
	in := NewReader(file, path, o)
	in.beside = true // reading a file never blocks, unlike standard input
	return read(in, LogName(path), info.Size())
}

// Folder returns the folder of real logs: $ACCORDION_TRACES, otherwise where scripts/fetch-traces puts them.
func Folder() (string, error) {
	if folder := os.Getenv("ACCORDION_TRACES"); folder != "" {
		return folder, nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for logs: %w", err)
	}
	return filepath.Join(cache, "accordion", "traces"), nil
}

// Read reads a whole log, compressed or not (package input). `name` is for messages: the name of a file, or
// "standard input".
func Read(in io.Reader, name string, o Options) (*Log, error) {
	return read(NewReader(in, name, o), LogName(name), 0)
}

// LogName returns the name of a log's file without folder, .swf, and the suffix of its compression.
func LogName(path string) string {
	return strings.TrimSuffix(uncompressed(filepath.Base(path)), ".swf")
}

// IsName reports whether a file's name is a name of workload logs: *.swf, compressed or not.
func IsName(path string) bool { return strings.HasSuffix(uncompressed(path), ".swf") }

// uncompressed returns a name without the suffix of its compression.
func uncompressed(name string) string {
	for _, suffix := range []string{".gz", ".bz2", ".zst", ".xz"} {
		if plain, cut := strings.CutSuffix(name, suffix); cut {
			return plain
		}
	}
	return name
}

// read reads all jobs. `size` is the size of the file, or 0 if it is unknown.
func read(in *Reader, name string, size int64) (*Log, error) {
	defer in.close()
	log := &Log{Name: name}
	for {
		if len(log.Records) == cap(log.Records) {
			log.Records = grow(log.Records, in, size)
		}
		at := len(log.Records)
		log.Records = log.Records[:at+1]
		if err := in.Next(&log.Records[at]); errors.Is(err, io.EOF) {
			log.Records = log.Records[:at]
			log.Header, log.EPs, log.Warnings = in.Header, in.EPs, in.Warnings
			return log, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// grow returns records with more capacity. If the file is large enough for the header's number of records (MaxRecords), grow uses this number,
// so that the records of most logs are never copied.
func grow(records []Record, in *Reader, size int64) []Record {
	const (
		first  = 256
		packed = 9  // minimum bytes per job in a compressed log; real logs have 10 and more
		plain  = 40 // minimum bytes per job in a plain log
	)
	room := max(first, cap(records)/2)
	if stated, ok := in.Header.Number("MaxRecords"); ok && len(records) == first {
		most := size / plain
		if in.compressed() {
			most = size / packed
		}
		room = max(room, int(min(stated, most))+1-first)
	}
	return append(make([]Record, 0, len(records)+room), records...)
}
