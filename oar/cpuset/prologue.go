package cpuset

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"accordion/oar/server"
)

// NextNodes is the suffix of a file in which the sidecar writes the nodes on which a job starts. The file is in the
// folder of the node file that OAR makes for the job.
const NextNodes = ".accordion"

// Prologue runs on a node before a job's command starts. `nodefile` is the node file that OAR made for the job on that
// node. OAR knows only the base of an evolving job, which may be smaller than the job's first step. The sidecar has
// written the nodes of the first step into a second file (NextNodes), and Prologue replaces the contents of the node
// file with them. If there is no second file, Prologue does nothing. It returns an error if another user may have
// written the file. This is possible because OAR's folder is in /tmp by default, where any user can create it first.
func Prologue(nodefile string) error {
	folder, name := filepath.Split(nodefile)
	if err := rename(filepath.Clean(folder), name+NextNodes, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("giving the job the nodes of its first step: %w", err)
	}
	return nil
}

// rename renames a file that belongs to OAR or root, in a folder to which no other user can write. It follows no symbolic link.
func rename(folder, from, to string) error {
	if info, err := os.Lstat(folder); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder: remove it", folder)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(".")
	if err != nil {
		return err
	}
	if !isTrusted(info) || info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("others may write to %s: remove it, or set OAR_RUNTIME_DIRECTORY to a folder in which users cannot write", folder)
	}
	if info, err = root.Lstat(from); err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !isTrusted(info) {
		return fmt.Errorf("%s in %s is not a file of this account: remove it", from, folder)
	}
	return root.Rename(from, to)
}

// isTrusted reports whether a file belongs to this process's user, to root, or to OAR's account. OAR's account counts
// because some sites run the prologue as root.
func isTrusted(info fs.FileInfo) bool {
	owner := info.Sys().(*syscall.Stat_t).Uid
	if owner == 0 || int(owner) == os.Geteuid() {
		return true
	}
	account, err := user.Lookup(server.OARAccount)
	return err == nil && account.Uid == strconv.FormatUint(uint64(owner), 10)
}
