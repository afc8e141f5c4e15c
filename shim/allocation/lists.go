package allocation

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// WriteList writes lines to a file, and returns its path. The file is in the user's own directory below `temporary`,
// the folder for temporary files (TMPDIR, or /tmp if TMPDIR is not an absolute path). The file's name is made from the
// pattern as os.CreateTemp makes names, because jobs of several clusters on one machine may have the same number.
// `last` is the path from the previous call. If that file is in the same directory, the new file replaces it by a
// rename, so that a program that reads the file sees either the old lines or the new ones.
func WriteList(temporary, pattern, last string, all []string) (path string, err error) {
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

// Directory returns a directory to which only the user can write, and creates it if necessary. It is in a folder for temporary files to
// which every user can write (TMPDIR, or /tmp if TMPDIR is not an absolute path). Its name is accordion-UID. If another user has made a
// file, directory or link with that name, the name is accordion-UID.SUFFIX, with a random suffix.
func Directory(temporary string) (string, error) {
	usual := usualIn(temporary)
	if err := os.Mkdir(usual, 0o700); err != nil && !os.IsExist(err) {
		return "", err
	}
	if dir, found := FindDirectory(temporary); found {
		return dir, nil
	}
	dir, err := os.MkdirTemp(filepath.Dir(usual), filepath.Base(usual)+".")
	if err != nil {
		return "", fmt.Errorf("%s is not a directory of your own, and no other can be made: %w; set TMPDIR to a directory of your own", usual, err)
	}
	return dir, nil
}

// FindDirectory returns the directory that Directory returned before, or that the sidecar made for a job's hosts file (adapter/hostfile).
// If there is none, it returns accordion-UID without creating it.
func FindDirectory(temporary string) (dir string, found bool) {
	usual := usualIn(temporary)
	if private(usual) {
		return usual, true
	}
	others, _ := filepath.Glob(usual + ".*") // its only error is a wrong pattern
	for _, dir := range others {
		if private(dir) {
			return dir, true
		}
	}
	return usual, false
}

func usualIn(temporary string) string {
	if !filepath.IsAbs(temporary) {
		temporary = "/tmp"
	}
	return filepath.Join(temporary, "accordion-"+strconv.Itoa(os.Getuid()))
}

// private reports whether a directory belongs to the user and no other user can write to it. A symbolic link is never private.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && info.Mode().Perm()&0o022 == 0 && int(info.Sys().(*syscall.Stat_t).Uid) == os.Getuid()
}
