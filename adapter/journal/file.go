package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"accordion/adapter/lockfile"
)

// An Error reports which operation on which journal failed, why, and what an administrator can do
// about it.
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

// Causes that callers distinguish.
var (
	// ErrInUse means that another process has the journal open for writing.
	ErrInUse = errors.New("another sidecar is using it")
	// ErrNetwork means that the journal is on a network file system, on which SQLite's write-ahead
	// log is not safe.
	ErrNetwork = errors.New("it lies on a network file system, where a journal is not safe")
	// ErrDamaged means that the file is no longer a valid journal.
	ErrDamaged = errors.New("the file is damaged")
	// ErrFull means that the file cannot grow.
	ErrFull = errors.New("the file system is full")
	// ErrFinished means that the intent already has an outcome, or does not exist.
	ErrFinished = errors.New("no such unfinished intent")
)

// explain adds to SQLite's error what an administrator can do about it.
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
		e.Err, e.Hint = fmt.Errorf("%w (%w)", ErrDamaged, err), aside
	case sqlite3.ErrFull:
		e.Err = fmt.Errorf("%w (%w)", ErrFull, err)
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
		e.Err = fs.ErrPermission
		e.Hint = "only its owner may read it: try as root"
	}
	return e
}

// prepare creates the folder and the file if they are absent, for their owner only. It refuses
// network file systems. prepare never opens an existing file, because closing the file would drop
// the locks that SQLite holds on it elsewhere in this process.
func prepare(path string) error {
	folder := filepath.Dir(path)
	if err := makeFolder(folder); err != nil {
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
	if err := makeFile(path); err != nil {
		return &Error{Op: "opening", Path: path, Err: err, Hint: "the sidecar's user must be able to write it"}
	}
	return nil
}

// makeFile creates an empty file that only its owner may open, or checks that the existing one can
// be written. SQLite creates its other files with the same mode.
func makeFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return errors.Join(f.Chmod(0o600), f.Close())
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: unix.EISDIR}
	}
	return accessible(path, unix.W_OK)
}

// accessible returns an error if this process may not open the file with the access mode `how`.
func accessible(path string, how uint32) error {
	if err := unix.Faccessat(unix.AT_FDCWD, path, how, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// network returns the name of a network file system by its number in statfs(2), and "" for other
// file systems.
func network(kind int64) string {
	switch uint32(kind) { // converted to 32 bits, because some of the numbers are negative as int32
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

func lockPath(journal string) string { return journal + ".lock" }

// acquire takes the lock that gives the right to write a journal.
func acquire(journal string) (*lockfile.Lock, error) {
	lock, err := lockfile.Acquire(lockPath(journal), "")
	if err == nil {
		return lock, nil
	}
	if taken := (*lockfile.HeldError)(nil); errors.As(err, &taken) {
		who := ErrInUse
		if taken.PID != 0 {
			who = fmt.Errorf("%w: process %d", ErrInUse, taken.PID)
		}
		return nil, &Error{Op: "opening", Path: journal, Err: who,
			Hint: "stop that one first, or give this one another journal in [journal] path"}
	}
	return nil, &Error{Op: "opening", Path: journal, Err: err, Hint: "the sidecar's user must be able to write its folder"}
}

// Writer reports whether a sidecar has the journal open for writing now, and returns its process ID
// (0 if not known).
func (j *Journal) Writer() (pid int, running bool, err error) {
	if j.lock != nil {
		return os.Getpid(), true, nil
	}
	who, err := lockfile.Holder(lockPath(j.file))
	switch {
	case errors.Is(err, fs.ErrPermission):
		return 0, false, missing(lockPath(j.file), err)
	case err != nil:
		return 0, false, &Error{Op: "reading", Path: j.path, Err: err}
	case who == nil:
		return 0, false, nil
	}
	return who.PID, true, nil
}
