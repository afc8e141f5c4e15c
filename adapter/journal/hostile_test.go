package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"accordion/internal/testenv"
)

// `nobody` is the user ID of the attacking user.
const nobody = 65534

// lockAll takes every lock on the journal's files that an ordinary user can take, prints their
// number, and keeps them. It runs as the user "nobody". SQLite locks single bytes: 120 for writers,
// 121 for checkpoints, 128 for the first process that opens the file.
func lockAll(path string) error {
	taken := 0
	for _, file := range files(path) {
		for _, how := range []int{os.O_RDWR, os.O_RDONLY} {
			f, err := os.OpenFile(file, how, 0)
			if err != nil {
				continue
			}
			for at := int64(120); at <= 128; at++ {
				lock := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart, Start: at, Len: 1}
				if unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock) == nil {
					taken++
				}
			}
			defer f.Close()
			break
		}
	}
	fmt.Println(taken, "locks")
	_, err := io.Copy(io.Discard, os.Stdin) // this process keeps the locks until the test ends
	return err
}

// attack starts a process of the user "nobody" that takes as many locks on the journal as it can.
// The process keeps them until the test ends. attack returns their number.
func attack(t *testing.T, path string) int {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The user "nobody" may not be able to reach the test's own program.
	open := filepath.Join(filepath.Dir(filepath.Dir(path)), "program")
	if _, err := os.Stat(open); err != nil {
		if err := exec.Command("install", "-m", "0755", program, open).Run(); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), open)
	cmd.Env = append(os.Environ(), partVariable+"=lock all", pathVariable+"="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, Pdeathsig: syscall.SIGKILL}
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	if _, err := fmt.Sscanf(line, "%d locks", &taken); err != nil {
		t.Fatal(err)
	}
	return taken
}

// openToAll returns a journal as earlier releases left it when they were killed: readable by all
// users, with entries in its write-ahead log.
func openToAll(t *testing.T) (path string, entries int) {
	t.Helper()
	testenv.Needs(t, testenv.Root)
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path = filepath.Join(dir, "state", "j.db")
	cmd := play(t, "write for ever", path)
	out, err := cmd.StdoutPipe()
	if err := errors.Join(err, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && entries < 40 {
		if strings.HasPrefix(lines.Text(), "begun") {
			entries++
		}
	}
	cmd.Process.Kill()
	cmd.Wait()
	for _, name := range []string{dir, filepath.Dir(path), path, path + "-wal", path + "-shm"} {
		mode := fs.FileMode(0o644)
		if name == dir || name == filepath.Dir(path) {
			mode = 0o755
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	return path, entries
}

// writes opens the journal as a sidecar does at its start, and checks that the journal has the
// given number of entries and accepts more.
func writes(t *testing.T, path string, entries int) *Journal {
	t.Helper()
	asked := time.Now()
	j, err := Open(path)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	t.Cleanup(func() { j.Close() })
	if n := len(all(t, j, 0)); n < entries {
		t.Fatalf("%d entries are left of %d", n, entries)
	}
	if _, err := j.Begin(Intent{At: noon, Job: 2, Verb: "grow"}); err != nil {
		t.Fatalf("writing: %v", err)
	}
	if _, err := j.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if size := j.WALBytes(); size != 0 {
		t.Errorf("a checkpoint left %d bytes in the log", size)
	}
	if took := time.Since(asked); took > 4*time.Second { // SQLite waits 5 s for a lock
		t.Errorf("it took %v", took)
	}
	return j
}

func TestLocksTakenBeforeTheUpgradeKeepNoSidecarOut(t *testing.T) {
	path, entries := openToAll(t)
	if n := attack(t, path); n < 9 {
		t.Fatalf("the attacker has %d locks only: the test tests nothing", n)
	}
	writes(t, path, entries)
	if n := attack(t, path); n != 0 {
		t.Errorf("after the upgrade the attacker took %d locks", n)
	}
}

func TestNobodyElseCanOpenTheJournalsFiles(t *testing.T) {
	path, _ := openToAll(t)
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	old := unix.Umask(0)
	defer unix.Umask(old)
	writes(t, path, 0)
	if info, err := os.Stat(filepath.Dir(path)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v (%v), want 0700", info.Mode(), err)
	}
	for _, mode := range []fs.FileMode{0o700, 0o755} { // the modes of the files are enough to keep others out
		if err := os.Chmod(filepath.Dir(path), mode); err != nil {
			t.Fatal(err)
		}
		if n := attack(t, path); n != 0 {
			t.Errorf("in a folder of mode %04o the attacker took %d locks", mode, n)
		}
	}
	for _, file := range files(path) {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v (%v), want 0600", file, info.Mode(), err)
		}
	}
}

func TestAJournalBehindALinkIsRenewedWhereItIs(t *testing.T) {
	for _, mode := range []fs.FileMode{0o644, 0o600} {
		dir := t.TempDir()
		config, data := filepath.Join(dir, "config"), filepath.Join(dir, "data")
		target, link := filepath.Join(data, "real.db"), filepath.Join(config, "j.db")
		j := writes(t, target, 0)
		if err := errors.Join(j.Close(), os.Chmod(target, mode), os.Mkdir(config, 0o755), os.Symlink("../config/k.db", link), os.Symlink(target, filepath.Join(config, "k.db"))); err != nil {
			t.Fatal(err)
		}
		j = writes(t, link, 1)
		if j.Path() != link { // the cluster's lease uses the name of the link
			t.Errorf("its path is %s, want %s", j.Path(), link)
		}
		if twice, err := Open(target); !errors.Is(err, ErrInUse) {
			t.Errorf("opening it by its own name, too: %v", err)
			if err == nil {
				twice.Close()
			}
		}
		reader, err := OpenReadOnly(link)
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		if pid, running, err := reader.Writer(); err != nil || !running || pid != os.Getpid() {
			t.Errorf("its writer is %d, %t (%v)", pid, running, err)
		}
		if err := j.PutView([]byte("x")); err != nil || WALBytes(link) == 0 || j.WALBytes() == 0 {
			t.Errorf("the log has %d bytes (%v)", WALBytes(link), err)
		}
		if info, err := os.Lstat(target); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v (%v), want 0600", info.Mode(), err)
		}
		if names, err := entryNames(config); err != nil || fmt.Sprint(names) != "[j.db k.db]" {
			t.Errorf("next to the link there are %q (%v)", names, err)
		}
	}
}

func TestALinkThatAnotherUserCanHaveMadeIsNotFollowed(t *testing.T) {
	testenv.Needs(t, testenv.Root)
	for name, theirs := range map[string]func(link string) error{
		"their link":        func(link string) error { return os.Lchown(link, nobody, nobody) },
		"their folder":      func(link string) error { return os.Chown(filepath.Dir(link), nobody, nobody) },
		"everyone's folder": func(link string) error { return os.Chmod(filepath.Dir(link), 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			target, link := filepath.Join(t.TempDir(), "real.db"), filepath.Join(t.TempDir(), "j.db")
			if err := errors.Join(os.WriteFile(target, nil, 0o644), os.Symlink(target, link), theirs(link)); err != nil {
				t.Fatal(err)
			}
			if j, err := Open(link); err == nil {
				j.Close()
				t.Error("it was opened")
			} else if !strings.Contains(err.Error(), "others can write to") {
				t.Error(err)
			}
			if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o644 {
				t.Errorf("the file was changed: mode %v (%v)", info.Mode(), err)
			}
		})
	}
}

func TestARenewalThatIsKilledAfterAnyStepLosesNothing(t *testing.T) {
	for done := range len(renewal{}.steps()) + 1 {
		t.Run(fmt.Sprintf("after %d steps", done), func(t *testing.T) {
			path, entries := openToAll(t)
			attack(t, path)
			r := renewal{path: path, beside: path + besideEnd}
			for _, step := range r.steps()[:done] {
				if err := step(); err != nil {
					t.Fatal(err)
				}
			}
			writes(t, path, entries)
			if names, err := entryNames(filepath.Dir(path)); err != nil || len(names) != 4 {
				t.Errorf("the folder has %q (%v), want the journal's four files", names, err)
			}
		})
	}
}

// An older release, which does not know renewals, may be started after an interrupted renewal.
func TestAJournalInTheMiddleOfARenewalIsWholeForOlderReleases(t *testing.T) {
	for done := range len(renewal{}.steps()) + 1 {
		path, entries := openToAll(t)
		r := renewal{path: path, beside: path + besideEnd}
		for _, step := range r.steps()[:done] {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		j, err := OpenReadOnly(path)
		if err != nil {
			t.Fatalf("after %d steps: %v", done, err)
		}
		if n := len(all(t, j, 0)); n < entries {
			t.Errorf("after %d steps: %d entries are left of %d", done, n, entries)
		}
		j.Close()
	}
}

func TestAnExposedFileThatIsNoJournalIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	text := strings.Repeat("text ", 400)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if j, err := Open(path); err == nil {
		j.Close()
		t.Fatal("it was opened")
	} else if !errors.Is(err, ErrDamaged) {
		t.Errorf("%v, want %v", err, ErrDamaged)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != text {
		t.Errorf("the file was changed (%v)", err)
	}
}

func TestAFolderWithOtherFilesStaysAsItIs(t *testing.T) {
	for _, c := range []struct {
		name string
		more []string
		want fs.FileMode
	}{
		{"the journal alone", nil, 0o700},
		{"two journals", []string{"other.db", "other.db-wal", "other.db.lock"}, 0o700},
		{"a stranger's file", []string{"notes.txt"}, 0o755},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			for _, name := range c.more {
				if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			j, err := Open(filepath.Join(folder, "j.db"))
			if err != nil {
				t.Fatal(err)
			}
			j.Close()
			if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != c.want {
				t.Errorf("mode %v (%v), want %04o", info.Mode(), err, c.want)
			}
		})
	}
}

// A program that reads for a long time keeps the write-ahead log from being emptied. WatchWAL
// reports that, and cuts the log when the program has ended.
func TestALogThatCannotBeEmptiedIsTold(t *testing.T) {
	j, err := Open(filepath.Join(t.TempDir(), "j.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.PutView([]byte("x")); err != nil {
		t.Fatal(err)
	}
	reading, err := j.read.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Rollback()
	var n int
	if err := reading.QueryRow("SELECT count(*) FROM view").Scan(&n); err != nil {
		t.Fatal(err)
	}
	for i := range walLimit>>20 + 1 {
		if err := j.PutQueue(bytes.Repeat([]byte{byte(i)}, 1<<20)); err != nil { // the queue differs each time, because an unchanged queue is not written
			t.Fatal(err)
		}
	}
	told := make(chan error)
	ctx, stop := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		j.WatchWAL(ctx, 10*time.Millisecond, func(err error) { told <- err })
	}()
	hears := func() error {
		t.Helper()
		select {
		case err := <-told:
			return err
		case <-time.After(20 * time.Second):
			t.Fatal("nothing is told")
			return nil
		}
	}
	if err := hears(); err == nil || !strings.Contains(err.Error(), "fuser -v") {
		t.Errorf("told %v, want that the log cannot be emptied and what to do", err)
	}
	if err := j.PutView([]byte("y")); err != nil {
		t.Errorf("writing meanwhile: %v", err)
	}
	reading.Rollback()
	if err := hears(); err != nil {
		t.Errorf("told %v after the reader's end, want nil", err)
	}
	if size := j.WALBytes(); size > walLimit {
		t.Errorf("the log has %d bytes", size)
	}
	stop()
	<-watched
}
