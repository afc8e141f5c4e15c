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

// ComingNodes ends the name of the file, beside the one that OAR makes for a job, in which the sidecar says which nodes the
// job begins on.
const ComingNodes = ".accordion"

// Prologue runs on a node before a job's command begins. nodefile is the file that OAR made for the
// job there. OAR knows only the base of an evolving job, which may be smaller than its first step.
// The sidecar has left the nodes of that step next to the file, and they replace its contents. A
// job for which nothing was left is not touched. Nor is one where another user may have left it:
// OAR's folder is in /tmp by default, where any user can create it first.
func Prologue(nodefile string) error {
	folder, name := filepath.Split(nodefile)
	if err := rename(filepath.Clean(folder), name+ComingNodes, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("giving the job the nodes of its first step: %w", err)
	}
	return nil
}

// rename renames a file of ours in a folder that no other user can write to, and follows no link.
func rename(folder, from, to string) error {
	if info, err := os.Lstat(folder); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is no folder: remove it", folder)
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
	if !ours(info) || info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("others may write to %s: remove it, or set OAR_RUNTIME_DIRECTORY to a folder in which users cannot write", folder)
	}
	if info, err = root.Lstat(from); err != nil {
		return err
	}
	if !info.Mode().IsRegular() || !ours(info) {
		return fmt.Errorf("%s in %s is no file of this account: remove it", from, folder)
	}
	return root.Rename(from, to)
}

// ours reports whether a file belongs to this process's user, to root, or to OAR's account, where a site runs the prologue as root.
func ours(info fs.FileInfo) bool {
	owner := info.Sys().(*syscall.Stat_t).Uid
	if owner == 0 || int(owner) == os.Geteuid() {
		return true
	}
	account, err := user.Lookup(server.OarsAccount)
	return err == nil && account.Uid == strconv.FormatUint(uint64(owner), 10)
}
