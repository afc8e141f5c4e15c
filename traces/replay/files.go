package replay

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// File is a file to be written.
type File struct {
	Path  string
	Write func(io.Writer) error
}

// Save writes files, whole or not at all: each beside its place first, under a name that begins with a point, and when all
// are written they take their places. What was there before is replaced. The folders must exist.
func Save(files ...File) (err error) {
	var written []string
	defer func() {
		for _, name := range written {
			if err != nil {
				_ = os.Remove(name) // those that took their places are there no more under this name
			}
		}
	}()
	for _, f := range files {
		out, err := os.CreateTemp(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".*")
		if err != nil {
			return fmt.Errorf("writing %s: %w", f.Path, err)
		}
		written = append(written, out.Name())
		err = f.Write(out)
		if err == nil {
			err = out.Chmod(0o644) // CreateTemp's files are for their owner alone
		}
		if err := errors.Join(err, out.Close()); err != nil {
			return fmt.Errorf("writing %s: %w", f.Path, err)
		}
	}
	for i, f := range files {
		if err := os.Rename(written[i], f.Path); err != nil {
			return fmt.Errorf("writing %s: %w", f.Path, err)
		}
	}
	return nil
}
