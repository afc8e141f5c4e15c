package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ComingNodes ends the name of the file, beside the one that OAR makes for a job, in which the sidecar says which nodes the
// job begins on.
const ComingNodes = ".accordion"

// Prologue is what a node does for a job before its command begins; nodefile is the file that OAR has made for the job there.
// OAR knows of an evolving job's base only, which may be smaller than its first step: the sidecar has left the nodes of that
// step beside the file, and they take its place. A job for which nothing was left is not touched.
func Prologue(nodefile string) error {
	err := os.Rename(nodefile+ComingNodes, nodefile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("giving the job the nodes of its first step: %w", err)
	}
	return nil
}
