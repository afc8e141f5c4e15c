package scripts_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"accordion/internal/testenv"
)

// typed runs a command of the README, as printed, in a folder with the repository's scripts, and returns the folder.
func typed(t *testing.T, line string) string {
	t.Helper()
	folder := t.TempDir()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(here, filepath.Join(folder, "scripts")); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "sh", "-e", "-c", line)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return folder
}

func TestTheDemoRunsAsPrinted(t *testing.T) {
	testenv.Needs(t, testenv.Minutes)
	t.Parallel() // the demo runs for a minute and needs little processor time
	page, err := os.ReadFile(filepath.Join(typed(t, "./scripts/demo"), "accordion-demo.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"ep=", "mold="} {
		if !strings.Contains(string(page), part) {
			t.Errorf("the page has no %s", part)
		}
	}
}

func TestPackageRunsAsPrinted(t *testing.T) {
	testenv.Needs(t, testenv.Packages)
	t.Parallel()
	folder := typed(t, "scripts/package")
	for _, name := range []string{"accordion_*.deb", "accordion-controller_*.deb", "accordion-slurm_*.deb"} { // the packages that docs/start.md installs
		if found, err := filepath.Glob(filepath.Join(folder, "dist", name)); err != nil || len(found) != 1 {
			t.Errorf("dist/%s is %q, error %v", name, found, err)
		}
	}
}

func TestTheProgramIsInstalledAsPrinted(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := exec.CommandContext(t.Context(), "go", "install", "./cmd/accordion")
	c.Dir = ".."
	c.Env = append(os.Environ(), "GOBIN="+folder)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.CommandContext(t.Context(), filepath.Join(folder, "accordion"), "version").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "accordion ") {
		t.Errorf("accordion version: %v, %s", err, out)
	}
}
