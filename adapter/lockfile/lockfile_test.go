package lockfile_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"accordion/adapter/lockfile"
	"accordion/internal/testenv"
)

// These environment variables turn this test program into another process. With `other` it holds
// the lock of the file and reports that. With `locks` it takes any lock that a process other than a
// sidecar can take. With `heir`=N it leaves a program that has the lock's file open for N seconds.
const (
	other = "ACCORDION_TEST_HOLDS"
	heir  = "ACCORDION_TEST_HEIR"
	locks = "ACCORDION_TEST_LOCKS"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(locks); path != "" {
		readLock(path)
	}
	path := os.Getenv(other)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, err := lockfile.Acquire(path, "its journal is j.db"); err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	if seconds := os.Getenv(heir); seconds != "" {
		leave(path, seconds)
	}
	os.Stdout.WriteString("held\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // this process waits until it is killed
}

// leave starts a program that has the file of this process's lock open, as every child process has
// for a moment before its exec.
func leave(path, seconds string) {
	c := exec.Command("sleep", seconds)
	files, _ := filepath.Glob("/proc/self/fd/*")
	for _, file := range files {
		number, _ := strconv.Atoi(filepath.Base(file))
		if name, _ := os.Readlink(file); name == path {
			c.ExtraFiles = append(c.ExtraFiles, os.NewFile(uintptr(number), path))
		}
	}
	if err := c.Start(); err != nil || len(c.ExtraFiles) != 1 {
		fmt.Println(len(c.ExtraFiles), err)
		os.Exit(1)
	}
}

// readLock takes the lock that needs only read permission.
func readLock(path string) {
	f, err := os.Open(path)
	if err == nil {
		err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_RDLCK})
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = os.Stdin.Read(make([]byte, 1)) // this process waits until it is killed
	os.Exit(0)
}

// byNobody returns a command that runs a copy of this program as another user.
func byNobody(t *testing.T, variable, path string) *exec.Cmd {
	t.Helper()
	testenv.Needs(t, testenv.Root)
	program, err := os.ReadFile(os.Args[0])
	copied := filepath.Join(filepath.Dir(path), "program")
	if err = errors.Join(err, os.WriteFile(copied, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(copied)
	c.Env, c.Dir = []string{variable + "=" + path}, "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return c
}

// open returns a new folder that every user may enter.
func open(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// If the file had mode 0644, a lock taken by a reader would keep every later sidecar out.
func TestOtherUserKeepsNoSidecarOut(t *testing.T) {
	for _, left := range []bool{false, true} { // with true, an older Accordion made the file
		path := filepath.Join(open(t), "x.lock")
		if left {
			if err := os.WriteFile(path, []byte("1\n\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		first, err := lockfile.Acquire(path, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := first.Release(); err != nil {
			t.Fatal(err)
		}
		c := byNobody(t, locks, path)
		in, err1 := c.StdinPipe()
		out, err2 := c.StdoutPipe()
		if err := errors.Join(err1, err2, c.Start()); err != nil {
			t.Fatal(err)
		}
		line, _ := bufio.NewReader(out).ReadString('\n')
		second, err := lockfile.Acquire(path, "")
		if err != nil {
			t.Errorf("after another user's try (%q) the next sidecar gets: %v", line, err)
		} else {
			_ = second.Release()
		}
		in.Close()
		_ = c.Wait() // Wait returns an error if the other process was refused
	}
}

// `held` starts a process that holds the lock. `more` is added to its environment.
func held(t *testing.T, path string, more ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), other+"="+path), more...)
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

func TestSecondProcessIsRefusedUntilFirstIsKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	if who, err := lockfile.Holder(path); who != nil || err != nil {
		t.Fatalf("before anybody came, it is held by %v, %v", who, err)
	}
	first := held(t, path)
	for range 2 { // tried twice, because a refused attempt must not release the lock
		_, err := lockfile.Acquire(path, "")
		taken := (*lockfile.HeldError)(nil)
		if !errors.As(err, &taken) || taken.PID != first.Process.Pid || taken.Note != "its journal is j.db" {
			t.Fatalf("the second gets %v, want process %d and its note", err, first.Process.Pid)
		}
		if who, err := lockfile.Holder(path); err != nil || who == nil || who.PID != first.Process.Pid {
			t.Fatalf("the lock is held by %v, %v", who, err)
		}
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	lock, err := lockfile.Acquire(path, "")
	if err != nil {
		t.Fatalf("after kill -9 of the first: %v", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if who, err := lockfile.Holder(path); who != nil || err != nil {
		t.Fatalf("after its release it is held by %v, %v", who, err)
	}
}

// Once, a sidecar that was killed while it started a program kept the next sidecar out.
func TestAcquireWaitsForRemainsOfKilledProcess(t *testing.T) {
	for _, c := range []struct {
		name, seconds string
		reaped        bool // the parent waits for the killed process, which is a zombie otherwise
		refused       bool
	}{
		{"a moment after its end", "0.5", true, false},
		{"a moment after its end, as a zombie", "0.5", false, false},
		{"but not forever", "20", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.lock")
			first := held(t, path, heir+"="+c.seconds)
			_ = first.Process.Kill()
			if err := unix.Waitid(unix.P_PID, first.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
				t.Fatal(err)
			}
			if c.reaped {
				_ = first.Wait()
			}
			lock, err := lockfile.Acquire(path, "")
			if taken := (*lockfile.HeldError)(nil); errors.As(err, &taken) != c.refused || err == nil == c.refused {
				t.Fatalf("after kill -9 of the first, whose program of %s s has the file open: %v, want refused %v", c.seconds, err, c.refused)
			}
			if err == nil {
				_ = lock.Release()
			}
		})
	}
}

func TestOneSidecarPerClusterAndNoFileElsewhere(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	for _, cluster := range []string{"lab-head-6817", "lab-head-6818", "../../etc/passwd", "..", "a b", ""} {
		lock, err := lockfile.Beside(folder, cluster, "")
		if err != nil {
			t.Fatalf("cluster %q: %v", cluster, err)
		}
		defer lock.Release()
		if _, err := lockfile.Beside(folder, cluster, ""); err == nil {
			t.Errorf("a second sidecar of cluster %q is not refused", cluster)
		}
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 6 {
		t.Fatalf("%d files in the folder, %v; want one a cluster", len(files), err)
	}
}

func TestLinkInPlaceOfFileIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "precious"), filepath.Join(dir, "x.lock")
	if err := errors.Join(os.WriteFile(target, []byte("text"), 0o644), os.Symlink(target, link)); err != nil {
		t.Fatal(err)
	}
	if _, err := lockfile.Acquire(link, ""); err == nil {
		t.Error("the lock of a link is taken")
	}
	if text, _ := os.ReadFile(target); !strings.HasPrefix(string(text), "text") {
		t.Errorf("the link's target was written: %q", text)
	}
}
