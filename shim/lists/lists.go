// Package lists writes lists that a job's programs read, as files in a directory of the user's own: the hosts file of `accordion step`,
// the parts of `accordion part` and `accordion launch`. Each is there whole, or not at all.
package lists

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Write writes a line each to a file of the user's in a directory of his own below a folder for temporary files (TMPDIR; /tmp where that
// is no absolute path), and returns its path. The pattern of its name is that of os.CreateTemp: the jobs of several clusters on one machine
// may have the same number. Where last, the file of the call before, is in the same directory, that is replaced in one piece: a program that
// reads it sees the old lines or the new ones.
func Write(temporary, pattern, last string, all []string) (path string, err error) {
	dir, err := Directory(temporary)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return "", err
	}
	path = f.Name()
	_, err = f.WriteString(strings.Join(all, "\n") + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil && filepath.Dir(last) == dir {
		err = os.Rename(path, last)
		if err == nil {
			return last, nil
		}
	}
	if err != nil {
		os.Remove(path)
		return "", err
	}
	return path, nil
}

// Directory is one of the user's own in a folder for temporary files (TMPDIR; /tmp where that is no absolute path), because others may
// write to that.
func Directory(temporary string) (string, error) {
	if !filepath.IsAbs(temporary) {
		temporary = "/tmp"
	}
	dir := filepath.Join(temporary, "accordion-"+strconv.Itoa(os.Getuid()))
	return dir, private(dir)
}

// private makes a directory that nobody else can write to, or checks the one that is there.
func private(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	info, err := os.Lstat(dir) // not Stat: somebody's link into a directory of ours is not ours
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t).Uid
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory: remove it, or set TMPDIR", dir)
	case int(owner) != os.Getuid():
		return fmt.Errorf("%s belongs to user %d: set TMPDIR to a directory of your own", dir, owner)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("others may write to %s: forbid it (chmod 700 %s)", dir, dir)
	}
	return nil
}
