package cpuset

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"accordion/internal/testenv"
)

func TestNodeFileOfTheFirstStepIsReadyBeforeTheCommand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "7")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(file, "n1\n")
	for _, c := range []struct{ coming, want string }{
		{"", "n1\n"}, // an ordinary job
		{"n1\nn2\n", "n1\nn2\n"},
		{"", "n1\nn2\n"}, // called a second time
	} {
		if c.coming != "" {
			write(file+NextNodes, c.coming)
		}
		if err := Prologue(file); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != c.want {
			t.Errorf("the node file has %q, %v; want %q", got, err, c.want)
		}
		if _, err := os.Stat(file + NextNodes); !os.IsNotExist(err) {
			t.Errorf("what the sidecar left is still there: %v", err)
		}
	}
	if err := os.Mkdir(file+NextNodes, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Prologue(file); err == nil {
		t.Error("a directory took the place of the node file")
	}
}

// TestPlantedNodesAreNotGivenToAJob acts as OAR's account: the test's binary runs itself as that user.
func TestPlantedNodesAreNotGivenToAJob(t *testing.T) {
	const account, attacker, variable = 64301, 64302, "ACCORDION_TEST_PROLOGUE"
	if file := os.Getenv(variable); file != "" {
		if err := Prologue(file); err == nil {
			t.Error("it prints no message")
		}
		return
	}
	testenv.Needs(t, testenv.Root)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		folder, file int // owners of the folder and of the file
		mode         os.FileMode
		link         bool // a symbolic link takes the place of the folder
	}{
		"in another user's folder":       {attacker, attacker, 0o755, false},
		"in a folder that all can write": {account, attacker, 0o777, false},
		"another user's file":            {account, attacker, 0o755, false},
		"by a link":                      {account, account, 0o755, true},
	} {
		t.Run(name, func(t *testing.T) {
			shared, err := os.MkdirTemp("", "shared")
			must(err)
			t.Cleanup(func() { os.RemoveAll(shared) })
			must(os.Chmod(shared, 0o777|os.ModeSticky))
			folder := filepath.Join(shared, "oar_runtime")
			must(os.Mkdir(folder, 0o755))
			for file, owner := range map[string]int{"7": account, "7" + NextNodes: c.file} {
				must(os.WriteFile(filepath.Join(folder, file), []byte(file), 0o644))
				must(os.Chown(filepath.Join(folder, file), owner, owner))
			}
			must(os.Chown(folder, c.folder, c.folder))
			must(os.Chmod(folder, c.mode))
			if c.link {
				must(os.Rename(folder, folder+".real"))
				must(os.Symlink(folder+".real", folder))
			}
			self, err := os.ReadFile(os.Args[0]) // a copy, because that user may not be able to read the original
			must(err)
			program := filepath.Join(shared, "test")
			must(os.WriteFile(program, self, 0o755))
			run := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()[:strings.Index(t.Name(), "/")]+"$")
			run.Env, run.Dir = []string{variable + "=" + filepath.Join(folder, "7")}, "/"
			run.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: account, Gid: account}}
			if said, err := run.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, said)
			}
			if text, err := os.ReadFile(filepath.Join(folder, "7")); err != nil || string(text) != "7" {
				t.Errorf("the job's nodes are %q, %v", text, err)
			}
		})
	}
}
