package session

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"accordion/shim/wire"
)

func TestEveryUserMayConnect(t *testing.T) {
	s := serve(t, Options{})
	info, err := os.Stat(s.path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o666 {
		t.Errorf("the socket has mode %v", info.Mode())
	}
	if info, err := os.Stat(s.path + lockFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the lock: %v, %v; a user who can open it can keep the sidecar away", info, err)
	}
}

func TestSecondServerIsRefusedAndFirstGoesOn(t *testing.T) {
	s := serve(t, Options{})
	s.answerAll(t)
	if _, err := Listen(Options{Path: s.path}); !errors.Is(err, ErrLive) {
		t.Fatalf("got %v", err)
	}
	if reply, err := wire.ReadReply(s.ask(t, 3)); err != nil || reply.Generation != 3 {
		t.Fatalf("the first: %+v, %v", reply, err)
	}
}

func TestForeignServerIsNotReplaced(t *testing.T) {
	path := socketPath(t)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := Listen(Options{Path: path}); !errors.Is(err, ErrLive) {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Lstat(path + lockFile); !os.IsNotExist(err) {
		t.Errorf("the lock is left: %v", err)
	}
}

// leftOver leaves what a killed sidecar leaves: its socket without a server, and its lock file
// without a lock.
func leftOver(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if err := os.WriteFile(path+lockFile, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestSocketOfKilledServerIsReplaced(t *testing.T) {
	path := socketPath(t)
	leftOver(t, path)
	s := serve(t, Options{Path: path})
	s.answerAll(t)
	if reply, err := wire.ReadReply(s.ask(t, 3)); err != nil || reply.Generation != 3 {
		t.Fatalf("got %+v, %v", reply, err)
	}
}

func TestOfManyServersThatStartTogetherOneServes(t *testing.T) {
	path := socketPath(t)
	for range 20 {
		leftOver(t, path)
		var won atomic.Int32
		var winner *unixSocket
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				s, err := listenUnix(path)
				switch {
				case err == nil:
					won.Add(1)
					winner = s
				case !errors.Is(err, ErrLive):
					t.Errorf("got %v", err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d servers have the socket", won.Load())
		}
		winner.Close()
	}
}

func TestLateEndOfServerDoesNotRemoveSocketOfSuccessor(t *testing.T) {
	path := socketPath(t)
	first, err := listenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	second, err := listenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	first.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Fatalf("the second's socket: %v", err)
	}
}

func TestUnsafePlacesAreRefusedWithWhatToDo(t *testing.T) {
	dir := t.TempDir()
	open := filepath.Join(dir, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o777); err != nil { // set explicitly, because the umask may be any
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign")
	if err := os.Mkdir(foreign, 0o755); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		filepath.Join(open, "s"): "chmod go-w",
		file:                     "not a socket",
		filepath.Join(file, "s"): "not a directory",
		"relative/s":             "absolute",
		filepath.Join("/", strings.Repeat("x", 200)): "at most",
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(foreign, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		cases[filepath.Join(foreign, "s")] = "chown root"
	}
	for path, want := range cases {
		_, err := Listen(Options{Path: path})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v; want %q", path, err, want)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "precious" {
		t.Errorf("the file: %q, %v", b, err)
	}
}

func TestAbsentDirectoryIsCreated(t *testing.T) {
	path := filepath.Join(filepath.Dir(socketPath(t)), "run", "s")
	s := serve(t, Options{Path: path})
	s.answerAll(t)
	if _, err := wire.ReadReply(s.ask(t, 1)); err != nil {
		t.Fatal(err)
	}
}

// accordion.service has UMask=0077.
func TestEveryoneReachesTheSocketWhateverTheUmask(t *testing.T) {
	top, err := os.MkdirTemp("", "umask") // a short path, for sockets
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(top)
	defer unix.Umask(unix.Umask(0o077))
	path := filepath.Join(top, "a", "b", "sock")
	l, err := listenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, dir := range []string{filepath.Join(top, "a"), filepath.Join(top, "a", "b")} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("%s: mode %v (%v), want 0755", dir, info.Mode(), err)
		}
	}
}
