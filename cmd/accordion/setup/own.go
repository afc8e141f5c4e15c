package setup

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"accordion/slurm/setup"
	"accordion/traces/files"
)

// own lists the files that setup has written. The list is stored in the folder of the sidecar's configuration. Setup neither overwrites nor
// removes a file that was changed since setup wrote it.
type own struct {
	path  string
	Files []written `json:"files"`
}

// written is a file with the checksum of what was written.
type written struct {
	Path string `json:"path"`
	Sum  string `json:"sha256"`
}

// remembered reads the list in the folder of a configuration. The list is empty if setup has written nothing.
func remembered(config string) (own, error) {
	o := own{path: filepath.Join(filepath.Dir(config), "setup.json")}
	text, err := os.ReadFile(o.path)
	if errors.Is(err, fs.ErrNotExist) {
		return o, nil
	}
	if err != nil {
		return o, fmt.Errorf("read setup's list of files: %w", err)
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("read setup's list of files %s: %w; remove that file, and the files that setup wrote", o.path, err)
	}
	return o, nil
}

func sumOf(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// state is the state of a file.
type state string

const (
	absent state = "made"   // the file does not exist, and is created
	same   state = "there"  // the file has exactly the wanted text
	ours   state = "mended" // the file is as setup wrote it, but now another text is wanted: it is rewritten
	theirs state = "left"   // another program wrote the file, or it was changed since
)

// stateOf returns the state of a file that should have a text.
func (o own) stateOf(path, text string) (state, error) {
	there, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return absent, nil
	case err != nil:
		return "", err
	case string(there) == text:
		return same, nil
	case slices.Contains(o.Files, written{path, sumOf(there)}):
		return ours, nil
	}
	return theirs, nil
}

// put writes the files that do not exist, and the files that are unchanged since setup wrote them. It reports each. A
// file that already has the same text, but was not written by setup, does not become one of setup's files.
func (o *own) put(out io.Writer, all []setup.File, dry bool) error {
	for _, f := range all {
		s, err := o.stateOf(f.Path, f.Text)
		if err != nil {
			return fmt.Errorf("set up %s: %w", f.Path, err)
		}
		switch {
		case s == theirs:
			fmt.Fprintf(out, "left    %s, which is somebody else's or was changed by hand: %s (--dry-run --all shows what it would be)\n", f.Path, f.What)
			continue
		case dry && (s == absent || s == ours):
			fmt.Fprintf(out, "would be %s  %s: %s\n", s, f.Path, f.What)
			continue
		case s == absent || s == ours:
			if err := files.Save(files.File{Path: f.Path, Folder: true, Write: func(w io.Writer) error { _, err := io.WriteString(w, f.Text); return err }}); err != nil {
				return fmt.Errorf("set up %s: %w", f.Path, err)
			}
			if err := o.remember(written{f.Path, sumOf([]byte(f.Text))}); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%-7s %s: %s\n", s, f.Path, f.What)
	}
	return nil
}

// remember adds a file to the list. It is called after each file is written.
func (o *own) remember(f written) error {
	if i := slices.IndexFunc(o.Files, func(old written) bool { return old.Path == f.Path }); i >= 0 {
		o.Files[i] = f
	} else {
		o.Files = append(o.Files, f)
	}
	return o.save()
}

func (o *own) save() error {
	text, err := json.MarshalIndent(o, "", "\t")
	if err != nil {
		return err
	}
	if err := files.Save(files.File{Path: o.path, Folder: true, Write: func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err }}); err != nil {
		return fmt.Errorf("remembering read setup's list of files: %w", err)
	}
	return nil
}

// remove removes the files that setup has written and that were not changed, in reverse order, and reports each.
func (o *own) remove(out io.Writer, dry bool) error {
	for _, f := range slices.Backward(slices.Clone(o.Files)) {
		text, err := os.ReadFile(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			fmt.Fprintf(out, "gone    %s\n", f.Path)
		case err != nil:
			return err
		case sumOf(text) != f.Sum:
			fmt.Fprintf(out, "left    %s, which was changed by hand\n", f.Path)
		case dry:
			fmt.Fprintf(out, "would be removed  %s\n", f.Path)
		default:
			if err := os.Remove(f.Path); err != nil {
				return err
			}
			fmt.Fprintf(out, "removed %s\n", f.Path)
		}
	}
	if dry || len(o.Files) == 0 {
		return nil
	}
	return os.Remove(o.path)
}
