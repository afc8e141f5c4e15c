package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// covered lists commands of README.md and docs/start.md, as printed there, that TestEveryCommandOfTheReadmeRunsAsPrinted does not run. Each
// has the reason, and the test that covers the command. A block of lines is identified by some words in it.
var covered = []struct{ command, why, test string }{
	{"./scripts/demo", "it takes a minute", "scripts: TestTheDemoRunsAsPrinted"},
	{"./scripts/demo --on slurm", "it takes three minutes, and root", "slurm: TestTheDemoOnARealSlurm"},
	{"./scripts/test", "it runs this test", ""},
	{"./scripts/test --real", "it runs this test", ""},
	{"scripts/test --real --long", "it runs this test", ""},
	{"scripts/package", "it builds for a minute", "scripts: TestPackageRunsAsPrinted"},
	{"go install ./cmd/accordion", "it writes into the reader's own folder of programs", "scripts: TestTheProgramIsInstalledAsPrinted"},
	{"block ./preprocess", "it is a job", "slurm: TestTheReadmesSlurmExampleRunsOnThisMachine"},
	{"block slurm-lab up 8", "it boots a Slurm", "slurm: TestTheReadmesSlurmExampleRunsOnThisMachine"},
	{"./scripts/slurm-lab down", "it ends that Slurm", "slurm: TestTheReadmesSlurmExampleRunsOnThisMachine"},
	{"squeue", "it asks that Slurm", "slurm: TestTheReadmesSlurmExampleRunsOnThisMachine"},
	{"accordion journal --follow", "it asks the sidecar of that Slurm", "slurm: TestTheReadmesSlurmExampleRunsOnThisMachine"},
	{"accordion step", "a job calls it", "slurm: TestTheReadmesSlurmExampleRunsOnThisMachine"},
	{`eval "$(accordion step)"`, "a job calls it", "slurm: TestTheReadmesSlurmExampleRunsOnThisMachine"},
	{"sbatch -H", "it is an option with a comment", "slurm: TestARealSlurmTakesWhatTheGuidesSayThatUsersWrite"},
	{"scontrol update", "the sidecar calls it", "slurm: TestTheReadmesSlurmExampleRunsOnThisMachine"},
	{"salloc --dependency=expand", "the sidecar calls it", "slurm: TestTheReadmesSlurmExampleRunsOnThisMachine"},
	{"accordion status", "it asks a sidecar", "scripts/packages: TestTheFirstTenMinutes"},
	{"accordion explain JOB", "it asks a sidecar about a job", "scripts/packages: TestTheFirstTenMinutes"},
	{"accordion serve", "it needs a batch system", "cmd/accordion/testdata/script/serve.txtar"},
	{"accordion launch", "it needs a sidecar with launchers", "cmd/accordion/testdata/script/launch.txtar"},
	{"accordion run", "it needs a job", "cmd/accordion/testdata/script/run.txtar"},
	{"accordion setup slurm --partition pilot", "it needs a site with that partition", "slurm: TestSetupMakesABareClusterFitAndTakesItBack"},
	{"accordion setup slurm --remove", "it needs a site", "scripts/packages: TestTheFirstTenMinutes"},
	{"accordion advise", "it reads Slurm's accounting", "cmd/accordion/testdata/script/advise.txtar"},
	{"accordion advise JOB", "it reads Slurm's accounting", "cmd/accordion/testdata/script/advise.txtar"},
	{"accordion paper", "it names a group of commands, and one of them is run", "cmd/accordion/testdata/logs/paper.txtar"},
	{"accordion paper delegated", "it takes minutes, and a log that is not in the repository", "traces/paper/delegated/figures: TestFigure7AndItsClaims"},
	{"accordion paper adaptive", "it takes minutes", "cmd/accordion/testdata/logs/paper.txtar"},
	{"ssh -L 9821:127.0.0.1:9821 HOST", "it needs a reader's desk", "scripts/packages: TestTheFirstTenMinutes"}, // the command that opens the page
}

var (
	onlyOurs   = regexp.MustCompile(`\A(accordion .*\n?)+\z`)
	span       = regexp.MustCompile("`([^`]+)`")
	executable = regexp.MustCompile(`^(accordion|(\./)?scripts/[a-z-]+|squeue)( |$)|^(sbatch|salloc|scontrol|srun|oarsub|eval|apt|ssh|go|git) `) // "sbatch" alone is a name
)

// commandsToType returns what a reader of a guide may type: its blocks, each as a whole, and the commands within sentences.
func commandsToType(text string) (blocks, inline []string) {
	block := ""
	for line := range strings.Lines(text + "\n\n") {
		if code, is := strings.CutPrefix(line, "    "); is {
			block += code
			continue
		}
		if block != "" && !strings.Contains(block, "►") { // a diagram
			blocks = append(blocks, block)
		}
		block = ""
		for _, found := range span.FindAllStringSubmatch(line, -1) {
			if executable.MatchString(found[1]) {
				inline = append(inline, found[1])
			}
		}
	}
	return blocks, inline
}

// coveredBy returns the index of a command or a block in the list `covered`, or -1.
func coveredBy(command string, block bool) int {
	for i, c := range covered {
		words, is := strings.CutPrefix(c.command, "block ")
		if is == block && (block && strings.Contains(command, words) || !block && command == words) {
			return i
		}
	}
	return -1
}

// TestEveryCommandOfTheReadmeRunsAsPrinted runs the commands of README.md, and the commands within sentences of
// docs/start.md. They run in a folder that has LOG and the examples. The test leaves out commands that another test
// covers. The blocks of docs/start.md are typed by TestTheFirstTenMinutes.
func TestEveryCommandOfTheReadmeRunsAsPrinted(t *testing.T) {
	folder, used, lines := t.TempDir(), make([]bool, len(covered)), map[string]bool{}
	take := func(command string, block bool) {
		switch i := coveredBy(command, block); {
		case i >= 0:
			used[i] = true
		case onlyOurs.MatchString(command):
			lines[command] = true
		default: // a command that changes files or starts programs, which this test does not run
			t.Errorf("%q is run by no test: name in covered the test that does", command)
		}
	}
	for _, guide := range []string{"README.md", "docs/start.md"} {
		text, err := os.ReadFile(filepath.Join("../..", guide))
		if err != nil {
			t.Fatal(err)
		}
		blocks, inline := commandsToType(string(text))
		if guide == "README.md" {
			for _, b := range blocks {
				take(b, true)
			}
		}
		for _, c := range inline {
			take(c, false)
		}
	}
	for i, line := range slices.Sorted(maps.Keys(lines)) {
		name := fmt.Sprintf("command-%d.txtar", i+1)
		if err := os.WriteFile(filepath.Join(folder, name), []byte("exec sh -ex line\n-- line --\n"+line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) < 3 {
		t.Errorf("only %d commands are run", len(lines))
	}
	for i, c := range covered {
		if !used[i] {
			t.Errorf("neither README.md nor docs/start.md has %q any more: take it out", c.command)
		}
		if !isThere(t, c.test) {
			t.Errorf("%q is covered by %s, which is not there", c.command, c.test)
		}
	}
	runFiles(t, folder)
}

// isThere reports whether a test exists. "slurm: TestX" names a test function in package slurm, "" means that no test is needed, and any
// other text names a file.
func isThere(t *testing.T, test string) bool {
	t.Helper()
	folder, name, is := strings.Cut(test, ": ")
	if is {
		return strings.Contains(testsOf(t, filepath.Join("../..", folder)), "\nfunc "+name+"(t *testing.T)")
	}
	_, err := os.Stat(filepath.Join("../..", test))
	return err == nil
}

func TestCommandsToTypeAreFound(t *testing.T) {
	blocks, inline := commandsToType("Type `accordion status` or `./scripts/demo`, not `patient` or `accordions`.\n\n    a\n    b\n\n    c ► d\n")
	if want := []string{"a\nb\n"}; !slices.Equal(blocks, want) {
		t.Errorf("blocks %q, want %q", blocks, want)
	}
	if want := []string{"accordion status", "./scripts/demo"}; !slices.Equal(inline, want) {
		t.Errorf("inline %q, want %q", inline, want)
	}
}
