package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// happens writes an event for each of the given jobs. Before each event it writes an intent.
func happens(t testing.TB, j *Journal, jobs ...int64) {
	t.Helper()
	for _, job := range jobs {
		must(j.Begin(Intent{At: noon, Job: job, Verb: "merge"}))(t)
		if err := j.Event(Event{At: noon, Job: job, Submitted: 99, Kind: "grew", Text: "from 2 to 5 nodes"}); err != nil {
			t.Fatal(err)
		}
	}
}

// jobsIn returns the jobs in the lines of a file, such as "1 2 3".
func jobsIn(t testing.TB, path string) string {
	t.Helper()
	var jobs []string
	for line := range strings.Lines(string(must(os.ReadFile(path))(t))) {
		if !strings.HasSuffix(line, "\n") || !json.Valid([]byte(line)) {
			t.Errorf("a line is %q", line)
		}
		_, rest, _ := strings.Cut(line, `"job":`)
		job, _, _ := strings.Cut(rest, ",")
		jobs = append(jobs, job)
	}
	return strings.Join(jobs, " ")
}

func TestEventsSinceFirstStartBecomeLinesAndIntentsDoNot(t *testing.T) {
	j, _ := fresh(t)
	path := filepath.Join(t.TempDir(), "events")
	happens(t, j, 1)
	l := must(j.KeepLines(path))(t)
	happens(t, j, 2, 3)
	if err := l.write(); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"id":4,"at":"2026-03-01T12:00:00.000000Z","kind":"event","job":2,"submitted":99,"verb":"grew","text":"from 2 to 5 nodes"}%s`, "\n")
	if got := string(must(os.ReadFile(path))(t)); !strings.HasPrefix(got, want) {
		t.Errorf("the file holds %s", got)
	}
	if got := jobsIn(t, path); got != "2 3" {
		t.Errorf("jobs %s, want 2 3", got)
	}
	l.Close()

	happens(t, j, 4) // while no Lines is running
	l = must(j.KeepLines(path))(t)
	defer l.Close()
	happens(t, j, 5)
	if err := l.write(); err != nil {
		t.Fatal(err)
	}
	if got := jobsIn(t, path); got != "2 3 4 5" {
		t.Errorf("after a restart: jobs %s, want 2 3 4 5", got)
	}
}

func TestIncompleteLineLeftByCrashIsWrittenAgain(t *testing.T) {
	j, _ := fresh(t)
	path := filepath.Join(t.TempDir(), "events")
	l := must(j.KeepLines(path))(t)
	happens(t, j, 1, 2)
	if err := errors.Join(l.write(), l.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, must(os.Stat(path))(t).Size()-20); err != nil {
		t.Fatal(err)
	}
	l = must(j.KeepLines(path))(t)
	defer l.Close()
	if err := l.write(); err != nil {
		t.Fatal(err)
	}
	if got := jobsIn(t, path); got != "1 2" {
		t.Errorf("jobs %s, want 1 2", got)
	}
}

func TestRotatedFileIsContinuedInNewFileWithoutGap(t *testing.T) {
	j, _ := fresh(t)
	path := filepath.Join(t.TempDir(), "events")
	l := must(j.KeepLines(path))(t)
	defer l.Close()
	happens(t, j, 1)
	if err := l.write(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	happens(t, j, 2)
	if err := l.write(); err != nil {
		t.Fatal(err)
	}
	if old, now := jobsIn(t, path+".1"), jobsIn(t, path); old != "1" || now != "2" {
		t.Errorf("the old file has %s, the new one %s; want 1 and 2", old, now)
	}
}

func TestLinesContinueAfterJournalWasReplaced(t *testing.T) {
	first, _ := fresh(t)
	path := filepath.Join(t.TempDir(), "events")
	l := must(first.KeepLines(path))(t)
	happens(t, first, 1, 2, 3)
	if err := errors.Join(l.write(), l.Close()); err != nil {
		t.Fatal(err)
	}
	second, _ := fresh(t)
	happens(t, second, 4)
	l = must(second.KeepLines(path))(t)
	defer l.Close()
	if err := l.write(); err != nil {
		t.Fatal(err)
	}
	if got := jobsIn(t, path); got != "1 2 3 4" {
		t.Errorf("jobs %s, want 1 2 3 4", got)
	}
}

func TestForeignFileIsNotTouched(t *testing.T) {
	j, _ := fresh(t)
	for name, text := range map[string]string{"a list": "1\n2\n", "a word": "word", "other JSON": `{"name":"x"}` + "\n", "a long line": strings.Repeat("x", tail+1)} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := j.KeepLines(path); err == nil || !strings.Contains(err.Error(), "[log] events") {
			t.Errorf("%s: %v, want an error that names the setting", name, err)
		}
		if got := string(must(os.ReadFile(path))(t)); got != text {
			t.Errorf("%s was changed to %.40q", name, got)
		}
	}
	if _, err := j.KeepLines(t.TempDir()); err == nil || !strings.Contains(err.Error(), "[log] events") {
		t.Errorf("a folder: %v", err)
	}
}

func TestFailedWritesAreTriedAgainAndReportedOnce(t *testing.T) {
	j, _ := fresh(t)
	folder := filepath.Join(t.TempDir(), "log")
	path := filepath.Join(folder, "events")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	l := must(j.KeepLines(path))(t)
	defer l.Close()
	if err := os.Rename(folder, folder+".away"); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	said, ended := make(chan error, 100), make(chan error, 1)
	go func() { ended <- l.Run(ctx, time.Millisecond, func(err error) { said <- err }) }()
	happens(t, j, 1)
	if err := <-said; err == nil || !strings.Contains(err.Error(), "file of events") {
		t.Errorf("said: %v", err)
	}
	if err := os.Rename(folder+".away", folder); err != nil {
		t.Fatal(err)
	}
	if err := <-said; err != nil {
		t.Errorf("said when it went well again: %v", err)
	}
	for jobsIn(t, path) != "1" {
		runtime.Gosched() // the test's own deadline ends this
	}
	stop()
	if err := <-ended; err != nil || len(said) > 0 {
		t.Errorf("at its end: %v, and %d more words", err, len(said))
	}
}
