package folder

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCreatedFoldersCanBeEnteredWithAnyUmask(t *testing.T) {
	there := t.TempDir()
	if err := os.Chmod(there, 0o700); err != nil {
		t.Fatal(err)
	}
	defer unix.Umask(unix.Umask(0o077))
	for range 2 {
		if err := MakeOpen(filepath.Join(there, "a", "b", "c")); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]fs.FileMode{"": 0o700, "a": 0o755, "a/b": 0o755, "a/b/c": 0o755} {
		if info, err := os.Stat(filepath.Join(there, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: mode %v (%v), want %04o", name, info.Mode(), err, want)
		}
	}
	file := filepath.Join(there, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, filepath.Join(file, "below")} {
		if err := MakeOpen(path); err == nil {
			t.Errorf("%s was made, where a file is in the way", path)
		}
	}
}
