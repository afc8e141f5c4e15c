package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"
)

// Error says what was being done to which journal, why it failed, and what an administrator can do about it.
type Error struct {
	Op   string // opening, writing, reading, closing
	Path string
	Err  error
	Hint string // what to do; may be empty
}

func (e *Error) Error() string {
	text := fmt.Sprintf("%s the journal %s: %v", e.Op, e.Path, e.Err)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Causes that callers tell apart.
var (
	// ErrInUse: another process has the journal open for writing.
	ErrInUse = errors.New("another sidecar is using it")
	// ErrNetwork: the journal lies on a network file system, where SQLite's write-ahead log is not safe.
	ErrNetwork = errors.New("it lies on a network file system, where a journal is not safe")
	// ErrDamaged: the file is not a journal any more.
	ErrDamaged = errors.New("the file is damaged")
	// ErrFull: the file cannot grow.
	ErrFull = errors.New("the file system is full")
	// ErrFinished: the intent has an outcome already, or there is none of that id.
	ErrFinished = errors.New("no such unfinished intent")
)

// explain turns SQLite's word into one that an administrator can act on.
func explain(op, path string, err error) error {
	if err == nil {
		return nil
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	e := &Error{Op: op, Path: path, Err: err}
	aside := fmt.Sprintf("move %s, %s-wal and %s-shm away and start again: the sidecar reads the cluster's state from the "+
		"batch system, and only the history is lost", path, filepath.Base(path), filepath.Base(path))
	var cause sqlite3.Error
	switch {
	case errors.Is(err, errNewer):
		e.Hint = "install that version again, or " + aside
		return e
	case errors.Is(err, errForeign):
		e.Hint = "name another file in the configuration: [journal] path"
		return e
	case !errors.As(err, &cause):
		return e
	}
	switch cause.Code {
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		e.Err, e.Hint = fmt.Errorf("%w (%v)", ErrDamaged, err), aside
	case sqlite3.ErrFull:
		e.Err = fmt.Errorf("%w (%v)", ErrFull, err)
		e.Hint = "make room on the file system of " + filepath.Dir(path) + "; nothing is done to the cluster meanwhile"
	case sqlite3.ErrIoErr:
		e.Hint = "look at df " + filepath.Dir(path) + ", at file size limits and at dmesg for a failing disk"
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		e.Hint = "another program holds it locked: find it with fuser " + path
	case sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrCantOpen:
		e.Hint = "look at the permissions of " + path + " and of its folder"
	}
	return e
}

func missing(path string, err error) error {
	e := &Error{Op: "opening", Path: path, Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Err = errors.New("there is no such file")
		e.Hint = "has the sidecar ever run with this configuration? start it with: accordion serve --config FILE"
	case errors.Is(err, fs.ErrPermission):
		e.Err = errors.New("permission denied")
		e.Hint = "only its owner and group may read it: try as root"
	}
	return e
}

// prepare makes the folder and the file, and refuses network file systems.
func prepare(path string) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return &Error{Op: "opening", Path: path, Err: err, Hint: "make the folder, or name another one in [journal] path"}
	}
	var st unix.Statfs_t
	if err := unix.Statfs(folder, &st); err != nil {
		return &Error{Op: "opening", Path: path, Err: fmt.Errorf("asking for the file system of %s: %w", folder, err)}
	}
	if name := network(int64(st.Type)); name != "" {
		return &Error{Op: "opening", Path: path, Err: fmt.Errorf("%w (%s)", ErrNetwork, name),
			Hint: "name a file on a local disk in [journal] path"}
	}
	// SQLite gives its other files the mode of the first. Readable for all, as squeue is: users look at their jobs
	// with accordion status. A site that hides them restricts the folder.
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return &Error{Op: "opening", Path: path, Err: err, Hint: "the sidecar's user must be able to write it"}
	}
	return f.Close()
}

// network names the network file systems by the number that statfs(2) gives them; "" for every other.
func network(kind int64) string {
	switch uint32(kind) { // 32 bits: some of them are negative as int32
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC:
		return "SMB"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CODA_SUPER_MAGIC:
		return "Coda"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.V9FS_MAGIC:
		return "9P"
	case 0x0bd00bd0:
		return "Lustre"
	case 0x47504653:
		return "GPFS"
	case 0x19830326:
		return "BeeGFS"
	}
	return ""
}

// lock is the right to write a journal. It is an open-file-description lock: it goes with the process, however that
// ends, and may be asked about without taking it.
type lock struct{ file *os.File }

func lockPath(journal string) string { return journal + ".lock" }

func acquire(journal string) (*lock, error) {
	f, err := os.OpenFile(lockPath(journal), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, &Error{Op: "opening", Path: journal, Err: err, Hint: "the sidecar's user must be able to write its folder"}
	}
	whole := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &whole); err != nil {
		pid := holder(f)
		f.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			who := ErrInUse
			if pid != 0 {
				who = fmt.Errorf("%w: process %d", ErrInUse, pid)
			}
			return nil, &Error{Op: "opening", Path: journal, Err: who,
				Hint: "stop that one first, or give this one another journal in [journal] path"}
		}
		return nil, &Error{Op: "opening", Path: journal, Err: fmt.Errorf("locking %s: %w", f.Name(), err)}
	}
	// The process number is for people only; the lock is what counts.
	if err := f.Truncate(0); err == nil {
		f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &lock{file: f}, nil
}

func (l *lock) release() error { return l.file.Close() }

func holder(f *os.File) int {
	text := make([]byte, 32)
	n, _ := f.ReadAt(text, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil {
		return 0
	}
	return pid
}

// Writer says whether a sidecar has the journal open for writing now, and which process that is (0: not known).
func (j *Journal) Writer() (pid int, running bool, err error) {
	if j.lock != nil {
		return os.Getpid(), true, nil
	}
	f, err := os.Open(lockPath(j.path))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, missing(lockPath(j.path), err)
	}
	defer f.Close()
	ask := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &ask); err != nil {
		return 0, false, &Error{Op: "reading", Path: j.path, Err: fmt.Errorf("asking who holds %s: %w", f.Name(), err)}
	}
	if ask.Type == unix.F_UNLCK {
		return 0, false, nil
	}
	return holder(f), true, nil
}
