// Package accordion_test keeps the house in order: who may import whom (ARCHITECTURE.md, "Doors").
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

// doors says what a folder may import of the project: a folder, or one and all that are in it ("core/..."). A folder
// goes by its own line, else by the line of the nearest folder around it that ends in "...". One that has none has no
// door: whoever builds it decides here who may enter.
var doors = map[string][]string{
	"core/...":                  {"core/..."}, // and coreOrder
	"traces/...":                {"traces/...", "core/..."},
	"traces/advise":             {"core/..."},
	"traces/advise/archive":     {"core", "traces/advise", "traces/input", "traces/swf"},
	"traces/advise/whatif":      {"core", "traces/advise", "traces/model", "traces/replay", "traces/swf", "traces/workload"},
	"shim/application":          {"shim/...", "core", "core/hostlist", "core/mold"},
	"shim/selector":             {"shim/...", "core", "core/mold", "core/profile"},
	"shim/scontrol":             {"shim/...", "core/hostlist", "slurm/number"},
	"shim/seal/sealtest":        {"shim/...", "scripts/testenv"},
	"shim/...":                  {"shim/...", "core/hostlist"},
	"adapter":                   {"core/..."},
	"adapter/view":              {"adapter", "core/..."},
	"adapter/wait":              {"adapter", "adapter/view", "core/..."},
	"adapter/hosts":             {"adapter", "core/..."},
	"adapter/managed":           {"adapter", "adapter/hosts", "adapter/view", "core/...", "shim/wire"},
	"adapter/kinds":             {"adapter"},
	"adapter/plan":              {"adapter", "adapter/kinds", "adapter/managed", "adapter/part", "adapter/view", "core/..."},
	"adapter/act":               {"adapter", "adapter/fair", "adapter/journal", "core/..."},
	"adapter/decide":            {"adapter", "adapter/managed", "adapter/plan", "adapter/act", "adapter/show", "adapter/view", "core/...", "shim/wire"},
	"adapter/show":              {"adapter", "adapter/view", "adapter/managed", "adapter/plan", "adapter/act", "core/..."},
	"adapter/lease":             {"adapter", "adapter/act"},
	"adapter/gate":              {"adapter", "adapter/act"},
	"adapter/audit":             {"adapter", "adapter/journal", "adapter/release", "core/..."},
	"adapter/audit/collect":     {"adapter", "adapter/audit", "adapter/journal", "core"},
	"adapter/launchers":         {"adapter/session", "shim/seal", "shim/wire", "shim/wire/launcher", "shim/wire/packed"},
	"adapter/orders":            {"adapter", "adapter/fair", "adapter/managed", "adapter/plan", "adapter/act", "adapter/part", "core/..."},
	"adapter/sight":             {"core", "core/profile", "shim/wire/launcher"},
	"adapter/agenda":            {"core"},
	"adapter/clusters":          {"adapter", "adapter/part", "adapter/sight", "core", "shim/wire/launcher"},
	"adapter/application":       {"adapter", "adapter/clusters", "adapter/part", "core", "core/delegate", "core/mold", "shim/wire/launcher"},
	"adapter/applications":      {"adapter", "adapter/agenda", "adapter/application", "adapter/clusters", "adapter/part", "adapter/sight", "adapter/view", "core/...", "shim/wire/launcher"},
	"adapter/delegate":          {"adapter", "adapter/applications", "adapter/launchers", "adapter/part", "adapter/journal", "adapter/view", "core", "shim/wire/launcher"},
	"adapter/connlimit":         {},
	"adapter/folder":            {},
	"adapter/web":               {"adapter", "adapter/connlimit", "adapter/folder", "adapter/journal", "adapter/show", "adapter/status", "adapter/view", "core/..."},
	"adapter/...":               {"adapter/...", "core/...", "shim/seal", "shim/wire", "shim/wire/launcher"},
	"slurm/client":              {"adapter/fair"},
	"slurm/client/clienttest":   {"core/hostlist"},
	"oar/database/databasetest": {"oar/conf", "oar/database", "core"},
	"slurm/cluster":             {"slurm/client", "slurm/output", "slurm/jobs", "slurm/growth", "adapter", "core/..."},
	"slurm/resize":              {"slurm/client", "slurm/output", "slurm/jobs", "slurm/growth", "slurm/cluster", "adapter", "core/..."},
	"slurm/preflight":           {"slurm/output", "slurm/growth", "slurm/cluster", "adapter", "core/..."},
	"slurm/growth":              {"slurm/number", "slurm/output", "adapter", "core/..."},
	"slurm/limits":              {"slurm/number", "slurm/output", "adapter", "core/..."},
	"slurm/jobs":                {"slurm/client", "slurm/number", "slurm/output", "adapter", "core/..."},
	"slurm/jobs/jobstest":       {"slurm/output"},
	"slurm/output":              {"slurm/number", "adapter", "core/..."},
	"slurm/number":              {"core"},
	"slurm/output/outputtest":   nil,
	"slurm":                     {"slurm/...", "adapter", "adapter/hosts", "core/...", "traces/swf"},
	"slurm/sacct":               {"slurm/...", "adapter", "core/...", "traces/advise", "traces/input", "traces/swf"},
	"slurm/...":                 {"slurm/...", "adapter", "core/...", "traces/swf"},
	"oar/conf":                  {"core"},
	"oar/node":                  {"oar/conf", "adapter"},
	"oar/database":              {"oar/conf", "adapter", "core/..."},
	"oar/server":                {"oar/conf", "oar/database", "core"},
	"oar/tables":                {"oar/database", "core"},
	"oar/cpuset":                {"oar/conf", "oar/database", "oar/node", "oar/server", "oar/tables", "adapter", "core/..."},
	"oar/gantt":                 {"core/..."},
	"oar/history":               {"oar/conf", "oar/database", "core", "traces/advise"},
	"oar/pass":                  {"oar/conf", "oar/database", "oar/tables", "oar/gantt", "core/..."},
	"oar/hooks":                 {"oar/conf", "oar/database", "oar/node", "oar/server", "oar/tables", "oar/cpuset"},
	"oar/observe":               {"oar/conf", "oar/database", "oar/pass", "oar/tables", "adapter", "core/..."},
	"oar":                       {"oar/conf", "oar/database", "oar/tables", "oar/server", "oar/node", "oar/cpuset", "oar/observe", "adapter", "adapter/hosts", "core/..."},
	"oar/...":                   {"oar/...", "adapter", "core/...", "traces/swf"},
	"cmd/...":                   {"..."},
	"scripts/testenv":           {},
	"scripts/gains":             {"core/...", "traces/..."},
	"scripts/lab/pairs":         {"core/...", "traces/interval", "traces/replay", "traces/workload"},
	"scripts/...":               {"scripts/..."},
}

// alone are folders that import nothing of the project, not even of their own room.
var alone = []string{"core", "shim/wire"}

// coreOrder: a folder of core imports core and the folders before it, never backwards.
var coreOrder = []string{"", "hostlist", "heap", "profile", "evolve", "place", "mold", "adapt", "arrivals", "guard", "held", "waiting", "crowd", "queue", "adaptive", "patient", "promise", "policy", "order", "delegate"}

// impure is what would let the world into core: the clock, files, the network, other programs, logs.
var impure = []string{"context", "database", "io", "log", "net", "os", "plugin", "runtime", "sync", "syscall", "testing", "time", "unsafe"}

// source is a Go file that is shipped: tests may enter any room.
type source struct {
	file   string // slash-separated, from the root
	folder string
	*ast.File
}

func sources(t *testing.T, root fs.FS) []source {
	t.Helper()
	var all []source
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch base := path.Base(name); {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || base == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(base, ".go") || strings.HasSuffix(base, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
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
			panic(err) // the parser has checked it
		}
		all = append(all, p)
	}
	return all
}

// trespass says why a folder must not import a package; "" when it may.
func trespass(folder, imported string) string {
	room, inside, _ := strings.Cut(folder, "/")
	rest, ours := strings.CutPrefix(imported, module+"/")
	if room == "core" && !ours {
		return outside(imported)
	}
	switch {
	case imported == module:
		return "nothing imports the root"
	case !ours:
		return ""
	case slices.Contains(alone, folder):
		return folder + " imports nothing of the project"
	case room == "core":
		return backwards(inside, strings.TrimPrefix(strings.TrimPrefix(rest, "core"), "/"), rest)
	}
	allowed, known := door(folder)
	if !known {
		return "the folder " + folder + " has no door: decide in house_test.go what it may import"
	}
	for _, door := range allowed {
		tree, all := strings.CutSuffix(door, "...")
		if door == rest || all && strings.HasPrefix(rest+"/", tree) {
			return ""
		}
	}
	return fmt.Sprintf("%s may import only %s", folder, strings.Join(allowed, ", "))
}

// door is the line of doors by which a folder goes.
func door(folder string) (allowed []string, known bool) {
	if allowed, known = doors[folder]; known {
		return allowed, true
	}
	for around := folder; around != "."; around = path.Dir(around) {
		if allowed, known = doors[around+"/..."]; known {
			return allowed, true
		}
	}
	return nil, false
}

// backwards says why one folder of core must not import another.
func backwards(folder, other, imported string) string {
	if imported != "core" && !strings.HasPrefix(imported, "core/") {
		return "core imports nothing of the project outside core"
	}
	at := func(f string) int {
		f, _, _ = strings.Cut(f, "/")
		return slices.Index(coreOrder, f)
	}
	switch from, to := at(folder), at(other); {
	case from < 0 || to < 0:
		return "a folder of core has no rank: give it one in house_test.go"
	case from < to:
		return fmt.Sprintf("inside core the order is %s, never backwards", strings.Join(coreOrder[1:], ", "))
	}
	return ""
}

// outside says why core must not import a package that is not of the project.
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

func TestTheDoorsAreShut(t *testing.T) {
	found := map[string]bool{}
	for _, s := range sources(t, os.DirFS(".")) {
		room, _, _ := strings.Cut(s.folder, "/")
		found[room] = true
		if _, known := door(s.folder); !known && s.folder != "." {
			t.Errorf("%s: the folder %s has no door: decide in house_test.go what it may import", s.file, s.folder)
		}
		for _, imported := range s.imports() {
			if why := trespass(s.folder, imported); why != "" {
				t.Errorf("%s imports %s: %s", s.file, imported, why)
			}
		}
	}
	for _, room := range []string{"core", "adapter", "shim", "cmd"} {
		if !found[room] {
			t.Errorf("no source of %s was found: the test looked in the wrong place", room)
		}
	}
}

// The globals of math/rand/v2 are seeded by the system: a plan would differ from run to run. And a package variable that
// changes is state that no caller owns.
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

func TestTrespassing(t *testing.T) {
	for _, c := range []struct {
		folder, imported string
		may              bool
	}{
		{"core", "fmt", true},
		{"core", "time", false},
		{"core/queue", "os", false},
		{"core/queue", "os/exec", false},
		{"core/order", "math/rand/v2", true},
		{"core/order", "math/rand", false},
		{"core/queue", "github.com/spf13/cobra", false},
		{"core", "accordion/core/profile", false},
		{"core/profile", "accordion/core", true},
		{"core/queue", "accordion/core/evolve", true},
		{"core/evolve", "accordion/core/queue", false},
		{"core/unheard", "accordion/core", false},
		{"core/queue", "accordion/adapter", false},
		{"core/queue", "accordion/corelike", false},
		{"adapter", "accordion/adapter/journal", false},
		{"adapter/sidecar", "accordion/adapter/journal", true},
		{"adapter/embedded", "accordion/core/queue", true},
		{"adapter", "accordion/slurm", false},
		{"adapter", "accordion/shim", false},
		{"adapter", "accordion/shim/wire", false},
		{"adapter/session", "accordion/shim/seal", true},
		{"adapter/session", "accordion/shim/seal/sealtest", false},
		{"adapter", "accordion/shim/wire/more", false},
		{"shim", "accordion/core/hostlist", true},
		{"shim", "accordion/core", false},
		{"shim/wire", "accordion/core", false},
		{"shim/wire", "github.com/ugorji/go/codec", true},
		{"slurm", "accordion/adapter", true},
		{"slurm", "accordion/adapter/journal", false},
		{"slurm", "accordion/oar", false},
		{"slurm/sacct", "accordion/slurm", true},
		{"oar", "accordion/oar/observe", true},
		{"oar", "accordion/oar/pass", false},
		{"oar", "accordion/traces/replay", false},
		{"traces/replay", "accordion/core/queue", true},
		{"traces", "accordion/adapter", false},
		{"cmd/accordion", "accordion/slurm", true},
		{"cmd/accordion", "accordion", false},
		{"garage", "accordion/core", false},
	} {
		if why := trespass(c.folder, c.imported); (why == "") != c.may {
			t.Errorf("%s imports %s: %q", c.folder, c.imported, why)
		}
	}
}
