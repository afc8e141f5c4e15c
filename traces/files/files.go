// Package files writes files completely or not at all.
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

// File is a file to write.
type File struct {
	Path   string
	Folder bool // create its folder if it does not exist
	Write  func(io.Writer) error
}

// Save writes either all files or none. It first writes each file under a temporary name, which begins with a dot, in the same folder. Then
// it renames all files. After an error it restores the previous files, and removes the folders that it created.
func Save(files ...File) error {
	var s saving
	done := false
	defer func() { // also after a panic
		if !done {
			s.undo()
		}
	}()
	for _, f := range files {
		if !f.Folder {
			continue
		}
		if err := s.folder(filepath.Dir(f.Path)); err != nil {
			return fmt.Errorf("create a folder for the results: %w", err)
		}
	}
	for _, f := range files {
		if err := s.write(f); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	for i := range s.written {
		if err := s.written[i].place(i+1 < len(s.written)); err != nil {
			return fmt.Errorf("write %s: %w", s.written[i].path, err)
		}
	}
	done = true
	for _, a := range s.written {
		if a.before != "" {
			_ = os.Remove(a.before) // the new file is in place, so a leftover is no error
		}
	}
	return nil
}

// A saving has the folders and files that were created so far, so that they can be removed after an error.
type saving struct {
	made    []string // folders, outer ones first
	written []stagedFile
}

// stagedFile is a file that is written under a temporary name.
type stagedFile struct {
	path, name string
	before     string // name of the previous file while it is set aside; "" if there was none
	placed     bool
}

// folder creates a folder with its parents, and records which ones are new.
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
	return os.MkdirAll(path, 0o755) // does nothing if path is a folder, and otherwise returns an error
}

func (s *saving) write(f File) error {
	out, err := os.CreateTemp(filepath.Dir(f.Path), "."+filepath.Base(f.Path)+".*")
	if err != nil {
		return err
	}
	s.written = append(s.written, stagedFile{path: f.Path, name: out.Name()})
	defer out.Close() // after a panic
	if err := f.Write(out); err != nil {
		return err
	}
	if err := out.Chmod(0o644); err != nil { // CreateTemp makes files that only their owner may read
		return err
	}
	return out.Close()
}

// place renames the file to its path. With keep it keeps the previous file under another name, until all files are in place.
func (a *stagedFile) place(keep bool) error {
	switch there, err := os.Stat(a.path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case there.IsDir():
		return errors.New("it is a folder")
	case !there.Mode().IsRegular():
		return errors.New("it is a device or a pipe") // renaming would replace it
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

// undo restores the previous state as far as possible.
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
		_ = os.Remove(s.made[i]) // fails if other programs put files into the folder, which then stays
	}
}
