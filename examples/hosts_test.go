// Package examples_test reads hosts files with the examples in C, Fortran and Python. All of them must agree.
package examples_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"accordion/internal/testenv"
)

// readers returns the commands that print a hosts file, by language.
func readers(t *testing.T) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	all := map[string][]string{}
	for language, build := range map[string][]string{
		"C":       {"gcc", "-std=c99", "-D_XOPEN_SOURCE=600", "-Wall", "-Wextra", "-Werror", "-o", filepath.Join(dir, "c"), "hosts/show.c", "hosts/hosts.c"},
		"Fortran": {"gfortran", "-std=f2008", "-Wall", "-Wextra", "-Werror", "-J", dir, "-o", filepath.Join(dir, "f"), "hosts/hosts.f90"},
		"Python":  {"python3", "-c", "pass"},
	} {
		if _, err := exec.LookPath(build[0]); err != nil {
			if testenv.Real() {
				t.Fatalf("no %s: scripts/test --real installs it", build[0])
			}
			t.Logf("%s is left out: no %s (scripts/test --real installs it)", language, build[0])
			continue
		}
		if out, err := exec.CommandContext(t.Context(), build[0], build[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(build, " "), err, out)
		}
		all[language] = map[string][]string{
			"C": {filepath.Join(dir, "c")}, "Fortran": {filepath.Join(dir, "f")}, "Python": {"python3", "hosts/hosts.py"},
		}[language]
	}
	return all
}

func TestCFortranAndPythonReadTheSame(t *testing.T) {
	header := "# generation=1 step=2 steps=3 nodes=3 from=1795293641 until=1795293661"
	const bad = ""
	tests := map[string]struct{ text, want string }{
		"as documented":                  {header + "\nn1\nn2\nn7\n", "1 2 3 1795293641 1795293661 n1,n2,n7"},
		"long names":                     {header + "\n" + strings.Repeat("a", 200) + "\nn2\nn7.example.org\n", "1 2 3 1795293641 1795293661 " + strings.Repeat("a", 200) + ",n2,n7.example.org"},
		"words of a later version":       {header + " color=blue\n# more\nn1\nn2\nn7\n", "1 2 3 1795293641 1795293661 n1,n2,n7"},
		"a job with companions":          {header + "\n# allocations 42:n[1-2] 57:n7\nn1\nn2\nn7\n", "1 2 3 1795293641 1795293661 n1,n2,n7"},
		"a later version's long line":    {header + "\n# " + strings.Repeat("n1,", 2000) + "\nn1\nn2\nn7\n", "1 2 3 1795293641 1795293661 n1,n2,n7"},
		"another order":                  {"# until=9 from=8 nodes=1 steps=1 step=1 generation=0\nn1\n", "0 1 1 8 9 n1"},
		"an end after the far future":    {"# generation=0 step=1 steps=1 nodes=1 from=1 until=9999999999\nn1\n", "0 1 1 1 9999999999 n1"},
		"no header":                      {"n1\nn2\n", bad},
		"empty":                          {"", bad},
		"fewer nodes than it says":       {header + "\nn1\nn2\n", bad},
		"more nodes than it says":        {header + "\nn1\nn2\nn3\nn4\n", bad},
		"no nodes":                       {"# generation=1 step=2 steps=3 nodes=0 from=1 until=2\n", bad},
		"a word that is missing":         {"# step=2 steps=3 nodes=1 from=1 until=2\nn1\n", bad},
		"a number that is none":          {"# generation=x step=2 steps=3 nodes=1 from=1 until=2\nn1\n", bad},
		"more nodes than anybody's":      {"# generation=1 step=2 steps=3 nodes=99999999 from=1 until=2\nn1\n", bad},
		"the header's beginning, no end": {"# generation=1 step", bad},
	}
	for language, command := range readers(t) {
		t.Run(language, func(t *testing.T) {
			for name, test := range tests {
				path := filepath.Join(t.TempDir(), "hosts")
				if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
					t.Fatal(err)
				}
				out, err := exec.CommandContext(t.Context(), command[0], append(command[1:], path)...).Output()
				if got := strings.TrimSpace(string(out)); got != test.want || (err == nil) != (test.want != bad) {
					t.Errorf("%s: it read %q and ended with %v, want %q", name, got, err, test.want)
				}
			}
			if err := exec.CommandContext(t.Context(), command[0], append(command[1:], filepath.Join(t.TempDir(), "none"))...).Run(); err == nil {
				t.Error("a file that is not there was read")
			}
		})
	}
}

// In TestTheExamplesReadTheFileOfTheirOwnCluster jobs of two clusters on one machine have the same number.
func TestTheExamplesReadTheFileOfTheirOwnCluster(t *testing.T) {
	folder := fmt.Sprintf("/tmp/accordion-%d", os.Getuid())
	if err := os.Mkdir(folder, 0o700); err == nil {
		t.Cleanup(func() { _ = os.Remove(folder) }) // fails if the folder is not empty
	} else if !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	testenv.Needs(t, testenv.Missing("own-folder", foreign(folder)))
	job := fmt.Sprintf("9%d", os.Getpid())
	for _, cluster := range []string{"north", "south"} {
		path := filepath.Join(folder, cluster+"-"+job+".hosts")
		text := "# generation=1 step=2 steps=3 nodes=1 from=8 until=9\n" + cluster + "1\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Remove(path) })
	}
	for language, command := range readers(t) {
		if language == "Fortran" { // the Fortran program receives the path
			continue
		}
		for _, cluster := range []string{"north", "south"} {
			c := exec.CommandContext(t.Context(), command[0], command[1:]...)
			c.Env = append(os.Environ(), "SLURM_CLUSTER_NAME="+cluster, "SLURM_JOB_ID="+job)
			out, err := c.Output()
			if got, want := strings.TrimSpace(string(out)), "1 2 3 8 9 "+cluster+"1"; got != want {
				t.Errorf("%s on cluster %s reads %q (%v), want %q", language, cluster, got, err, want)
			}
		}
	}
}

// foreign returns why this user cannot write to a folder that another user has created. It returns "" if this user
// can.
func foreign(folder string) string {
	found, err := os.Lstat(folder)
	if err != nil {
		return err.Error()
	}
	if owner := found.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Getuid() || !found.IsDir() {
		return fmt.Sprintf("%s belongs to user %d: have it removed", folder, owner)
	}
	return ""
}

// In TestExamplesPassOverAFolderOfAnotherUser the hosts file is in a private folder. Only root can act as two users.
func TestExamplesPassOverAFolderOfAnotherUser(t *testing.T) {
	testenv.Needs(t, testenv.Root)
	const victim, attacker = 64305, 64306
	usual := fmt.Sprintf("/tmp/accordion-%d", victim)
	text := func(node string) []byte {
		return []byte("# generation=1 step=2 steps=3 nodes=1 from=8 until=9\n" + node + "\n")
	}
	for folder, owner := range map[string]int{usual: attacker, usual + ".aaa": attacker, usual + ".mmm": victim} {
		node := "evil"
		if owner == victim {
			node = "n1"
		}
		t.Cleanup(func() { os.RemoveAll(folder) })
		if err := errors.Join(os.Mkdir(folder, 0o755), os.WriteFile(filepath.Join(folder, "lab-7.hosts"), text(node), 0o644), os.Chown(folder, owner, owner)); err != nil {
			t.Fatal(err)
		}
	}
	for language, command := range readers(t) {
		if language == "Fortran" { // the Fortran program receives the path
			continue
		}
		if language == "Python" {
			command = []string{"/usr/bin/python3", command[1]} // root's own Python may be in a folder that the other user cannot read
		}
		shared, err := os.MkdirTemp("", "examples") // a folder that the other user can reach
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(shared) })
		last := command[len(command)-1]
		program, err := os.ReadFile(last)
		err = errors.Join(err, os.Chmod(shared, 0o755), os.WriteFile(filepath.Join(shared, "program"), program, 0o755))
		if err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), "setpriv", append([]string{fmt.Sprintf("--reuid=%d", victim), "--clear-groups"}, append(command[:len(command)-1], filepath.Join(shared, "program"))...)...)
		c.Env = append(os.Environ(), "SLURM_CLUSTER_NAME=lab", "SLURM_JOB_ID=7")
		out, err := c.CombinedOutput()
		if got, want := strings.TrimSpace(string(out)), "1 2 3 8 9 n1"; got != want {
			t.Errorf("%s reads %q (%v), want %q", language, got, err, want)
		}
	}
}

// If a batch script mentions `accordion step`, even in a comment, the sidecar assumes that the script calls it, and
// does not write a hosts file for the job. The scripts in this test wait for their hosts file.
func TestScriptsThatWaitForTheirHostsFileDoNotMentionAccordionStep(t *testing.T) {
	for _, name := range []string{"mpi/silent.sh", "spawn/mpich.sh"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "accordion nodes --file") {
			t.Errorf("%s does not wait for its hosts file: it does not belong in this test", name)
		}
		if strings.Contains(string(text), "accordion step") {
			t.Errorf("%s mentions accordion step", name)
		}
	}
}
