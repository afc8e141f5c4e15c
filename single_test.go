package accordion_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// shared names packages that start goroutines. Packages that scripts/test --real tests without the race detector may
// import them anyway, because their goroutines share nothing with their callers. Their own tests run with the race
// detector.
var shared = map[string]string{
	"traces/swf":                  "a file is read ahead by a goroutine that has it for itself",
	"traces/paper":                "core/order's tests take its processor time, and nothing else of it",
	"shim/launcher/application":   "the tests of adapter/delegated/apps have its launcher, a state machine; it is the loop around it that starts goroutines",
	"adapter/readers":             "cmd/accordion/schedule takes its exit status from cmd/accordion/command, and reads no journal",
	"shim/launcher/selector":      "the same tests have its messages",
	"traces/paper/delegated/live": "the same tests have the jobs of Figure 12",
}

// goroutines returns the files of a folder in which a goroutine is started, or a test that runs in parallel with
// others. If tests is true, it also searches the folder's test files. imports has the imports of all searched files.
func goroutines(t *testing.T, folder string, tests bool) (found []string, imports []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") && !tests {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if starts(parsed) {
			found = append(found, file)
		}
		for _, imported := range (source{File: parsed}).imports() {
			if rest, ours := strings.CutPrefix(imported, module+"/"); ours {
				imports = append(imports, rest)
			}
		}
	}
	return found, imports
}

// starts reports whether a file has a go statement, or calls a function that starts a goroutine.
func starts(file *ast.File) (does bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			does = true
		case *ast.CallExpr:
			called, is := n.Fun.(*ast.SelectorExpr)
			does = does || is && slices.Contains([]string{"Go", "Parallel", "AfterFunc", "RunParallel"}, called.Sel.Name)
		}
		return true
	})
	return does
}

// A race needs two goroutines. The packages that scripts/test --real tests without the race detector must start none. The same holds for
// their tests, and for every package of the project that they import.
func TestWhatIsTestedWithoutTheRaceDetectorHasOneGoroutine(t *testing.T) {
	script, err := os.ReadFile("scripts/lab/real.sh")
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^single='(.*)'$`).FindSubmatch(script)
	if line == nil {
		t.Fatal("scripts/lab/real.sh has no line single='…', which names the packages")
	}
	single := regexp.MustCompile(string(line[1]))
	folders := map[string]bool{}
	for _, s := range sources(t, os.DirFS(".")) {
		folders[s.folder] = true
	}
	names, used := 0, map[string]bool{}
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		if !single.MatchString(module + "/" + folder) {
			continue
		}
		names++
		found, open := goroutines(t, folder, true)
		for seen := map[string]bool{folder: true}; len(open) > 0; {
			next := open[0]
			if open = open[1:]; seen[next] {
				continue
			}
			seen[next] = true
			if shared[next] != "" {
				used[next] = true
				continue
			}
			more, imports := goroutines(t, next, false)
			found, open = append(found, more...), append(open, imports...)
		}
		if len(found) > 0 {
			t.Errorf("%s is tested without the race detector (scripts/lab/real.sh, single), and a goroutine may be started in %s: test it with the detector",
				folder, strings.Join(found, ", "))
		}
	}
	if names < 20 {
		t.Errorf("only %d packages were looked at", names)
	}
	for folder := range shared {
		if !used[folder] {
			t.Errorf("none of them imports %s any more: take it out of shared", folder)
		}
	}
}
