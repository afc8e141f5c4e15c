// Package accordion_test checks which package may import which other (ARCHITECTURE.md, "Imports"). It also checks that the guides, and the
// texts in the root folder, agree with the code.
package accordion_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "accordion"

// mayImport lists what each top folder may import from other top folders: a folder, or a folder with all its subfolders ("core/...").
var mayImport = map[string][]string{
	"core":     {},
	"shim":     {"core/...", "slurm/number"},
	"charts":   {"core/..."},
	"traces":   {"core/...", "charts"},
	"adapter":  {"core/...", "charts", "shim/wire/...", "shim/seal"},
	"slurm":    {"adapter", "adapter/hostfile", "adapter/fair", "core/...", "traces/swf", "traces/advise", "traces/input"},
	"oar":      {"adapter", "adapter/hostfile", "core/...", "traces/swf", "traces/advise"},
	"cmd":      {"..."},
	"scripts":  {"core/...", "traces/..."},
	"internal": {"core/...", "traces/..."},
}

// testHelpers maps each package for tests to what it may import in addition to mayImport.
var testHelpers = map[string][]string{"shim/seal/sealtest": {"internal/testenv"}}

// order lists the subfolders of each top folder. A subfolder may import the ones listed before it, but none listed after it.
var order = map[string][]string{
	"core": {"", "hostlist", "profile", "ep", "place", "moldable", "sizing", "sched", "sizing/easy", "malleable", "policy", "order", "delegated"},
	"adapter": {"", "view", "hostfile", "fair", "connlimit", "folder", "lockfile", "journal", "journald", "systemd", "release",
		"managed", "plan", "actions", "status", "decide", "session", "readers", "audit",
		"config", "sidecar", "web", "metrics", "embedded", "sim",
		"delegated/mailbox", "delegated/orders", "delegated/server", "delegated/apps", "delegated/loop"}, // last, because everything else must build without these folders
}

// leaves are packages that import no other package of the project, not even one of their own top folder.
var leaves = []string{"core", "shim/wire", "adapter/connlimit", "adapter/folder", "internal/testenv"}

// pure are folders outside core that, like core, do no input or output: no files, no network, no other programs.
var pure = []string{"adapter/view", "adapter/status", "adapter/managed", "adapter/plan", "adapter/decide", "adapter/delegated/mailbox",
	"adapter/delegated/apps", "slurm/number", "slurm/growth", "oar/planner", "traces/advise"}

// impure lists what core must not import, because it gives access to the clock, files, the network, other programs or logs. Pure folders
// outside core may use a clock and a context, but nothing in outsideWorld.
var (
	impure       = []string{"context", "database", "io", "log", "net", "os", "plugin", "runtime", "sync", "syscall", "testing", "time", "unsafe"}
	outsideWorld = []string{"database", "net", "os", "plugin", "syscall"}
)

// source is a Go file that is not a test. Tests may import anything.
type source struct {
	file   string // slash-separated, from the root
	folder string
	*ast.File
}

func sources(t *testing.T, root fs.FS) []source {
	t.Helper()
	return goFiles(t, root, func(name string) bool { return !strings.HasSuffix(name, "_test.go") })
}

// goFiles returns the Go files whose names are wanted.
func goFiles(t *testing.T, root fs.FS, wanted func(name string) bool) []source {
	t.Helper()
	var all []source
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(base, ".go") || !wanted(base):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		all = append(all, source{file: name, folder: path.Dir(name), File: parsed})
		return nil
	})
	if err != nil {
		t.Fatalf("reading the sources: %v", err)
	}
	return all
}

func (s source) imports() []string {
	var all []string
	for _, i := range s.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			panic(err) // not reached, because the parser has checked the import path
		}
		all = append(all, p)
	}
	return all
}

// wrong returns why a folder must not import a package, or "" if it may.
func wrong(folder, imported string) string {
	top, inside, _ := strings.Cut(folder, "/")
	rest, ours := strings.CutPrefix(imported, module+"/")
	allowed, known := mayImport[top]
	otherTop, otherInside, _ := strings.Cut(rest, "/")
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case !known:
		return "the top folder " + top + " is not in mayImport of layering_test.go"
	case imported == module:
		return "nothing imports the root"
	case !ours && top == "core":
		return outside(imported)
	case !ours && slices.Contains(pure, folder) && slices.Contains(outsideWorld, first):
		return folder + " does no input or output"
	case !ours:
		return ""
	case slices.Contains(leaves, folder):
		return folder + " imports nothing of the project"
	case otherTop == top:
		return backwards(top, inside, otherInside)
	}
	for _, a := range slices.Concat(allowed, testHelpers[folder]) {
		tree, all := strings.CutSuffix(a, "...")
		if a == rest || all && strings.HasPrefix(rest+"/", tree) {
			return ""
		}
	}
	return fmt.Sprintf("%s may import of other top folders only %s", top, strings.Join(allowed, ", "))
}

// rank returns the position of a folder in the order of its top folder. A folder that order does not list has the position of its parent
// folder.
func rank(top, inside string) int {
	for {
		if at := slices.Index(order[top], inside); at >= 0 || inside == "" {
			return at
		}
		inside = strings.TrimPrefix(path.Dir(inside), ".")
	}
}

// backwards returns why a folder must not import another folder of the same top folder, or "" if it may.
func backwards(top, folder, other string) string {
	if order[top] == nil {
		return ""
	}
	from, to := rank(top, folder), rank(top, other)
	switch {
	case from == 0 && folder != "" || to == 0 && other != "":
		return "a folder of " + top + " has no place in the order: give it one in layering_test.go"
	case from < to:
		return fmt.Sprintf("inside %s the order is %s, never backwards", top, strings.Join(order[top][1:], ", "))
	}
	return ""
}

// outside returns why core must not import a package from outside the project, or "" if it may.
func outside(imported string) string {
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case strings.Contains(first, "."):
		return "core uses the standard library only"
	case imported == "math/rand":
		return "core draws random numbers from a generator that its caller seeded: math/rand/v2"
	case slices.Contains(impure, first):
		return "core is pure: no input or output, no wall clock, no goroutines, no logging"
	}
	return ""
}

func TestPackagesImportWhatTheyMay(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t, os.DirFS(".")) {
		top, _, _ := strings.Cut(s.folder, "/")
		found[top], found[s.folder] = true, true
		for _, imported := range s.imports() {
			if why := wrong(s.folder, imported); why != "" {
				t.Errorf("%s imports %s: %s", s.file, imported, why)
			}
		}
	}
	for top, folders := range order {
		for _, folder := range folders {
			if !found[path.Join(top, folder)] {
				t.Errorf("%s has no source: take it out of order", path.Join(top, folder))
			}
		}
	}
	for _, folder := range slices.Concat(leaves, pure) {
		if !found[folder] {
			t.Errorf("%s has no source: take it out of leaves or pure", folder)
		}
	}
	for top := range mayImport {
		if !found[top] {
			t.Errorf("no source of %s was found: the test looked in the wrong place", top)
		}
	}
}

// The top-level functions of math/rand/v2 use a random seed, so a plan that depended on them would differ from run to run. A package
// variable that changes is state that no caller controls.
func TestCoreHasNoHiddenState(t *testing.T) {
	generators := []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"}
	for _, s := range sources(t, os.DirFS(".")) {
		if s.folder != "core" && !strings.HasPrefix(s.folder, "core/") {
			continue
		}
		random := slices.Contains(s.imports(), "math/rand/v2")
		ast.Inspect(s.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				t.Errorf("%s starts a goroutine: core has none", s.file)
			case *ast.FuncDecl:
				if n.Name.Name == "init" && n.Recv == nil {
					t.Errorf("%s has an init function: core has no state to prepare", s.file)
				}
			case *ast.SelectorExpr:
				if pkg, ok := n.X.(*ast.Ident); ok && random && pkg.Name == "rand" && !slices.Contains(generators, n.Sel.Name) {
					t.Errorf("%s uses rand.%s: draw from a *rand.Rand that the caller seeded", s.file, n.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestWrongImportsAreFound(t *testing.T) {
	for _, c := range []struct {
		folder, imported string
		may              bool
	}{
		{"core", "fmt", true},
		{"core", "time", false},
		{"core/sched", "os", false},
		{"core/sched", "os/exec", false},
		{"core/order", "math/rand/v2", true},
		{"core/order", "math/rand", false},
		{"core/sched", "github.com/spf13/cobra", false},
		{"core", "accordion/core/profile", false},
		{"core/profile", "accordion/core", true},
		{"core/profile/list", "accordion/core/sched", false},
		{"core/sched", "accordion/core/ep", true},
		{"core/ep", "accordion/core/sched", false},
		{"core/unheard", "accordion/core", false},
		{"core/sched", "accordion/adapter", false},
		{"core/sched", "accordion/corelike", false},
		{"adapter", "accordion/adapter/journal", false},
		{"adapter/sidecar", "accordion/adapter/journal", true},
		{"adapter/sidecar", "accordion/adapter/embedded", false},
		{"adapter/plan", "accordion/adapter/actions", false},
		{"adapter/plan", "os", false},
		{"adapter/plan", "time", true},
		{"adapter/unheard", "accordion/adapter", false},
		{"adapter/embedded", "accordion/core/sched", true},
		{"adapter", "accordion/slurm", false},
		{"adapter", "accordion/shim", false},
		{"adapter/session", "accordion/shim/seal", true},
		{"adapter/session", "accordion/shim/seal/sealtest", false},
		{"shim", "accordion/core/hostlist", true},
		{"shim", "accordion/adapter", false},
		{"shim/wire", "accordion/core", false},
		{"shim/wire", "github.com/ugorji/go/codec", true},
		{"slurm", "accordion/adapter", true},
		{"slurm", "accordion/adapter/journal", false},
		{"slurm", "accordion/oar", false},
		{"slurm/sacct", "accordion/slurm/output", true},
		{"oar", "accordion/oar/observe", true},
		{"oar", "accordion/traces/replay", false},
		{"traces/replay", "accordion/core/sched", true},
		{"traces", "accordion/adapter", false},
		{"cmd/accordion", "accordion/slurm", true},
		{"cmd/accordion", "accordion", false},
		{"garage", "accordion/core", false},
	} {
		if why := wrong(c.folder, c.imported); (why == "") != c.may {
			t.Errorf("%s imports %s: %q", c.folder, c.imported, why)
		}
	}
}

// Experiments for papers, and searches for better queue orders, are for researchers. The sidecar's program must not contain them.
func TestTheSidecarDoesNotDependOnResearch(t *testing.T) {
	imports := map[string][]string{}
	for _, s := range sources(t, os.DirFS(".")) {
		for _, imported := range s.imports() {
			if rest, ours := strings.CutPrefix(imported, module+"/"); ours {
				imports[s.folder] = append(imports[s.folder], rest)
			}
		}
	}
	const serve = "cmd/accordion/serve"
	seen, open := map[string]bool{}, []string{serve}
	for len(open) > 0 {
		folder := open[0]
		if open = open[1:]; seen[folder] {
			continue
		}
		seen[folder], open = true, append(open, imports[folder]...)
		for _, research := range []string{"core/order", "traces/paper", "traces/replay", "traces/compare", "scripts"} {
			if folder == research || strings.HasPrefix(folder, research+"/") {
				t.Errorf("%s, which has accordion serve, depends on %s", serve, folder)
			}
		}
	}
	if !seen["adapter/sidecar"] {
		t.Errorf("%s does not depend on adapter/sidecar: the test looked in the wrong place", serve)
	}
}
