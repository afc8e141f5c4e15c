package sealtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"accordion/internal/testenv"
	"accordion/shim/seal"
)

// Munged starts a munged with its own key, ends it after the test, and returns the path of its socket. It skips the test if munge is not
// installed.
func Munged(t testing.TB) (socket string) {
	t.Helper()
	return MungedIn(t, "")
}

// MungedIn starts a munged as Munged does, with its files in a folder below `parent`. It serves processes that do not
// see this machine's folder of temporary files.
func MungedIn(t testing.TB, parent string) (socket string) {
	t.Helper()
	return host(t, key(t, parent), parent)
}

// Key makes a key that several hosts may share, and returns its path.
func Key(t testing.TB) string {
	t.Helper()
	return key(t, "")
}

func key(t testing.TB, parent string) string {
	t.Helper()
	testenv.File(t, "munge", "/usr/sbin/munged")
	key := filepath.Join(folder(t, parent), "key")
	if err := os.WriteFile(key, bytes.Repeat([]byte("0123456789abcdef"), 8), 0o600); err != nil {
		t.Fatal(err)
	}
	return key
}

// folder makes a folder below parent that every user may enter. Its path is short enough for a socket, whatever the
// test's name is. If parent is "" the folder is in the folder for temporary files.
func folder(t testing.TB, parent string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, "munge")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Host starts a munged with a key, under the command in prefix ("ip netns exec NAME"). It returns the path of its
// socket.
func Host(t testing.TB, key string, prefix ...string) (socket string) {
	t.Helper()
	return host(t, key, "", prefix...)
}

func host(t testing.TB, key, parent string, prefix ...string) (socket string) {
	t.Helper()
	dir := folder(t, parent)
	socket = filepath.Join(dir, "socket")
	log := filepath.Join(dir, "log")
	arguments := append(prefix[:len(prefix):len(prefix)], "/usr/sbin/munged", "--foreground", "--force", "--num-threads=2", "--key-file="+key,
		"--socket="+socket, "--seed-file="+filepath.Join(dir, "seed"), "--pid-file="+filepath.Join(dir, "pid"), "--log-file="+log)
	command := exec.Command(arguments[0], arguments[1:]...)
	if err := command.Start(); err != nil {
		t.Fatalf("start munged: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() {
		_ = command.Process.Kill()
		<-ended
	})
	for end := time.Now().Add(time.Minute); ; {
		err := seal.NewMunge(socket).Check(context.Background())
		if err == nil {
			return socket
		}
		select {
		case early := <-ended:
			ended <- early
			text, _ := os.ReadFile(log)
			t.Fatalf("munged ended: %v\n%s", early, strings.TrimSpace(string(text)))
		case <-time.After(20 * time.Millisecond): // munged has no event to wait for
		}
		if time.Now().After(end) {
			t.Fatalf("munged does not answer: %v", err)
		}
	}
}
