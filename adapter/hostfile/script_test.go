package hostfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"accordion/internal/testenv"
)

// The test uses user IDs without names, so that no folder in /tmp belongs to a real user.
const (
	victim   = 64301
	attacker = 64302
)

// Another user can put a folder, a link or a file in the place of the usual folder.
func TestHostsFileIsPrivateWhateverAnotherUserPutInTmp(t *testing.T) {
	testenv.Needs(t, testenv.Root)
	usual := fmt.Sprintf("/tmp/accordion-%d", victim)
	prey := t.TempDir() // a folder to which the victim can write, and to which the attacker's link leads
	for dir := prey; dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	must(t, os.Chown(prey, victim, victim))
	for _, c := range []struct {
		name  string
		plant func()
		want  string // a prefix of the file's path
	}{
		{"nothing", func() {}, usual + "/lab-7.hosts"},
		{"the user's own folder", func() { folder(t, usual, victim, 0o700) }, usual + "/lab-7.hosts"},
		{"a folder", func() { folder(t, usual, attacker, 0o777) }, usual + "."},
		{"a link to a folder of the user's", func() { link(t, prey, usual, attacker) }, usual + "."},
		{"a link to nowhere", func() { link(t, prey+"/new", usual, attacker) }, usual + "."},
		{"a file", func() { file(t, usual, attacker) }, usual + "."},
		{"a file of the user's own", func() { file(t, usual, victim); must(t, os.Chmod(usual, 0o600)) }, usual + "."},
		{"a folder of the user's that all can write to", func() { folder(t, usual, victim, 0o777) }, usual + "."},
		{"a folder in both places", func() { folder(t, usual, attacker, 0o777); folder(t, usual+".aaaaaaaaaa", attacker, 0o777) }, usual + "."},
		{"a link in both places", func() { link(t, prey, usual, attacker); link(t, prey, usual+".aaaaaaaaaa", attacker) }, usual + "."},
		{"a folder, and the private one is there", func() { folder(t, usual, attacker, 0o777); folder(t, usual+".zzzzzzzzzz", victim, 0o700) }, usual + ".zzzzzzzzzz/lab-7.hosts"},
	} {
		t.Run(c.name, func(t *testing.T) {
			clear := func() {
				all, _ := filepath.Glob(usual + "*")
				for _, path := range all {
					must(t, os.RemoveAll(path))
				}
			}
			clear()
			t.Cleanup(clear)
			c.plant()
			path := publish(t, "text 1\n")
			if !strings.HasPrefix(path, c.want) {
				t.Errorf("it is in %s, want %s…", path, c.want)
			}
			if again := publish(t, "text 2\n"); again != path {
				t.Errorf("the second one is in %s, the first in %s", again, path)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != "text 2\n" {
				t.Errorf("%s: %q, %v", path, text, err)
			}
			for name, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
				info, err := os.Lstat(name)
				if err != nil || info.Mode() != mode || info.Sys().(*syscall.Stat_t).Uid != victim {
					t.Errorf("%s: %v, %v, want %v of user %d", name, info, err, mode, victim)
				}
			}
			if left, err := os.ReadDir(prey); err != nil || len(left) > 0 {
				t.Errorf("behind the link there is %v, %v", left, err)
			}
		})
	}
}

// Kept finds the files that the script wrote. The script removes files older than a month.
func TestHostsFilesOfJobsThatEndedLongAgoAreRemoved(t *testing.T) {
	testenv.Needs(t, testenv.Root)
	usual := fmt.Sprintf("/tmp/accordion-%d", victim)
	clear := func() { must(t, os.RemoveAll(usual)) }
	clear()
	t.Cleanup(clear)
	now := time.Now()
	folder(t, usual, victim, 0o700)
	for name, days := range map[string]int{"lab-5.hosts": 31, "lab-6.hosts": 28, "other-5.hosts": 1, "notes": 90, "lab-x.hosts": 1} {
		path := filepath.Join(usual, name)
		file(t, path, victim)
		must(t, os.Chtimes(path, now, now.AddDate(0, 0, -days)))
	}
	kept := func() (ids []int64) {
		for _, k := range Kept("/tmp", "lab", now) {
			if strings.HasPrefix(k.Name, usual+"/") {
				ids = append(ids, int64(k.Job.ID))
			}
		}
		return ids
	}
	if got := kept(); !slices.Equal(got, []int64{5, 6}) {
		t.Errorf("hosts files of the jobs %v are kept, want 5 and 6", got)
	}
	publish(t, "text\n")
	if got := kept(); !slices.Equal(got, []int64{6, 7}) {
		t.Errorf("after the next job there are hosts files of the jobs %v, want 6 and 7", got)
	}
	if _, err := os.Stat(filepath.Join(usual, "notes")); err != nil {
		t.Errorf("a file of another kind is gone: %v", err)
	}
	must(t, os.Chown(usual, attacker, attacker))
	if got := kept(); len(got) > 0 {
		t.Errorf("in another user's folder there are hosts files of %v", got)
	}
}

// publish runs the script as the victim, and returns where the file is.
func publish(t *testing.T, text string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", Script, "sh", "lab-7")
	c.Dir, c.Stdin = "/", strings.NewReader(text)
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: victim, Gid: victim}}
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		t.Fatalf("the script: %v: %s", err, errs.String())
	}
	if path := Elsewhere(string(out)); path != "" {
		return path
	}
	return fmt.Sprintf("/tmp/accordion-%d/lab-7.hosts", victim)
}

func folder(t *testing.T, name string, owner int, mode os.FileMode) {
	t.Helper()
	must(t, os.Mkdir(name, mode))
	must(t, os.Chmod(name, mode))
	must(t, os.Lchown(name, owner, owner))
}

func link(t *testing.T, to, name string, owner int) {
	t.Helper()
	must(t, os.Symlink(to, name))
	must(t, os.Lchown(name, owner, owner))
}

func file(t *testing.T, name string, owner int) {
	t.Helper()
	must(t, os.WriteFile(name, nil, 0o666))
	must(t, os.Lchown(name, owner, owner))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
