// Package lockfile makes sure that one process on a host does something. The process that holds the lock of a file is the only
// one. The kernel releases the lock when the process ends, also after kill -9. A lock that another process holds is an error:
// nobody waits for it.
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

// Lock is held until Release, or until the process ends. It is an open-file-description lock on a file that stays.
type Lock struct{ file *os.File }

// HeldError says that another process, or another part of this one, holds the lock.
type HeldError struct {
	Path string
	PID  int    // 0: not known
	Note string // what it wrote about itself; may be empty
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

// remains is for how long Acquire waits for what is left of a process that was killed: its other threads, and programs that it was
// about to start, which share its files until they begin. On a busy machine that was more than a tenth of a second.
const remains = 10 * time.Second

// Acquire takes the lock of the file, which is made where it is not there. The note, one line, is for whoever comes second.
// The error is a *Taken when somebody has the lock: at once where that process lives, else after 10 seconds. Only the file's owner may
// open it from then on: whoever can read a file can lock it against its writers, and so keep the next sidecar away.
func Acquire(path, note string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil {
		f.Close()
		return nil, err
	} else if info.Mode().Perm()&0o077 != 0 { // an older Accordion made it
		if err := f.Chmod(0o600); err != nil {
			f.Close()
			return nil, fmt.Errorf("others may open it, and so lock it: %w", err)
		}
	}
	// No event tells: the lock that waits has no deadline, and the end of a process (pidfd) comes before its programs let go.
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
	// What stands in it is for people only; the lock is what counts.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"+strings.ReplaceAll(note, "\n", " ")+"\n"), 0)
	}
	return &Lock{f}, nil
}

// lock takes the lock of the file, or says who has it.
func lock(f *os.File) (*HeldError, error) {
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &whole)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return read(f), nil
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", f.Name(), err)
	}
	return nil, nil
}

// lives is false for a process that ends or has ended, also while nobody has asked for its end yet, and for one that is not known: its
// command line goes with its memory, before its files.
func lives(pid int) bool {
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && len(command) > 0
}

// Release lets the next one have the lock. It is nothing for the zero Lock.
func (l *Lock) Release() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// Holder returns who holds the lock of the file now; nil when it is free. Only the file's owner may ask.
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
		return nil, fmt.Errorf("asking who holds %s: %w", path, err)
	}
	if ask.Type == unix.F_UNLCK {
		return nil, nil
	}
	return read(f), nil
}

// read is what the holder wrote.
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

// Folder is where the sidecars of a machine leave the files by which they know of each other, whatever their
// configurations say. Only root can make it, and so lock anybody out.
const Folder = "/run/accordion-sidecars"

// Beside takes the lock of the one sidecar of a cluster, by the cluster's own name for itself: two sidecars with journals of
// their own would undo each other's reservations. folder is Folder; tests have another.
func Beside(folder, cluster, note string) (*Lock, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	return Acquire(filepath.Join(folder, plain(cluster)+".lock"), note)
}

// plain is a name as one file's: what might lead elsewhere is written in hexadecimal.
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
