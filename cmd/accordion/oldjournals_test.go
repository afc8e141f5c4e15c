package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"accordion/adapter/journal"
	"accordion/adapter/managed"
)

// The journals in testdata/journals were written by programs built from three old commits, whose hashes are in the file names. Each journal
// is from a simulated cluster that was stopped in the middle of growths, shrinks, requeues and refused calls. The .json files are the
// output of `accordion journal --json` of the old programs. See testdata/journals/README.md.
func TestOldJournalsStayReadable(t *testing.T) {
	files, err := filepath.Glob("testdata/journals/*.db.gz")
	if err != nil || len(files) != 3 {
		t.Fatalf("journals %v, want three: %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			path := unpack(t, file)
			j, err := journal.Open(path) // the sidecar opens a journal in the same way, which updates the schema
			if err != nil {
				t.Fatal(err)
			}
			records, err := j.Records()
			if err := closeAll(err, j); err != nil || len(records) == 0 {
				t.Fatalf("%d records: %v", len(records), err)
			}
			for _, r := range records {
				checkRestored(t, r)
			}
			want, err := os.ReadFile(strings.TrimSuffix(file, ".db.gz") + ".json")
			if err != nil {
				t.Fatal(err)
			}
			if got := printed(t, path); !bytes.Equal(got, want) {
				t.Errorf("accordion journal --json prints something else than the old program: %s", firstDifference(got, want))
			}
		})
	}
}

func closeAll(err error, c io.Closer) error {
	if closing := c.Close(); err == nil {
		return closing
	}
	return err
}

// unpack returns the path of the journal, decompressed.
func unpack(t *testing.T, file string) string {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// checkRestored fails the test if a record cannot be restored, or if one of its values would be lost or changed when the record is saved
// again.
func checkRestored(t *testing.T, r journal.Record) {
	t.Helper()
	job, err := managed.Restore(r.Data)
	if err != nil {
		t.Errorf("job %d: %v", r.Job, err)
		return
	}
	data, err := job.Encode()
	if err != nil {
		t.Errorf("job %d: %v", r.Job, err)
		return
	}
	var was, is map[string]any
	for into, text := range map[*map[string]any][]byte{&was: r.Data, &is: data} {
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range was {
		if value != nil && !reflect.ValueOf(value).IsZero() && !reflect.DeepEqual(is[key], value) {
			t.Errorf("job %d: %s was %v, and is %v after a restart", r.Job, key, value, is[key])
		}
	}
}

// printed returns what `accordion journal --json` prints for the journal.
func printed(t *testing.T, path string) []byte {
	t.Helper()
	config := filepath.Join(t.TempDir(), "accordion.toml")
	if err := os.WriteFile(config, fmt.Appendf(nil, "[journal]\npath = %q\n", path), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "accordion", "journal", "--json", "--config", config).Output()
	if err != nil {
		t.Fatalf("accordion journal: %v", err)
	}
	return out
}

// firstDifference returns the first line in which two texts differ.
func firstDifference(got, want []byte) string {
	a, b := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n%s\nwant\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}
