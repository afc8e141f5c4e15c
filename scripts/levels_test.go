package scripts_test

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeGo replaces Go and compiles nothing. When it runs tests, it starts processes: one whose parent has ended, one
// in another session with another environment, and, if the test requests it, one that ignores TERM. Then it writes
// a line to the fifo and waits.
const fakeGo = `#!/bin/sh
case $1 in
version) [ -z "$FAKE_OLD" ] ;;
env) case $2 in
	GOVERSION) echo "${FAKE_OLD:-go1.99.0}" ;;
	GOCACHE) echo "${GOCACHE:-$FAKE/cache}" ;;
	CC) echo "${CC:-cc}" ;;
	esac ;;
build) printf '#!/bin/sh\n[ $# -gt 1 ] || exec cat\n[ "$1" != -left ] || echo left out: everything\n' >"$3"; chmod +x "$3" ;;
test)
	[ "$FAKE_WAITS" ] || exit 0
	(setsid sleep 4711 &)
	env -i PATH="$PATH" MARK="$MARK" setsid sleep 4712 &
	[ -z "$FAKE_STUBBORN" ] || sh -c 'trap "" TERM; while :; do sleep 4713; done' &
	echo tests >"$FAKE/fifo"
	wait ;;
esac
`

// bench is a folder of programs. It precedes the machine's own folders in PATH.
type bench struct{ folder string }

func newBench(t *testing.T) bench {
	t.Helper()
	b := bench{t.TempDir()}
	b.put(t, "go", fakeGo)
	b.put(t, "gofmt", "#!/bin/sh\n")
	b.put(t, "cc", "#!/bin/sh\nprintf '#!/bin/sh\\n' >\"$2\"; chmod +x \"$2\"\n")
	return b
}

func (b bench) put(t *testing.T, program, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.folder, program), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// command returns a command that runs scripts/test with the bench.
func (b bench) command(t *testing.T, env []string, arguments ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), "./test", arguments...)
	c.Env = append(append(os.Environ(), "PATH="+b.folder+":"+os.Getenv("PATH"), "FAKE="+b.folder, "GOCACHE=", "CC="), env...)
	c.WaitDelay = 10 * time.Second
	return c
}

// TestAMachineThatIsNotFitIsToldSoInOneLine checks each reason why a machine is unsuitable. The script must report
// it before any test runs.
func TestAMachineThatIsNotFitIsToldSoInOneLine(t *testing.T) {
	for name, c := range map[string]struct {
		programs  map[string]string // programs that replace programs of the bench
		env       []string
		arguments string
		says      string
	}{
		"no compiler":           {env: []string{"CC=/nonexistent/cc"}, says: "no C compiler: '/nonexistent/cc' cannot compile"},
		"an old Go":             {env: []string{"FAKE_OLD=go1.19.8"}, says: "Go 1.19.8 is too old"},
		"a full disk":           {programs: map[string]string{"df": "#!/bin/sh\necho head\necho /dev/x 100 90 10240 99% /\n"}, says: "only 10 MB are free in"},
		"no temporary folder":   {env: []string{"TMPDIR=/nonexistent"}, says: "no temporary folder can be made in /nonexistent"},
		"no modules":            {programs: map[string]string{"go": strings.Replace(fakeGo, "version)", "list | mod) echo 'dial tcp: no network' >&2; exit 1 ;;\nversion)", 1)}, says: "go -C scripts/site mod download): dial tcp: no network"},
		"no root, for --real":   {programs: map[string]string{"id": "#!/bin/sh\necho 1000\n"}, arguments: "--real", says: "--real needs root"},
		"no root, for --long":   {programs: map[string]string{"id": "#!/bin/sh\necho 1000\n"}, arguments: "--long", says: "--real needs root"},
		"an option that is not": {arguments: "--reel", says: "there is no option --reel"},
		"programs cannot run":   {programs: map[string]string{"cc": "#!/bin/sh\n: >\"$2\"\n"}, says: "no program can be run in"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			for program, text := range c.programs {
				b.put(t, program, text)
			}
			run := b.command(t, c.env, strings.Fields(c.arguments)...)
			var out, errs bytes.Buffer
			run.Stdout, run.Stderr = &out, &errs
			err := run.Run()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("%v, want exit status 2", err)
			}
			if !strings.Contains(errs.String(), c.says) || strings.Count(errs.String(), "\n") != 1 || out.Len() > 0 {
				t.Errorf("it says %q and %q, want one line with %q", out.String(), errs.String(), c.says)
			}
		})
	}
}

// TestAFolderThatCannotBeWrittenIsReplacedForTheBuildCache runs the script as if HOME were read-only.
func TestAFolderThatCannotBeWrittenIsReplacedForTheBuildCache(t *testing.T) {
	out, err := newBench(t).command(t, []string{"GOCACHE=/dev/null/cache"}).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "/dev/null/cache cannot be written: Go's build cache is in a temporary folder") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTheLastLineSaysWhatIsLeftOut checks the last line of a run without failures.
func TestTheLastLineSaysWhatIsLeftOut(t *testing.T) {
	out, err := newBench(t).command(t, nil).CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "all is well\nleft out: everything\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestAnInterruptedRunLeavesNothing interrupts a run while its tests run. No process and no temporary folder may
// remain.
func TestAnInterruptedRunLeavesNothing(t *testing.T) {
	for signal, stubborn := range map[syscall.Signal]string{syscall.SIGINT: "", syscall.SIGTERM: "yes"} {
		t.Run(signal.String(), func(t *testing.T) {
			b, temporary := newBench(t), t.TempDir()
			fifo := filepath.Join(b.folder, "fifo")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			mark := "MARK=" + strings.ReplaceAll(b.folder, "/", "-")
			run := b.command(t, []string{"FAKE_WAITS=yes", "TMPDIR=" + temporary, "FAKE_STUBBORN=" + stubborn, mark})
			var out bytes.Buffer
			run.Stdout, run.Stderr = &out, &out
			if err := run.Start(); err != nil {
				t.Fatal(err)
			}
			ready, err := os.Open(fifo)
			if err != nil {
				t.Fatal(err)
			}
			defer ready.Close()
			if _, err := bufio.NewReader(ready).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			if err := run.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			err = run.Wait()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("%v, want exit status 130\n%s", err, out.String())
			}
			if !strings.HasSuffix(out.String(), "interrupted; all that it had started has ended\n") {
				t.Errorf("its last words are %q", out.String())
			}
			for pid, line := range marked(t, mark) {
				t.Errorf("still running: %d %q", pid, line)
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			if names, err := os.ReadDir(temporary); err != nil || len(names) > 0 {
				t.Errorf("left in the temporary folder: %v %v", names, err)
			}
		})
	}
}

// marked returns the command lines of the processes that have the mark in their environment.
func marked(t *testing.T, mark string) map[int][]byte {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	all := map[int][]byte{}
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+mark+"\x00")) {
			continue // the process belongs to another user, or has ended
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		all[pid], _ = os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
	}
	return all
}
