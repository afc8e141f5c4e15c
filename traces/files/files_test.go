package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestFilesAreWrittenCompletelyOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	text := func(s string) func(io.Writer) error {
		return func(out io.Writer) error { _, err := io.WriteString(out, s); return err }
	}
	if err := Save(File{at("a"), false, text("old a")}, File{at("b"), false, text("old b")}); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	err := Save(File{at("a"), false, text("new a")}, File{at("b"), false, func(out io.Writer) error {
		_, _ = io.WriteString(out, "new")
		return full
	}}, File{at("c"), false, text("new c")})
	if !errors.Is(err, full) || !strings.Contains(err.Error(), at("b")) {
		t.Errorf("error %v, want one about %s", err, at("b"))
	}
	// Each of these paths is refused, after both other files are in place. The folder of the first does not
	// exist, the folder of the second cannot be created, and the third is a folder itself.
	for _, wrong := range []string{at("new/deep/none"), at("a/none"), at("in")} {
		if err := os.Mkdir(at("in"), 0o755); err != nil {
			t.Fatal(err)
		}
		refused := File{wrong, true, text("no")}
		if wrong == at("new/deep/none") {
			refused.Write = func(io.Writer) error { return full }
		}
		if err := Save(File{at("a"), false, text("new a")}, File{at("new/c"), true, text("new c")}, refused); err == nil {
			t.Errorf("%s was written", wrong)
		}
		if err := os.Remove(at("in")); err != nil {
			t.Error(err)
		}
	}
	if err := Save(File{at("a"), false, text("new a")}, File{at("none/d"), false, text("d")}); err == nil {
		t.Error("a file in a folder that is not there is no error")
	}
	pipe := at("pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Save(File{at("a"), false, text("new a")}, File{pipe, false, text("pipe")}); err == nil {
		t.Error("a file took a pipe's place")
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode().IsRegular() {
		t.Errorf("the pipe is %v, error %v", info, err)
	}
	if err := os.Remove(pipe); err != nil {
		t.Error(err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = Save(File{at("a"), false, text("new a")}, File{at("new/c"), true, func(io.Writer) error { panic("a mistake of ours") }})
		t.Error("the mistake was swallowed")
	}()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder has %v, error %v", entries, err)
	}
	for _, name := range []string{"a", "b"} {
		got, err := os.ReadFile(at(name))
		if err != nil || string(got) != "old "+name {
			t.Errorf("%s has %q, error %v", name, got, err)
		}
	}
	if err := Save(File{at("a"), false, text("new a")}); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(at("a")); string(got) != "new a" {
		t.Errorf("a has %q", got)
	}
}
