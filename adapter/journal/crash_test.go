package journal

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"accordion/internal/testmain"
)

// These tests kill a real process. The process is this test program, started again. An environment
// variable names the part that it plays.
const (
	partVariable = "ACCORDION_TEST_PART"
	pathVariable = "ACCORDION_TEST_JOURNAL"
)

func TestMain(m *testing.M) {
	parts := map[string]func(string) error{"write for ever": writeForever, "write into a small file": writeIntoSmallFile, "lock all": lockAll}
	if part := parts[os.Getenv(partVariable)]; part != nil {
		if err := part(os.Getenv(pathVariable)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	// The random cases are the same in every run, and are few, because each write waits for the
	// disk. Flags can change both.
	os.Exit(testmain.Run(m, testmain.Cases{Usual: 25}))
}

func play(t *testing.T, part, path string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), partVariable+"="+part, pathVariable+"="+path)
	return cmd
}

// writeForever begins and finishes intents. It prints each id after Begin or Finish has returned.
func writeForever(path string) error {
	j, err := Open(path)
	if err != nil {
		return err
	}
	for {
		id, err := j.Begin(Intent{At: noon, Job: 1, Verb: "merge", Args: map[string]any{"pad": strings.Repeat("x", 700)}})
		if err != nil {
			return err
		}
		fmt.Println("begun", id)
		if id%3 == 0 {
			continue // some intents stay unfinished
		}
		if err := j.Finish(id, noon, nil); err != nil {
			return err
		}
		fmt.Println("finished", id)
	}
}

func TestKillNineKeepsEveryIntentThatBeginReturned(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	for round, lines := range []int{1, 7, 40} {
		cmd := play(t, "write for ever", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		said := map[string]bool{}
		scanner := bufio.NewScanner(out)
		for len(said) < lines && scanner.Scan() {
			said[scanner.Text()] = true
		}
		if err := cmd.Process.Kill(); err != nil { // SIGKILL at a random moment
			t.Fatal(err)
		}
		for scanner.Scan() {
			said[scanner.Text()] = true
		}
		cmd.Wait()
		if len(said) < lines {
			t.Fatalf("round %d: the writer said only %d lines", round, len(said))
		}
		j, err := Open(path) // the killed process no longer holds the lock
		if err != nil {
			t.Fatalf("round %d: opening after the kill: %v", round, err)
		}
		begun, finished := map[int64]bool{}, map[int64]bool{}
		for _, e := range all(t, j, 0) {
			begun[e.ID] = true
			finished[e.ID] = !e.Unfinished()
		}
		for line := range said {
			what, number, _ := strings.Cut(line, " ")
			id, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				t.Fatalf("the writer said %q", line)
			}
			if !begun[id] || what == "finished" && !finished[id] {
				t.Errorf("round %d: %q was said before the kill, and is not in the journal", round, line)
			}
		}
		for _, e := range must(j.Unfinished())(t) {
			if finished[e.ID] {
				t.Errorf("intent %d is both finished and unfinished", e.ID)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// writeIntoSmallFile fills the file up to a limit that the kernel enforces, and then continues
// without the limit. It prints the results of the journal's methods.
func writeIntoSmallFile(path string) error {
	j, err := Open(path)
	if err != nil {
		return err
	}
	defer j.Close()
	signal.Ignore(unix.SIGXFSZ)
	var whole unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &whole); err != nil {
		return err
	}
	small := whole
	small.Cur = 256 << 10
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &small); err != nil {
		return err
	}
	pad := map[string]any{"pad": strings.Repeat("x", 16<<10)}
	var kept []int64
	for len(kept) < 100 {
		id, err := j.Begin(Intent{At: noon, Verb: "merge", Args: pad})
		if err != nil {
			fmt.Println("error", err)
			break
		}
		kept = append(kept, id)
	}
	if len(kept) == 0 || len(kept) == 100 {
		return fmt.Errorf("%d intents fitted under the limit", len(kept))
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &whole); err != nil {
		return err
	}
	id, err := j.Begin(Intent{At: noon, Verb: "merge", Args: pad})
	if err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	for _, id := range append(kept, id) {
		fmt.Println("kept", id)
	}
	return nil
}

func TestFileThatCannotGrowIsExplainedAndKeepsWhatWasBegun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	out, err := play(t, "write into a small file", path).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		t.Fatalf("%v: %s", err, failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	j := must(OpenReadOnly(path))(t)
	defer j.Close()
	here := map[string]bool{}
	for _, e := range all(t, j, 0) {
		here[fmt.Sprint(e.ID)] = true
	}
	var message string
	for line := range strings.Lines(string(out)) {
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case what == "error":
			message = rest
		case !here[rest]:
			t.Errorf("intent %s was begun and is lost", rest)
		}
	}
	if !strings.Contains(message, path) || !strings.Contains(message, "df ") {
		t.Errorf("the error is %q; want the file and what to look at", message)
	}
}
