package main

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
)

// needed lists the commands that this test does not run, with what each command needs and the test that runs it.
var needed = map[string]string{
	"step":        "a job: script/step, and the stories of slurm and oar",
	"nodes":       "a job: script/step-alone",
	"run":         "a job: script/run, and the stories of slurm",
	"part":        "an application's job: script/launch",
	"launch":      "a sidecar with launchers: script/launch",
	"audit":       "a sidecar and its batch system: the tests of slurm and oar",
	"explain":     "a sidecar: script/explain",
	"queue":       "a sidecar: script/explain",
	"status":      "a sidecar: script/status",
	"serve":       "a batch system: script/serve",
	"preflight":   "a batch system: script/preflight",
	"release-all": "a batch system: the stories of slurm and oar",
	"limits":      "a sidecar: script/limits",
	"setup":       "a batch system: script/setup",
	"oar":         "OAR's server: script/oar, and the stories of oar",
	"demo":        "a minute: script/demo",
}

// elsewhere lists lines that this test does not run, because they take minutes or need what some machines lack. Its keys are parts of the
// lines, its values the reasons.
var elsewhere = map[string]string{
	"paper adaptive":             "minutes: logs/paper, with fewer seeds",
	"paper delegated":            "minutes: logs/paper, with fewer seeds, and traces/paper/delegated/figures",
	"config check":               "a configuration: script/config",
	"/etc/accordion":             "root: script/config, and the packages' tests",
	"/usr/local/":                "root: the packages' tests",
	"sacct -a":                   "Slurm's accounting: slurm/sacct",
	"accordion advise -u":        "Slurm's accounting: script/advise",
	"accordion advise 126":       "Slurm's accounting: script/advise",
	"accordion advise --what-if": "Slurm's accounting: script/advise-what-if",
	"exec -- accordion":          "a lab: the stories of slurm and oar",
}

// TestTheGuidesCommandsOnFilesRun runs the lines of the guides that need nothing but files. Each block runs in a folder with the log, the
// accounting and the examples that the guides mention. The README has its own test.
func TestTheGuidesCommandsOnFilesRun(t *testing.T) {
	scripts, ran, used := t.TempDir(), 0, map[string]bool{}
	for _, s := range sayings(t) {
		calls := commandsIn(t, s.text)
		if s.guide == "README.md" || !s.block || len(calls) == 0 || isElsewhere(s.text, calls, used) {
			continue
		}
		ran++
		line := strings.NewReplacer("| …", "| cat >read", "KTH-SP2-1996-2.1-cln.swf.gz", "LOG.swf.gz").Replace(s.text)
		name := fmt.Sprintf("%s-%d.txtar", strings.ReplaceAll(strings.TrimSuffix(s.guide, ".md"), "/", "-"), s.number)
		if err := os.WriteFile(filepath.Join(scripts, name), []byte("exec sh -e line\n-- line --\n"+line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if ran < 20 {
		t.Errorf("only %d lines are run", ran)
	}
	for _, reasons := range []map[string]string{needed, elsewhere} {
		for of, reason := range reasons {
			if !used[of] {
				t.Errorf("no line needs the reason of %q any more: take it out", of)
			}
			for _, script := range regexp.MustCompile(`\b(?:script|logs)/[a-z-]+`).FindAllString(reason, -1) {
				text, err := os.ReadFile(filepath.Join("testdata", script+".txtar"))
				if err != nil || needed[of] != "" && !strings.Contains(string(text), "accordion "+of) {
					t.Errorf("the reason of %q: %v; does it run that?", of, err)
				}
			}
		}
	}
	runFiles(t, scripts)
}

// runFiles runs the test scripts of a folder. Each script finds the files that the guides' lines read.
func runFiles(t *testing.T, scripts string) {
	t.Helper()
	fixtures := logsOfGuides(t)
	testscript.Run(t, testscript.Params{Dir: scripts, Setup: func(env *testscript.Env) error {
		env.Setenv("TZ", "UTC")
		return os.CopyFS(env.WorkDir, os.DirFS(fixtures))
	}})
}

// isElsewhere reports whether this test skips a line, and records in `used` which reason applied.
func isElsewhere(line string, calls [][]string, used map[string]bool) (is bool) {
	for part := range elsewhere {
		if strings.Contains(line, part) {
			used[part], is = true, true
		}
	}
	for _, words := range calls {
		first := ""
		if len(words) > 0 {
			first = words[0]
		}
		if needed[first] != "" {
			used[first], is = true, true
		}
		if first == "" || first == "advise" && len(words) == 1 { // "accordion advise" alone reads the site's accounting
			is = true
		}
	}
	return is
}

// logsOfGuides returns a folder with the files that the guides' lines read.
func logsOfGuides(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	generated, err := os.ReadFile("../../examples/generated.swf")
	if err != nil {
		t.Fatal(err)
	}
	write("examples/generated.swf", generated)
	log := few(generated, 300)
	for _, name := range []string{"LOG", "site.swf"} {
		write(name, log)
	}
	f, err := os.Create(filepath.Join(folder, "LOG.swf.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write(log); err != nil {
		t.Fatal(err)
	}
	for _, c := range []io.Closer{z, f} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for script, name := range map[string]string{"testdata/script/advise.txtar": "site.txt", "testdata/logs/trace.txtar": "spring.txt"} {
		write(name, fileOf(t, script, name))
	}
	write("FILE", fileOf(t, "testdata/logs/trace.txtar", "spring.txt"))
	return folder
}

// few returns a shorter log, with the header and the first jobs of `log`.
func few(log []byte, jobs int) []byte {
	var b strings.Builder
	for line := range strings.Lines(string(log)) {
		if !strings.HasPrefix(line, ";") {
			jobs--
		}
		if jobs < 0 {
			break
		}
		b.WriteString(line)
	}
	return []byte(b.String())
}

// fileOf returns a file of a test script.
func fileOf(t *testing.T, script, name string) []byte {
	t.Helper()
	a, err := txtar.ParseFile(script)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if f.Name == name {
			return f.Data
		}
	}
	t.Fatalf("%s has no %s", script, name)
	return nil
}

var (
	goTest  = regexp.MustCompile(`\bgo test ((?:\./\S+ ?)+)-run '?([A-Za-z|.]+)'?`)
	scripts = regexp.MustCompile(`(?:^|\s)(?:\./)?(scripts/[a-z-]+)\b`)
)

// Guides also name commands for the source code. The tests and scripts that they tell readers to run must exist.
func TestTheGuidesNameTestsAndScriptsThatExist(t *testing.T) {
	tests, programs := 0, 0
	for _, s := range sayings(t) {
		for _, found := range goTest.FindAllStringSubmatch(s.text, -1) {
			tests++
			for _, folder := range strings.Fields(found[1]) {
				if !hasTest(t, filepath.Join("../..", folder), found[2]) {
					t.Errorf("%s:%d: no test of %s is named by -run %s", s.guide, s.number, folder, found[2])
				}
			}
		}
		for _, found := range scripts.FindAllStringSubmatch(s.text, -1) {
			programs++
			if _, err := os.Stat(filepath.Join("../..", found[1])); err != nil {
				t.Errorf("%s:%d: %v", s.guide, s.number, err)
			}
		}
	}
	if tests < 10 || programs < 10 {
		t.Errorf("only %d commands of tests and %d of scripts were found", tests, programs)
	}
}

func hasTest(t *testing.T, folder, pattern string) bool {
	t.Helper()
	named := regexp.MustCompile(`(?m)^func Test\w*(` + strings.ReplaceAll(pattern, "Test", "") + `)`)
	return named.MatchString(testsOf(t, folder))
}

// testsOf returns the text of a package's tests.
func testsOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
