package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A process that can open one of a database's files can lock it. A shared lock on one byte of the
// -shm file keeps every writer out for as long as it is held. So only the owner may open the files.
// A lock that another user took earlier survives a chmod. So the journal replaces files that others
// could open by copies.

// private has the permission bits of the group and of other users.
const private fs.FileMode = 0o077

// makeFolder creates the folder if it is absent. Only its owner may enter the last folder of the
// path.
func makeFolder(folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err == nil || !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: folder, Err: unix.ENOTDIR}
	}
	return err
}

// mostLinks is how many links resolve follows. The kernel has the same bound.
const mostLinks = 40

// resolve returns the path of the file itself if its name is a symbolic link, because SQLite keeps
// its other files next to that file. It follows only links that no user other than root and the
// caller can have made.
func resolve(path string) (string, error) {
	for range mostLinks {
		folder, err := filepath.EvalSymlinks(filepath.Dir(path))
		if errors.Is(err, fs.ErrNotExist) { // the file is created later
			return path, nil
		} else if err != nil {
			return "", err
		}
		path = filepath.Join(folder, filepath.Base(path))
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().Type() != fs.ModeSymlink {
			return path, nil
		} else if err != nil {
			return "", err
		}
		if err := trustedLink(path, folder); err != nil {
			return "", err
		}
		target, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if path = target; !filepath.IsAbs(target) {
			path = filepath.Join(folder, target)
		}
	}
	return "", &fs.PathError{Op: "open", Path: path, Err: unix.ELOOP}
}

// trustedLink returns an error if another user could have made the link. That user could otherwise
// choose the file that is replaced.
func trustedLink(link, folder string) error {
	for _, path := range []string{link, folder} {
		info, err := os.Lstat(path)
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t).Uid
		open := info.IsDir() && info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0
		if open || owner != 0 && int(owner) != os.Geteuid() {
			return fmt.Errorf("it is a symbolic link, and others can write to %s", path)
		}
	}
	return nil
}

// closeFolder removes the permission of other users to enter the folder, if the folder contains
// only journals.
func closeFolder(folder string) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	if int(owner) != os.Geteuid() || info.Mode().Perm()&private == 0 || info.Mode()&fs.ModeSticky != 0 {
		return nil
	}
	names, err := entryNames(folder)
	if err != nil || !onlyJournals(names) {
		return err
	}
	return os.Chmod(folder, info.Mode().Perm()&^private)
}

func entryNames(folder string) ([]string, error) {
	entries, err := os.ReadDir(folder)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

// onlyJournals reports whether each name belongs to a journal with a lock file next to it.
func onlyJournals(names []string) bool {
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
	}
	for _, name := range names {
		base := name
		for _, end := range []string{"-wal", "-shm", ".lock", besideEnd} {
			base = strings.TrimSuffix(base, end)
		}
		if !there[base+".lock"] {
			return false
		}
	}
	return true
}

// files returns the paths of the database's files.
func files(path string) []string { return []string{path, path + "-wal", path + "-shm"} }

// exposed reports whether other users may open one of the database's files, or could do so before a
// renewal that was not completed.
func exposed(path string) (bool, error) {
	for _, file := range files(path) {
		info, err := os.Lstat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, err
		case info.Mode().Perm()&private != 0:
			return true, nil
		}
	}
	return false, nil
}

// renew replaces the database's files by copies if other users may open them, and closes the
// folder. The caller holds the journal's lock.
func renew(path string) error {
	r := renewal{path: path, beside: path + besideEnd}
	if err := os.RemoveAll(r.beside); err != nil { // removes what an incomplete attempt left
		return err
	}
	open, err := exposed(path)
	if err != nil {
		return err
	}
	if open {
		for _, step := range r.steps() {
			if err := step(); err != nil {
				return errors.Join(fmt.Errorf("replace files that others can lock: %w", err), os.RemoveAll(r.beside))
			}
		}
	}
	return closeFolder(filepath.Dir(path))
}

// besideEnd is the suffix of the folder in which a renewal creates the copy.
const besideEnd = ".new"

// A renewal makes a copy of a database, which no other user could ever open, and replaces the
// database by the copy. Nothing is lost if the process ends between two steps. Until the copy has
// the database's name, the old files are whole. After that the old log has only pages that the copy
// has too, so it does not matter whether SQLite applies the old log again. The copy is made byte by
// byte, because an old log does not fit a database that was rewritten by SQL.
type renewal struct{ path, beside string }

// steps returns the actions of the renewal, in order.
func (r renewal) steps() []func() error {
	return []func() error{r.copy, r.fold, r.replace, r.removeLog, r.clean}
}

// database returns the path of the copy.
func (r renewal) database() string { return filepath.Join(r.beside, filepath.Base(r.path)) }

// unchanging bounds how often the files are copied until no process wrote them during a copy.
const unchanging = 10

// copy copies the database and its log. The log's index (-shm) is not copied, because it has
// nothing that the log does not have. No sidecar writes the files now. But a program of root may be
// about to close them, which moves the log into the database.
func (r renewal) copy() error {
	for range unchanging {
		if err := errors.Join(os.RemoveAll(r.beside), os.Mkdir(r.beside, 0o700)); err != nil {
			return err
		}
		before := r.stamp()
		if err := copyFile(r.database(), r.path); err != nil {
			return err
		}
		if err := copyFile(r.database()+"-wal", r.path+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if r.stamp() == before {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return errors.New("another program writes it meanwhile: find it with fuser " + r.path)
}

// stamp returns values that change when the files are written or replaced.
func (r renewal) stamp() (stamp [2]fileStamp) {
	for i, file := range files(r.path)[:2] {
		var st unix.Stat_t
		if unix.Lstat(file, &st) == nil {
			stamp[i] = fileStamp{st.Ino, st.Size, st.Mtim, st.Ctim}
		}
	}
	return stamp
}

type fileStamp struct {
	inode           uint64
	size            int64
	written, change unix.Timespec
}

// copyFile copies a file that is not a link into a new one that only its owner may open.
func copyFile(to, from string) error {
	in, err := os.OpenFile(from, os.O_RDONLY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Chmod(0o600), out.Close())
}

// fold moves the copy's log into the copied database, and syncs the database to the disk. It
// refuses a database that is not an Accordion journal.
func (r renewal) fold() error {
	db := open(r.database(), writerOptions)
	db.SetMaxOpenConns(1)
	err := func() error {
		if _, err := schema(context.Background(), db); err != nil {
			return err
		}
		return foldLog(db)
	}()
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if info, err := os.Stat(r.database() + "-wal"); err == nil && info.Size() > 0 {
		return errors.New("the copy's log could not be folded into it")
	}
	return errors.Join(syncFile(r.database()), syncFile(r.beside))
}

// replace gives the copy the database's name.
func (r renewal) replace() error {
	if err := os.Rename(r.database(), r.path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(r.path))
}

// removeLog removes the old log and its index, on which other users may hold locks.
func (r renewal) removeLog() error {
	for _, file := range files(r.path)[1:] {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return syncFile(filepath.Dir(r.path))
}

func (r renewal) clean() error { return os.RemoveAll(r.beside) }

// syncFile syncs a file, or a folder's list of names, to the disk.
func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
