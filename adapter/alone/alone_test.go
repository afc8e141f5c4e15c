package alone_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"accordion/adapter/alone"
)

// other is the variable that makes this test program the other process: it holds the lock of the file and says so.
const other = "ACCORDION_TEST_HOLDS"

func TestMain(m *testing.M) {
	path := os.Getenv(other)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := alone.Acquire(path, "its journal is j.db"); err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("held\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until it is killed
}

// held starts a process that holds the lock.
func held(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), other+"="+path)
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = c.Process.Kill(); _ = c.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	return c
}

func TestTheSecondIsRefusedByNameUntilTheFirstIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	if who, err := alone.Holder(path); who != nil || err != nil {
		t.Fatalf("before anybody came, it is held by %v, %v", who, err)
	}
	first := held(t, path)
	for range 2 { // the refusal must not take the lock away
		_, err := alone.Acquire(path, "")
		taken := (*alone.Taken)(nil)
		if !errors.As(err, &taken) || taken.PID != first.Process.Pid || taken.Note != "its journal is j.db" {
			t.Fatalf("the second is told %v, want process %d and its note", err, first.Process.Pid)
		}
		if who, err := alone.Holder(path); err != nil || who == nil || who.PID != first.Process.Pid {
			t.Fatalf("the lock is held by %v, %v", who, err)
		}
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	lock, err := alone.Acquire(path, "")
	if err != nil {
		t.Fatalf("after kill -9 of the first: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if who, err := alone.Holder(path); who != nil || err != nil {
		t.Fatalf("after its release it is held by %v, %v", who, err)
	}
}

func TestOneSidecarAClusterAndNoFileElsewhere(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	for _, cluster := range []string{"lab-head-6817", "lab-head-6818", "../../etc/passwd", "..", "a b", ""} {
		lock, err := alone.Beside(folder, cluster, "")
		if err != nil {
			t.Fatalf("cluster %q: %v", cluster, err)
		}
		defer lock.Release()
		if _, err := alone.Beside(folder, cluster, ""); err == nil {
			t.Errorf("a second sidecar of cluster %q is not refused", cluster)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files in the folder, %v; want one a cluster", len(files), err)
	}
}

func TestALinkInTheFilesPlaceIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "precious"), filepath.Join(dir, "x.lock")
	if err := errors.Join(os.WriteFile(target, []byte("text"), 0o644), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := alone.Acquire(link, ""); err == nil {
		t.Error("the lock of a link is taken")
	}
	if text, _ := os.ReadFile(target); !strings.HasPrefix(string(text), "text") {
		t.Errorf("the link's target was written: %q", text)
	}
}
