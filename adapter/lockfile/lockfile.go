// Package lockfile makes sure that only one process on a host does something: the process that
// holds the lock of a file. The kernel releases the lock when the process ends, even after kill -9.
// If another process holds the lock, Acquire returns an error and does not wait for it.
//
//	lock, err := lockfile.Acquire("/run/accordion-sidecars/mine.lock", "its journal is /var/lib/accordion/journal.db")
//	if held := (*lockfile.HeldError)(nil); errors.As(err, &held) {
//		return fmt.Errorf("process %d holds it: %s", held.PID, held.Note)
//	}
//	defer lock.Release()
package lockfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A Lock is held until Release, or until the process ends. It is an open-file-description lock
// (F_OFD_SETLK). The file stays when the lock is released.
type Lock struct{ file *os.File }

// A HeldError reports that another process, or another part of this one, holds the lock.
type HeldError struct {
	Path string
	PID  int    // 0 if not known
	Note string // the note that the holder passed to Acquire; may be empty
}

func (t *HeldError) Error() string {
	text := "another process holds " + t.Path
	if t.PID != 0 {
		text = fmt.Sprintf("process %d holds %s", t.PID, t.Path)
	}
	if t.Note != "" {
		text += " (" + t.Note + ")"
	}
	return text
}

// `remains` is for how long Acquire waits for what is left of a killed process: its other threads,
// and child processes that share its files until their exec. On a busy machine these held a lock
// for more than 0.1 s.
const remains = 10 * time.Second

// Acquire takes the lock of the file, and creates the file if it is absent. `note` is one line of
// text, which is part of the error that the next caller gets. If the lock is held, the error is a
// *HeldError. It is returned immediately if the holder is alive, and otherwise after 10 seconds.
// After Acquire only the file's owner may open the file, because a user who may read it can lock
// it, and would keep the next sidecar out.
func Acquire(path, note string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil {
		f.Close()
		return nil, err
	} else if info.Mode().Perm()&0o077 != 0 { // an older Accordion made the file
		if err := f.Chmod(0o600); err != nil {
			f.Close()
			return nil, fmt.Errorf("chmod %s, which other users may open and so lock: %w", path, err)
		}
	}
	// The loop polls, because a blocking lock has no deadline, and a pidfd reports the end of a
	// process before its children release the lock.
	for asked := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		taken, err := lock(f)
		if err != nil {
			f.Close()
			return nil, err
		}
		if taken == nil {
			break
		}
		if lives(taken.PID) || time.Since(asked) > remains {
			f.Close()
			return nil, taken
		}
	}
	// The text in the file is only for people, and has no effect on the lock.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"+strings.ReplaceAll(note, "\n", " ")+"\n"), 0)
	}
	return &Lock{f}, nil
}

// lock takes the lock of the file, or returns its holder.
func lock(f *os.File) (*HeldError, error) {
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &whole)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return read(f), nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return nil, nil
}

// lives reports whether a process runs. It returns false for a process that is exiting, for a
// zombie, and if there is no such process. The command line disappears with the process's memory,
// before its files are closed.
func lives(pid int) bool {
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(command) > 0
}

// Release releases the lock. It does nothing for the zero Lock.
func (l *Lock) Release() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Holder returns the present holder of the file's lock, and nil if the lock is free. Only the
// file's owner may call Holder.
func Holder(path string) (*HeldError, error) {
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer f.Close()
	ask := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &ask); err != nil {
		return nil, fmt.Errorf("ask who holds %s: %w", path, err)
	}
	if ask.Type == unix.F_UNLCK {
		return nil, nil
	}
	return read(f), nil
}

// read returns what the holder wrote into the file.
func read(f *os.File) *HeldError {
	text := make([]byte, 512)
	n, _ := f.ReadAt(text, 0)
	number, note, _ := strings.Cut(string(text[:n]), "\n")
	pid, err := strconv.Atoi(number)
	if err != nil {
		pid = 0
	}
	return &HeldError{Path: f.Name(), PID: pid, Note: strings.TrimSpace(note)}
}

// Folder has the lock files of all sidecars of a machine, whatever their configurations are. Only
// root can create it, so no other user can lock a sidecar out.
const Folder = "/run/accordion-sidecars"

// Beside takes the lock for the sidecar of a cluster. The cluster's own name identifies the lock.
// Two sidecars with different journals would undo each other's reservations. `folder` is Folder,
// except in tests.
func Beside(folder, cluster, note string) (*Lock, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	return Acquire(filepath.Join(folder, plain(cluster)+".lock"), note)
}

// plain returns a name that is safe as the name of one file: characters such as a slash are written
// in hexadecimal.
func plain(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		case c == '.' && b.Len() > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}
