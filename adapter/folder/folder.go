// Package folder creates folders that other users go through to reach a socket.
package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mode lets everyone go through a folder, and only its owner write to it.
const mode = 0o755

// MakeOpen creates a folder where it is absent, and those above it. Everyone can go through the
// ones that it created, whatever the umask: accordion.service has 0077.
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
