// Package folder creates folders through which other users reach a socket.
package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mode lets every user enter a folder, and only its owner write to it.
const mode = 0o755

// MakeOpen creates a folder and its parents if they are absent. Every user can enter the folders
// that it created, even with the umask 0077 of accordion.service.
func MakeOpen(path string) error {
	err := os.Mkdir(path, mode)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		if err := MakeOpen(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, mode)
	}
	switch {
	case err == nil:
		return os.Chmod(path, mode)
	case !errors.Is(err, fs.ErrExist):
		return err
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: path, Err: unix.ENOTDIR}
	}
	return err
}
