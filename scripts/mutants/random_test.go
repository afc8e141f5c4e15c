package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

var (
	randomFlag = flag.String("accordion.random", "", "folders of packages, with commas between them, in which random mutants are made (test MostRandomMutantsDie)")
	judgesFlag = flag.String("accordion.judges", "", "packages whose tests judge random mutants, with commas between them; empty: the mutant's own")
	countFlag  = flag.Int("accordion.count", 30, "how many random mutants are made in each package")
	seedFlag   = flag.Uint64("accordion.seed", 0, "seed of random mutants; 0: one that is drawn, and printed")
	leastFlag  = flag.Int("accordion.least", 75, "percentage of random mutants of a package that have to die")
)

// An edit is a random mutant. It changes some bytes of one file.
type edit struct {
	file     string // path from the root of the project
	line     int
	kind     string
	from, to int // offsets in the file
	text     string
}

// String formats the edit for the list of survivors.
func (e edit) String() string {
	return fmt.Sprintf("%s:%d %s: %s", e.file, e.line, e.kind, strings.Join(strings.Fields(e.text), " "))
}

// swaps holds the operators that can replace each operator.
var swaps = map[token.Token][]token.Token{
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
}

// edits returns every random mutant of a package's files. Some of them do not compile.
func edits(t *testing.T, folder string) (all []edit) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("folder %s: no Go files: %v", folder, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, editsOf(t, filepath.ToSlash(filepath.Join(folder, filepath.Base(path))), text)...)
	}
	return all
}

// editsOf returns every random mutant of one file.
func editsOf(t *testing.T, file string, text []byte) (all []edit) {
	t.Helper()
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	at := func(p token.Pos) int { return set.Position(p).Offset }
	add := func(kind string, from, to token.Pos, replacement string) {
		all = append(all, edit{file, set.Position(from).Line, kind, at(from), at(to), replacement})
	}
	source := func(n ast.Node) string { return string(text[at(n.Pos()):at(n.End())]) }
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.CONST || n.Tok == token.VAR
		case *ast.BinaryExpr:
			for _, other := range swaps[n.Op] {
				add("operator", n.Pos(), n.End(), source(n.X)+" "+other.String()+" "+source(n.Y))
			}
		case *ast.IfStmt:
			add("condition negated", n.Cond.Pos(), n.Cond.End(), "!("+source(n.Cond)+")")
		case *ast.BasicLit:
			if number, err := strconv.ParseInt(n.Value, 0, 64); n.Kind == token.INT && err == nil {
				add("constant", n.Pos(), n.End(), fmt.Sprint(number+1))
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.BranchStmt, *ast.DeferStmt:
			add("statement dropped", n.Pos(), n.End(), "/* "+strings.ReplaceAll(source(n), "*/", "")+" */")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				add("statement dropped", n.Pos(), n.End(), "/* "+strings.ReplaceAll(source(n), "*/", "")+" */")
			}
		case *ast.FuncDecl:
			if n.Body != nil {
				add("returns at once", n.Body.Lbrace+1, n.Body.Lbrace+1, " "+earlyReturn(n.Type, source)+"; ")
			}
		}
		return true
	})
	return all
}

// earlyReturn returns a statement that leaves a function with the zero values of its results.
func earlyReturn(f *ast.FuncType, source func(ast.Node) string) string {
	if f.Results == nil {
		return "if true { return }"
	}
	var zero []string
	for _, result := range f.Results.List {
		for range max(1, len(result.Names)) {
			zero = append(zero, "*new("+source(result.Type)+")")
		}
	}
	return "if true { return " + strings.Join(zero, ", ") + " }"
}

// A `fate` is the result of a random mutant.
type fate int

const (
	survived fate = iota
	died
	unbuilt // the mutant does not compile, and does not count
)

// judge runs tests with the edit. The mutant dies if a test fails, hangs or leaves its process running.
func (e edit) judge(t *testing.T, judges []string) fate {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, e.file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	other, overlay := filepath.Join(folder, filepath.Base(e.file)), filepath.Join(folder, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: other}})
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Concat(text[:e.from], []byte(e.text), text[e.to:])
	for name, data := range map[string][]byte{other: changed, overlay: replace} {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "go", append([]string{"test", "-vet=off", "-count=1", "-short", "-failfast", "-timeout=60s", "-overlay=" + overlay}, judges...)...)
	c.Dir = root
	out, err := c.CombinedOutput()
	switch {
	case bytes.Contains(out, []byte("[build failed]")) || bytes.Contains(out, []byte("[setup failed]")):
		return unbuilt
	case err != nil:
		return died
	}
	return survived
}

// TestMostRandomMutantsDie draws mutants of packages, and expects that tests without a lab fail for most of them.
// It prints the seed, the rate of each package, and each survivor.
func TestMostRandomMutantsDie(t *testing.T) {
	if *randomFlag == "" {
		t.Skip("takes some minutes: ask for it with -accordion.random=FOLDER,…")
	}
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-accordion.seed=%d", seed)
	for folder := range strings.SplitSeq(*randomFlag, ",") {
		judges := []string{"./" + folder}
		if *judgesFlag != "" {
			judges = strings.Split(*judgesFlag, ",")
		}
		all := edits(t, folder)
		order := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))
		begun, counted, dead := time.Now(), 0, 0
		for _, i := range order {
			if counted == *countFlag {
				break
			}
			switch all[i].judge(t, judges) {
			case unbuilt:
				continue
			case died:
				dead++
			case survived:
				t.Logf("%s: survivor: %s", folder, all[i])
			}
			counted++
		}
		if counted == 0 {
			t.Errorf("%s: no mutant of %d compiles", folder, len(all))
			continue
		}
		rate := 100 * dead / counted
		t.Logf("%s: %d of %d mutants died (%d %%) in %s; there are %d", folder, dead, counted, rate, time.Since(begun).Round(time.Second), len(all))
		if rate < *leastFlag {
			t.Errorf("%s: %d %% of random mutants died, and %d %% have to", folder, rate, *leastFlag)
		}
	}
}
