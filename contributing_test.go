package accordion_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A page for newcomers that names a file, a folder, a test or a target which is gone stops them.
func TestContributingNamesWhatExists(t *testing.T) {
	page, makefile := read(t, "CONTRIBUTING.md"), read(t, "Makefile")
	seen := 0
	for _, found := range regexp.MustCompile("`(\\./)?([a-z_]+(?:/[a-z_]+)+(?:\\.[a-z]+)?)[ `]").FindAllStringSubmatch(page, -1) {
		seen++
		if _, err := os.Stat(found[2]); err != nil {
			t.Errorf("CONTRIBUTING.md names %v", err)
		}
	}
	for _, found := range regexp.MustCompile("(?m)(?:`|^    )make ([a-z-]+)").FindAllStringSubmatch(page, -1) {
		seen++
		if !strings.Contains(makefile, "\n"+found[1]+":") {
			t.Errorf("CONTRIBUTING.md names make %s, which the Makefile does not have", found[1])
		}
	}
	tests := testsOf(t, "core/*") + testsOf(t, "slurm") + testsOf(t, "cmd/accordion")
	for _, name := range testNames.FindAllString(strings.ReplaceAll(page, "TestGrowthWaitsForOrdinaryJobOnReservedNode", ""), -1) {
		seen++
		if !strings.Contains(tests, "func "+name+"(") {
			t.Errorf("CONTRIBUTING.md names %s, which is no test", name)
		}
	}
	if seen < 25 {
		t.Errorf("only %d names were found in CONTRIBUTING.md", seen)
	}
}

func TestEveryTargetOfTheMakefileHasALineOfHelp(t *testing.T) {
	makefile := read(t, "Makefile")
	phony := regexp.MustCompile(`(?m)^\.PHONY: (.*)$`).FindStringSubmatch(makefile)
	if phony == nil {
		t.Fatal("the Makefile has no .PHONY")
	}
	targets := regexp.MustCompile(`(?m)^([a-z-]+):(.*)$`).FindAllStringSubmatch(makefile, -1)
	if len(targets) != len(strings.Fields(phony[1])) || len(targets) < 7 {
		t.Errorf("%d targets, and .PHONY is %s", len(targets), phony[1])
	}
	for _, target := range targets {
		if !strings.Contains(target[2], "## ") || !strings.Contains(" "+phony[1]+" ", " "+target[1]+" ") {
			t.Errorf("make %s has no line of help (## …), or is not in .PHONY", target[1])
		}
	}
}

func TestCitationIsOfTheNewestReleaseInTheChanges(t *testing.T) {
	changes := regexp.MustCompile(`(?m)^## (\S+)`).FindAllStringSubmatch(read(t, "CHANGELOG.md"), 2)
	if len(changes) != 2 || changes[0][1] != "Unreleased" {
		t.Fatalf("CHANGELOG.md begins with the sections %q; want Unreleased, then a release", changes)
	}
	if want := "\nversion: " + changes[1][1] + "\n"; !strings.Contains(read(t, "CITATION.cff"), want) {
		t.Errorf("CITATION.cff lacks %q", want)
	}
}
