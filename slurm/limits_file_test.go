package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// The folder of slurm.conf may belong to SlurmUser, but the sidecar writes into it as root.
func TestLimitsFileIsNotWrittenThroughAPlantedLink(t *testing.T) {
	dir := t.TempDir()
	prey, path := filepath.Join(dir, "shadow"), filepath.Join(dir, ".limits.lua.new")
	if err := os.WriteFile(prey, []byte("root's"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, plant := range []func() error{
		func() error { return os.Symlink(prey, path) },
		func() error { return os.Link(prey, path) },
		func() error { return os.Symlink(filepath.Join(dir, "none"), path) },
		func() error { return os.WriteFile(path, nil, 0o666) },
	} {
		if err := plant(); err != nil {
			t.Fatal(err)
		}
		if err := writeNew(path, "limits"); err != nil {
			t.Error(err)
		}
		if text, err := os.ReadFile(prey); err != nil || string(text) != "root's" {
			t.Errorf("behind the link: %q, %v", text, err)
		}
		info, err := os.Lstat(path)
		if text, unread := os.ReadFile(path); err != nil || unread != nil || info.Mode() != 0o644 || string(text) != "limits" {
			t.Errorf("the file: %v, %q, %v", info, text, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFileForThePluginIsWrittenWhenItChangesAndEveryFewMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "slurm")
		path, s := filepath.Join(dir, "accordion_nodes.lua"), &System{}
		if s.write(path, "a"); len(s.unwrittenRemark()) != 1 {
			t.Error("a missing folder is not logged")
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		says := func(body string, written time.Time) {
			t.Helper()
			want := fmt.Sprintf("-- second:%d\n%s", written.Unix(), body)
			if text, err := os.ReadFile(path); err != nil || string(text) != want || len(s.unwrittenRemark()) != 0 {
				t.Errorf("it says %q, error %v, want %q", text, err, want)
			}
		}
		begin := time.Now()
		s.write(path, "a")
		says("a", begin)
		time.Sleep(4 * time.Minute)
		s.write(path, "a")
		says("a", begin)
		time.Sleep(time.Minute)
		s.write(path, "a")
		says("a", begin.Add(5*time.Minute))
		time.Sleep(time.Second)
		s.write(path, "b")
		says("b", begin.Add(5*time.Minute+time.Second))

		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if s.write(path, "b"); len(s.unwrittenRemark()) != 1 {
			t.Error("a file that cannot be renewed is not logged")
		}
	})
}
