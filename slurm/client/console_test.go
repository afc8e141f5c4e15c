package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"accordion/slurm/client/clienttest"
)

// speaking returns a Runner whose scontrol works as a console (clienttest.Speaking).
func speaking(t *testing.T, change func(*Config), answer string) (r *Runner, dir string) {
	t.Helper()
	dir = t.TempDir()
	return scripted(t, change, map[string]string{"scontrol": clienttest.Speaking(dir, answer)}), dir
}

// scripted returns a Runner whose programs are shell scripts, for answers that a healthy Slurm does not give.
func scripted(t *testing.T, change func(*Config), scripts map[string]string) *Runner {
	t.Helper()
	c := Config{Bin: t.TempDir(), Timeout: time.Minute, AtOnce: 6}
	if change != nil {
		change(&c)
	}
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(c.Bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := New(c)
	t.Cleanup(r.Close)
	return r
}

// lines returns the lines of a file, with underscores instead of blanks.
func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(text)), " ", "_"))
}

func TestOneConsoleCarriesOutManyCommands(t *testing.T) {
	s, dir := speaking(t, nil, `case $line in *bad*) echo "slurm_update error: No" >&2 ;; *) echo "for $line" ;; esac`)
	for i := range 20 {
		out, err := s.Run(t.Context(), Call{Program: "scontrol", Args: []string{"show", fmt.Sprint("n", i)}})
		if want := fmt.Sprintf("for show n%d\n", i); err != nil || out.Stdout != want || out.Stderr != "" {
			t.Fatalf("%q, %q, %v; want %q", out.Stdout, out.Stderr, err, want)
		}
		var f *Failure
		err = s.Scontrol(t.Context(), "update", "bad")
		if !errors.As(err, &f) || f.Code != 1 || !Says(err, "slurm_update error: no") || !strings.Contains(err.Error(), "scontrol update bad: exit code 1: slurm_update error: No") {
			t.Fatalf("a command that fails: %v", err)
		}
	}
	if n := len(lines(t, filepath.Join(dir, "programs"))); n != 1 || s.Begun() != 1 {
		t.Errorf("%d programs were started, %d counted; want 1", n, s.Begun())
	}
}

func TestCommandsThatAConsoleCannotCarryOutRunAsPrograms(t *testing.T) {
	s, dir := speaking(t, nil, ":")
	for _, arg := range []string{"two words", `a"b`, "a'b", "tab\t", "line\nend", "ü", "", "\x1b[A"} {
		if err := s.Scontrol(t.Context(), "notify", arg); err != nil {
			t.Errorf("%q: %v", arg, err)
		}
	}
	for _, line := range lines(t, filepath.Join(dir, "log")) {
		if strings.HasPrefix(line, "notify") {
			t.Errorf("a console was told %q", line)
		}
	}
	if n := s.Begun(); n != 8 {
		t.Errorf("%d programs, want one for each", n)
	}
}

func TestAConsoleThatHangsIsEndedAtTheDeadlineAndReplaced(t *testing.T) {
	s, dir := speaking(t, func(c *Config) { c.Timeout = time.Minute }, `case $line in *slow*) sleep 600 ;; esac`)
	if err := s.Scontrol(t.Context(), "show", "x"); err != nil {
		t.Fatal(err)
	}
	s.Timeout = 200 * time.Millisecond
	err := s.Scontrol(t.Context(), "update", "slow")
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "is slurmctld up?") {
		t.Errorf("the error is %v", err)
	}
	s.Timeout = time.Minute
	if err := s.Scontrol(t.Context(), "show", "y"); err != nil {
		t.Errorf("after it: %v", err)
	}
	programs := lines(t, filepath.Join(dir, "programs"))
	if len(programs) != 2 {
		t.Fatalf("%d consoles, want another after the first hung", len(programs))
	}
	if alive(t, programs[0]) {
		t.Error("the first sidecar is still alive")
	}
}

// alive reports whether a process exists and is not a zombie.
func alive(t *testing.T, pid string) bool {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestAConsoleThatEndedIsReplacedBeforeACommandIsLost(t *testing.T) {
	s, dir := speaking(t, nil, ":")
	for range 3 {
		if err := s.Scontrol(t.Context(), "update", "JobId=7"); err != nil {
			t.Fatal(err)
		}
		one := s.Consoles.pop(acting)
		one.kill()
		s.Consoles.put(one)
	}
	if n := len(lines(t, filepath.Join(dir, "log"))); n != 3 {
		t.Errorf("%d commands were carried out, want 3", n)
	}
}

func TestAConsoleThatEndsInACommandIsAFailureAndIsNotAskedAgain(t *testing.T) {
	s, dir := speaking(t, nil, `case $line in *fatal*) echo "scontrol: fatal: no" >&2; exit 1 ;; esac`)
	if err := s.Scontrol(t.Context(), "update", "fatal"); !Says(err, "fatal: no") {
		t.Errorf("%v", err)
	}
	if n := len(lines(t, filepath.Join(dir, "log"))); n != 1 {
		t.Errorf("the command was carried out %d times", n)
	}
	if err := s.Scontrol(t.Context(), "update", "x"); err != nil {
		t.Errorf("the next: %v", err)
	}
}

func TestAfterALostConnectionTheConsoleIsReplaced(t *testing.T) {
	s, dir := speaking(t, nil, `case $line in *lost*) echo "slurm_update error: Unable to contact slurm controller (connect failure)" >&2 ;; esac`)
	if err := s.Scontrol(t.Context(), "update", "lost"); err == nil {
		t.Error("no failure")
	}
	if err := s.Scontrol(t.Context(), "update", "x"); err != nil {
		t.Error(err)
	}
	if n := len(lines(t, filepath.Join(dir, "programs"))); n != 2 {
		t.Errorf("%d consoles, want 2", n)
	}
}

func TestAnExpiredConsoleIsEndedAndNotAskedAgain(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		what string
		*console
		worn bool
	}{
		{"new", &console{started: now, used: now}, false},
		{"idle", &console{started: now.Add(-consoleIdle), used: now.Add(-consoleIdle)}, true},
		{"acts for minutes", &console{started: now.Add(-2 * listingLife), used: now}, false},
		{"lists for minutes", &console{kind: Listing, started: now.Add(-listingLife), used: now}, true},
		{"old", &console{started: now.Add(-consoleLife), used: now}, true},
	} {
		if got := c.console.expired(now); got != c.worn {
			t.Errorf("%s: expired is %v", c.what, got)
		}
	}
	s, dir := speaking(t, nil, ":")
	if err := s.Scontrol(t.Context(), "show", "x"); err != nil {
		t.Fatal(err)
	}
	one := s.Consoles.pop(acting)
	one.used = one.used.Add(-consoleIdle)
	s.Consoles.put(one)
	s.Consoles.tidy()
	if s.Consoles.pop(acting) != nil || alive(t, lines(t, filepath.Join(dir, "programs"))[0]) {
		t.Error("it is still alive")
	}
}

func TestWithoutConsolesEachCommandIsAProgram(t *testing.T) {
	dir := t.TempDir()
	s := scripted(t, nil, map[string]string{"scontrol": `[ "$1" = --oneliner ] && { cat >/dev/null; exit; }; echo "$*" >>` + dir + `/log`})
	// The program ends when its input ends. If a console keeps running without an answer, it is ended after some
	// seconds.
	one, err := s.openConsole(acting)
	if err != nil {
		t.Fatal(err)
	}
	_ = one.stdin.Close()
	if err := one.answers(t.Context()); err == nil {
		t.Error("it listens")
	}
	one.end()
	s.Consoles.NoteSilent(time.Now())
	for range 3 {
		if err := s.Scontrol(t.Context(), "update", "x"); err != nil {
			t.Error(err)
		}
	}
	if n := len(lines(t, filepath.Join(dir, "log"))); n != 3 || s.Begun() != 3 {
		t.Errorf("%d programs, %d counted; want 3", n, s.Begun())
	}
	if _, err := s.Run(t.Context(), Call{Program: "scontrol", Args: []string{"show", "job"}, Stamped: true}); !errors.Is(err, ErrSilent) {
		t.Errorf("what only a console may do: %v", err)
	}
}

func TestConsolesWorkSideBySide(t *testing.T) {
	s, dir := speaking(t, func(c *Config) { c.AtOnce = 3 }, `sleep 0.01; echo "for $line"`)
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			out, err := s.Run(t.Context(), Call{Program: "scontrol", Args: []string{"show", fmt.Sprint("n", i)}})
			if want := fmt.Sprintf("for show n%d\n", i); err != nil || out.Stdout != want {
				t.Errorf("%q, %v; want %q", out.Stdout, err, want)
			}
		})
	}
	all.Wait()
	if n := len(lines(t, filepath.Join(dir, "programs"))); n > 3 {
		t.Errorf("%d consoles, at most 3 may be", n)
	}
}

func TestAConsoleEndsWithTheSidecar(t *testing.T) {
	s, dir := speaking(t, nil, ":")
	one, err := s.openConsole(acting)
	if err != nil {
		t.Fatal(err)
	}
	if err := one.answers(t.Context()); err != nil {
		t.Fatal(err)
	}
	pid := lines(t, filepath.Join(dir, "programs"))[0]
	_ = one.stdin.Close() // as the kernel does when the sidecar is killed
	one.wait()
	if alive(t, pid) {
		t.Error("it is still alive")
	}
}

// A stream returns the text before a word, in whatever pieces the text arrives, and loses nothing of what follows.
func TestAStreamIsReadUpToAWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.StringMatching(`[ab\n]{0,9}`), 1, 9).Draw(t, "pieces")
		size := rapid.IntRange(1, 7).Draw(t, "size")
		s := &stream{from: &drip{text: strings.Join(pieces, "\nW\n") + "\nW\nrest", size: size}}
		for _, p := range pieces {
			got, err := s.until([]byte("\nW\n"), []byte("never"))
			if err != nil || string(got) != p {
				t.Fatalf("%q, %v; want %q", got, err, p)
			}
		}
		if got, err := s.until([]byte("\nW\n")); err == nil || string(got) != "rest" {
			t.Fatalf("at the end: %q, %v", got, err)
		}
	})
}

// A drip is a reader that returns its text in pieces of a given size.
type drip struct {
	text string
	size int
}

func (d *drip) Read(p []byte) (int, error) {
	if d.text == "" {
		return 0, errors.New("the end")
	}
	n := copy(p, d.text[:min(d.size, len(d.text))])
	d.text = d.text[n:]
	return n, nil
}

func TestWhatAConsolePrintedIsFreedOfPromptsAndEcho(t *testing.T) {
	words := [2]string{"xout", "xerr"}
	for _, c := range []struct{ printed, commands, want string }{
		{"scontrol: show job 7\nJobId=7\nscontrol: xerr\nscontrol: show hostlist xout", "show job 7\n", "JobId=7\n"}, // with readline
		{"scontrol: JobId=7\nscontrol: scontrol: ", "show job 7\n", "JobId=7\nscontrol: "},                           // without
		{"scontrol: xerr\nscontrol: show hostlist xout", "", ""},
		{"scontrol: no line endscontrol: xerr\nscontrol: show hostlist xout", "write x\n", "no line end"},
	} {
		if got := withoutPrompts(c.printed, c.commands, words); got != c.want {
			t.Errorf("%q: %q, want %q", c.printed, got, c.want)
		}
	}
}
