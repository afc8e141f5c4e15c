package scripts_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"accordion/internal/testenv"
)

// mirror is a copy of the script with an archive on this machine's disk, because tests must not use the network.
type mirror struct {
	script, archive, folder string
}

// logs holds the files of the archive. The checksums in the copied script are those of these texts.
var logs = map[string]string{"l_one/One-2001-1-cln.swf.gz": strings.Repeat("one\n", 5000), "l_two/Two-2002-1.swf.gz": "two\n"}

func newMirror(t *testing.T) mirror {
	t.Helper()
	testenv.Program(t, "curl")
	dir := t.TempDir()
	m := mirror{script: filepath.Join(dir, "scripts", "fetch-traces"), archive: filepath.Join(dir, "archive"), folder: filepath.Join(dir, "logs of mine")}
	text, err := os.ReadFile("fetch-traces")
	if err != nil {
		t.Fatal(err)
	}
	m.write(t, m.script, string(text))
	var sums strings.Builder
	for _, path := range []string{"l_one/One-2001-1-cln.swf.gz", "l_two/Two-2002-1.swf.gz"} {
		m.write(t, filepath.Join(m.archive, path), logs[path])
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(logs[path])), path)
	}
	m.write(t, filepath.Join(dir, "scripts", "traces.sha256"), sums.String())
	return m
}

func (m mirror) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// run returns the exit status and the output.
func (m mirror) run(t *testing.T, arguments ...string) (int, string) {
	t.Helper()
	c := exec.Command("bash", append([]string{m.script, "--from", "file://" + m.archive, "--to", m.folder}, arguments...)...)
	c.Env = append(os.Environ(), "ACCORDION_TRACES=/nonexistent")
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), string(out)
}

// has fails the test unless the folder has exactly these files, with the archive's content.
func (m mirror) has(t *testing.T, want ...string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.folder, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(want) {
		t.Errorf("the folder has %q, want %q", files, want)
	}
	for _, path := range want {
		got, err := os.ReadFile(filepath.Join(m.folder, filepath.Base(path)))
		if err != nil || string(got) != logs[path] {
			t.Errorf("%s is not the archive's: %v", path, err)
		}
	}
}

const one, two = "l_one/One-2001-1-cln.swf.gz", "l_two/Two-2002-1.swf.gz"

func TestLogsAreFetchedAndVerified(t *testing.T) {
	m := newMirror(t)
	if status, out := m.run(t, "--verify"); status != 1 || !strings.Contains(out, "One-2001-1-cln.swf.gz: not there") {
		t.Errorf("nothing there: %d, %s", status, out)
	}
	if status, out := m.run(t, "ONE"); status != 0 || !strings.Contains(out, "export ACCORDION_TRACES="+m.folder) {
		t.Errorf("one log: %d, %s", status, out)
	}
	m.has(t, one)
	if status, out := m.run(t); status != 0 || !strings.Contains(out, "One-2001-1-cln.swf.gz: there, and right") {
		t.Errorf("all: %d, %s", status, out)
	}
	m.has(t, one, two)
	if status, out := m.run(t, "--verify"); status != 0 || strings.Count(out, ": right\n") != 2 {
		t.Errorf("verify: %d, %s", status, out)
	}
	m.write(t, filepath.Join(m.folder, filepath.Base(two)), "three\n")
	if status, out := m.run(t, "--verify"); status != 1 || !strings.Contains(out, "Two-2002-1.swf.gz: WRONG") {
		t.Errorf("verify of a wrong one: %d, %s", status, out)
	}
	if status, out := m.run(t, "two"); status != 0 {
		t.Errorf("a wrong one is fetched anew: %d, %s", status, out)
	}
	m.has(t, one, two)
}

// The archive no longer has the first part of the log. So the download succeeds only if it resumes the part that
// exists.
func TestAnInterruptedLogIsResumed(t *testing.T) {
	m := newMirror(t)
	m.write(t, filepath.Join(m.folder, filepath.Base(one)+".part"), logs[one][:12000])
	m.write(t, filepath.Join(m.archive, one), strings.Repeat("x", 12000)+logs[one][12000:])
	if status, out := m.run(t, "one"); status != 0 {
		t.Errorf("%d, %s", status, out)
	}
	m.has(t, one)
}

func TestAWholePartIsTaken(t *testing.T) {
	m := newMirror(t)
	m.write(t, filepath.Join(m.folder, filepath.Base(one)+".part"), logs[one])
	if err := os.RemoveAll(m.archive); err != nil {
		t.Fatal(err)
	}
	if status, out := m.run(t, "one"); status != 0 {
		t.Errorf("%d, %s", status, out)
	}
	m.has(t, one)
}

func TestALogThatIsNotTheOneIsNotKept(t *testing.T) {
	m := newMirror(t)
	m.write(t, filepath.Join(m.archive, one), "something else\n")
	status, out := m.run(t)
	if status != 1 || !strings.Contains(out, "its SHA-256 differs") {
		t.Errorf("%d, %s", status, out)
	}
	m.has(t, two) // the other logs are fetched anyway
}

func TestAnArchiveThatIsAwayIsSaid(t *testing.T) {
	m := newMirror(t)
	if err := os.Remove(filepath.Join(m.archive, one)); err != nil {
		t.Fatal(err)
	}
	if status, out := m.run(t, "one"); status != 1 || !strings.Contains(out, "cannot be fetched") {
		t.Errorf("%d, %s", status, out)
	}
	m.has(t)
}

func TestAWrongCommandLineIsRefused(t *testing.T) {
	m := newMirror(t)
	for _, c := range []struct {
		arguments string
		want      string
	}{
		{"three", `no log's name has "three" in it`},
		{"--fast", "there is no --fast"},
		{"--to", "--to needs a value"},
	} {
		if status, out := m.run(t, strings.Fields(c.arguments)...); status != 2 || !strings.Contains(out, c.want) || strings.Count(out, "\n") != 1 {
			t.Errorf("%s: %d, %s", c.arguments, status, out)
		}
	}
	if status, out := m.run(t, "--help"); status != 0 || !strings.HasPrefix(out, "usage: fetch-traces") {
		t.Errorf("--help: %d, %s", status, out)
	}
	if status, out := m.run(t, "--list"); status != 0 || out != "One-2001-1-cln.swf.gz\nTwo-2002-1.swf.gz\n" {
		t.Errorf("--list: %d, %s", status, out)
	}
}

func TestTheSumsAreOfLogsOfTheArchive(t *testing.T) {
	text, err := os.ReadFile("traces.sha256")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		sum, path, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok || len(sum) != 64 || !strings.HasPrefix(path, "l_") || !strings.HasSuffix(path, ".swf.gz") || strings.Count(path, "/") != 1 {
			t.Errorf("traces.sha256: %q", line)
		}
	}
	if n := strings.Count(string(text), "\n"); n < 9 {
		t.Errorf("only %d logs", n)
	}
}
