package oar

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"accordion/internal/testenv"
)

// TestPlantedRuntimeFolderIsNotWrittenTo runs the scripts for OAR's runtime folder as OAR's account does. Another user has created that
// folder, or a link with its name, before the node's first job.
func TestPlantedRuntimeFolderIsNotWrittenTo(t *testing.T) {
	testenv.Needs(t, testenv.Root)
	const account, attacker, text = 64301, 64302, "n1\nn2\n"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		plant func(folder, prey string)
		safe  bool
	}{
		{"no folder", func(string, string) {}, true},
		{"the account's own", func(folder, _ string) { must(os.Mkdir(folder, 0o755)); must(os.Chown(folder, account, account)) }, true},
		{"another user's", func(folder, prey string) {
			must(os.Mkdir(folder, 0o755))
			for _, name := range []string{"10", "10.accordion-next"} {
				must(os.Symlink(prey, filepath.Join(folder, name)))
			}
			must(os.Chmod(folder, 0o777))
			must(os.Chown(folder, attacker, attacker))
		}, false},
		{"one of the account's that all can write to", func(folder, prey string) {
			must(os.Mkdir(folder, 0o755))
			must(os.Symlink(prey, filepath.Join(folder, "10.accordion-next")))
			must(os.Chmod(folder, 0o777))
			must(os.Chown(folder, account, account))
		}, false},
		{"a link to a folder of the account's", func(folder, prey string) {
			must(os.Symlink(filepath.Dir(prey), folder))
			must(os.Lchown(folder, attacker, attacker))
		}, false},
		{"a leftover of its own", func(folder, prey string) {
			must(os.Mkdir(folder, 0o755))
			must(os.Symlink(prey, filepath.Join(folder, "10.accordion-next")))
			must(os.Lchown(folder, account, account))
		}, true},
	} {
		for script, body := range map[string]string{"write": writeNodes, "leave": leaveNodes, "drop": dropNodes} {
			t.Run(c.name+", "+script, func(t *testing.T) {
				shared := t.TempDir()
				for dir := shared; dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
					must(os.Chmod(dir, 0o755))
				}
				must(os.Chmod(shared, 0o777|os.ModeSticky))
				home := filepath.Join(shared, "home")
				prey, folder := filepath.Join(home, "authorized_keys"), filepath.Join(shared, "oar_runtime")
				must(os.Mkdir(home, 0o755))
				must(os.WriteFile(prey, []byte("a key\n"), 0o600))
				must(os.WriteFile(filepath.Join(home, "10.accordion"), []byte("of OAR's own\n"), 0o600))
				for _, name := range []string{home, prey, filepath.Join(home, "10.accordion")} {
					must(os.Chown(name, account, account))
				}
				c.plant(folder, prey)
				run := exec.CommandContext(t.Context(), "sh", "-c", body, "sh", "10", folder, strconv.Itoa(len(text)))
				run.Dir, run.Stdin = "/", strings.NewReader(text)
				run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: account, Gid: account}}
				said, err := run.CombinedOutput()
				if (err == nil) != c.safe || !c.safe && !strings.Contains(string(said), "OAR_RUNTIME_DIRECTORY") {
					t.Errorf("it ended with %v: %s", err, said)
				}
				if keys, err := os.ReadFile(prey); err != nil || string(keys) != "a key\n" {
					t.Errorf("the keys are %q, %v", keys, err)
				}
				if _, err := os.Stat(filepath.Join(home, "10.accordion")); err != nil {
					t.Errorf("behind the link: %v", err)
				}
				if left, err := os.ReadFile(filepath.Join(folder, "10.accordion")); c.safe && script == "leave" && (err != nil || string(left) != text) {
					t.Errorf("it left %q, %v", left, err)
				}
			})
		}
	}
}
