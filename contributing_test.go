package accordion_test

import (
	"go/ast"
	"os"
	"path"
	"regexp"
	"slices"
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

// A newcomer cannot follow CONTRIBUTING.md if it names a file, folder, test or target that no longer exists.
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

// The walks through the code in ARCHITECTURE.md help only while every folder and every name in them exists.
func TestArchitectureNamesWhatExists(t *testing.T) {
	page := read(t, "ARCHITECTURE.md")
	declared := map[string]bool{}
	for _, s := range sources(t, os.DirFS(".")) {
		for _, d := range s.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				declared[d.Name.Name] = true
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if named, is := spec.(*ast.TypeSpec); is {
						declared[named.Name.Name] = true
					}
				}
			}
		}
	}
	seen := 0
	for _, found := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(page, -1) {
		switch word := found[1]; {
		case regexp.MustCompile(`^[a-z_]+(/[a-z_]+)+(\.go)?$`).MatchString(word):
			seen++
			if _, err := os.Stat(word); err != nil {
				t.Errorf("ARCHITECTURE.md names %v", err)
			}
		case regexp.MustCompile(`^(\(\*?[A-Za-z]+\)|[a-z]+(\.[A-Z]\w*)?)\.[A-Za-z]\w*$`).MatchString(word) && !strings.HasSuffix(word, ".go") && !strings.HasSuffix(word, ".lua") && !strings.HasSuffix(word, ".lock"):
			seen++
			if name := word[strings.LastIndex(word, ".")+1:]; !declared[name] {
				t.Errorf("ARCHITECTURE.md names %s, which is not declared", word)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d names were found in ARCHITECTURE.md", seen)
	}
}

// Package comments refer to files of the same folder (resize.go), files of other folders (slurm/growth/way.go), and other packages
// (package growth).
func TestPackageCommentsNameFilesAndPackagesThatExist(t *testing.T) {
	all := sources(t, os.DirFS("."))
	packages, folders := map[string]bool{}, map[string]bool{}
	for _, s := range all {
		packages[s.Name.Name], folders[s.folder] = true, true
	}
	file := regexp.MustCompile(`[a-z_]+(?:/[a-z_]+)*\.go\b`)
	other := regexp.MustCompile(`(\w* )package ([a-z]+(?:/[a-z]+)*)\b`)
	seen := 0
	for _, s := range all {
		if s.Doc == nil {
			continue
		}
		text := s.Doc.Text()
		for _, name := range file.FindAllString(text, -1) {
			seen++
			_, inside := os.Stat(path.Join(s.folder, name))
			if _, err := os.Stat(name); err != nil && inside != nil {
				t.Errorf("%s: its package comment names %s, which does not exist", s.file, name)
			}
		}
		for _, found := range other.FindAllStringSubmatch(text, -1) {
			if slices.Contains([]string{"the ", "this ", "a "}, strings.ToLower(found[1])) { // as in "the package decides", which names no package
				continue
			}
			seen++
			if !packages[found[2]] && !folders[found[2]] {
				t.Errorf("%s: its package comment names package %s, which does not exist", s.file, found[2])
			}
		}
	}
	if seen < 100 {
		t.Errorf("only %d names were found in package comments", seen)
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
