// Package files writes files whole or not at all.
//
//	err := files.Save(files.File{Path: "out/jobs.csv", Folder: true, Write: writeJobs})
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is a file to be written.
type File struct {
	Path   string
	Folder bool // its folder is made where it does not exist
	Write  func(io.Writer) error
}

// Save writes files, all of them or none. Each is written beside its place first, under a
// name that begins with a point. When all are written they take their places. When one fails, what was there before is there
// again, and the folders that were made are gone.
func Save(files ...File) error {
	var s saving
	done := false
	defer func() { // after a panic, too
		if !done {
			s.undo()
		}
	}()
	for _, f := range files {
		if !f.Folder {
			continue
		}
		if err := s.folder(filepath.Dir(f.Path)); err != nil {
			return fmt.Errorf("making a folder for the results: %w", err)
		}
	}
	for _, f := range files {
		if err := s.write(f); err != nil {
			return fmt.Errorf("writing %s: %w", f.Path, err)
		}
	}
	for i := range s.written {
		if err := s.written[i].place(i+1 < len(s.written)); err != nil {
			return fmt.Errorf("writing %s: %w", s.written[i].path, err)
		}
	}
	done = true
	for _, a := range s.written {
		if a.before != "" {
			_ = os.Remove(a.before) // the new one is there: a leftover is no reason to fail
		}
	}
	return nil
}

// A saving is the folders and files that were written so far, so that a failure can undo them.
type saving struct {
	made    []string // folders, the outer ones first
	written []aside
}

// aside is a file beside its place.
type aside struct {
	path, name string
	before     string // what stood in the place, under another name; "" when nothing did
	placed     bool
}

// folder makes a folder with those above it, and notes which of them are new.
func (s *saving) folder(path string) error {
	err := os.Mkdir(path, 0o755)
	if errors.Is(err, fs.ErrNotExist) {
		if err := s.folder(filepath.Dir(path)); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o755)
	}
	if err == nil {
		s.made = append(s.made, path)
		return nil
	}
	return os.MkdirAll(path, 0o755) // nothing to do when it is a folder; else this says why not
}

func (s *saving) write(f File) error {
	out, err := os.CreateTemp(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".*")
	if err != nil {
		return err
	}
	s.written = append(s.written, aside{path: f.Path, name: out.Name()})
	defer out.Close() // after a panic
	if err := f.Write(out); err != nil {
		return err
	}
	if err := out.Chmod(0o644); err != nil { // CreateTemp's files are for their owner alone
		return err
	}
	return out.Close()
}

// place lets a file take its place. What is there is kept until all have taken theirs; the last one just takes it.
func (a *aside) place(keep bool) error {
	switch there, err := os.Stat(a.path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case there.IsDir():
		return errors.New("a folder is there")
	case !there.Mode().IsRegular():
		return errors.New("a device or a pipe is there") // it would be gone
	case keep:
		before := a.name + ".before"
		if err := os.Rename(a.path, before); err != nil {
			return err
		}
		a.before = before
	}
	if err := os.Rename(a.name, a.path); err != nil {
		return err
	}
	a.placed = true
	return nil
}

// undo puts all back as it was, as far as it can be.
func (s *saving) undo() {
	for _, a := range s.written {
		if a.placed {
			_ = os.Remove(a.path)
		} else {
			_ = os.Remove(a.name)
		}
		if a.before != "" {
			_ = os.Rename(a.before, a.path)
		}
	}
	for i := len(s.made) - 1; i >= 0; i-- {
		_ = os.Remove(s.made[i]) // somebody else's files keep it
	}
}
