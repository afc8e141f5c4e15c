package shim

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// writeList writes a node a line to a file of the job, and returns its path; kind ends its name. The job keeps the file that
// it has from the last call, when the variable names it, and that is replaced in one piece: a program that reads it sees the
// nodes before a resize or those after it.
func writeList(j job, kind, variable string, nodes []string) (path string, err error) {
	dir, err := ownDirectory(j)
	if err != nil {
		return "", err
	}
	// A name of its own: the jobs of several clusters on one machine may have the same number.
	f, err := os.CreateTemp(dir, fmt.Sprintf("%d-*.%s", j.id, kind))
	if err != nil {
		return "", err
	}
	path = f.Name()
	_, err = f.WriteString(strings.Join(nodes, "\n") + "\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	if last := j.own(variable); err == nil && filepath.Dir(last) == dir {
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

// ownDirectory is a directory of the user's own below TMPDIR (or /tmp), because others may write to those.
func ownDirectory(j job) (string, error) {
	base := j.env.get("TMPDIR")
	if !filepath.IsAbs(base) {
		base = "/tmp"
	}
	dir := filepath.Join(base, "accordion-"+strconv.Itoa(os.Getuid()))
	return dir, privateDirectory(dir)
}

// privateDirectory makes a directory that nobody else can write to, or checks the one that is there.
func privateDirectory(dir string) error {
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
