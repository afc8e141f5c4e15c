package accordion_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var long = flag.Bool("accordion.long", false, "build the program without delegated scheduling, and run its tests")

// delegatedOnly lists the folders and files of delegated scheduling. The test of a listed file need not be listed. The last Go files
// register the commands of delegated scheduling and its hook in `accordion serve`. The rest of the project builds without them.
var delegatedOnly = []string{
	"adapter/delegated", "core/delegated", "shim/launcher", "shim/wire/launcher", "traces/paper/delegated",
	"shim/part.go", "cmd/accordion/job/launch.go", "cmd/accordion/job/line.go", "cmd/accordion/job/part.go",
	"cmd/accordion/traces/delegated.go", "cmd/accordion/traces/live.go", "cmd/accordion/serve/launchers.go",
	"cmd/accordion/far_launch_test.go", "cmd/accordion/readers_test.go", // their helpers need the files above
	"cmd/accordion/testdata/script/launch.txtar", "cmd/accordion/testdata/script/launch-served.txtar", "cmd/accordion/testdata/script/fig12.txtar",
	"cmd/accordion/testdata/logs/paper.txtar",
}

// aboutDelegated lists tests outside delegatedOnly that need delegated scheduling, because they also check its guides, command lines or
// seeds.
var aboutDelegated = []string{
	"TestSeedsThatWereRedOnce", "TestTheGuidesNameTestsAndScriptsThatExist", "TestTheGuidesNameCommandsThatExist",
	"TestTheGuidesCommandsOnFilesRun", "TestWhatIsWrongWithACommandIsSeen", "TestAWrongCommandLineIsAnsweredInOneLine",
	"TestEveryCommandOfTheReadmeRunsAsPrinted",
}

// ofDelegated reports whether a file or a package belongs to delegated scheduling. Paths are slash-separated, from the root.
func ofDelegated(path string) bool {
	source := path
	if name, test := strings.CutSuffix(path, "_test.go"); test {
		source = name + ".go"
	}
	return slices.ContainsFunc(delegatedOnly, func(d string) bool { return path == d || source == d || strings.HasPrefix(path, d+"/") })
}

func TestNothingImportsDelegatedScheduling(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t, os.DirFS(".")) {
		for _, d := range delegatedOnly {
			found[d] = found[d] || s.file == d || strings.HasPrefix(s.file, d+"/") || strings.HasSuffix(d, "_test.go") || strings.HasSuffix(d, ".txtar")
		}
		for _, imported := range s.imports() {
			if rest, ours := strings.CutPrefix(imported, module+"/"); ours && ofDelegated(rest) && !ofDelegated(s.file) {
				t.Errorf("%s imports %s", s.file, imported)
			}
		}
	}
	for _, d := range delegatedOnly {
		if !found[d] {
			t.Errorf("%s has no source: take it out of delegatedOnly", d)
		}
	}
}

// A copy of the project without delegated scheduling, and without the tests that import it, builds, and its tests pass. The tests in the
// root folder and in scripts are left out, because they check the whole project.
func TestTheRestBuildsWithoutDelegatedScheduling(t *testing.T) {
	if !*long {
		t.Skip("builds a copy of the project, and runs its tests for minutes: -accordion.long")
	}
	root := copyWithoutDelegated(t)
	for _, command := range [][]string{
		{"build", "./..."},
		{"vet", "./..."},
		{"test", "-skip", strings.Join(aboutDelegated, "|"), "./core/...", "./adapter/...", "./shim/...", "./slurm/...", "./cmd/..."},
	} {
		c := exec.CommandContext(t.Context(), "go", command...)
		c.Dir, c.Env = root, append(os.Environ(), "ACCORDION_TEST=bare")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("go %s without delegated scheduling: %v\n%s", strings.Join(command, " "), err, out)
		}
	}
}

// copyWithoutDelegated copies all files under version control except those of delegated scheduling, and returns the folder of the copy.
func copyWithoutDelegated(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	imports := map[string]bool{} // whether a test file imports a package that is left out
	for _, s := range goFiles(t, os.DirFS("."), func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		imports[s.file] = slices.ContainsFunc(s.imports(), func(i string) bool {
			rest, ours := strings.CutPrefix(i, module+"/")
			return ours && ofDelegated(rest)
		})
	}
	list, err := exec.CommandContext(t.Context(), "git", "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range bytes.SplitSeq(bytes.TrimRight(list, "\x00"), []byte{0}) {
		if name := string(name); !ofDelegated(name) && !imports[name] {
			copyFile(t, name, filepath.Join(root, name))
		}
	}
	return root
}

// copyFile copies a file with its mode, or a link. A file that was deleted and is still in git's index is left out.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Lstat(from)
	if os.IsNotExist(err) {
		return
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		var target string
		if target, err = os.Readlink(from); err == nil {
			err = os.Symlink(target, to)
		}
	} else if err == nil {
		var data []byte
		if data, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, data, info.Mode().Perm())
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
