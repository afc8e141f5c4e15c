package mutants

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var mutantsFlag = flag.Bool("accordion.mutants", false, "build each mutant, and expect its test to be red (test EveryMutantDies)")

const root = "../.."

// A mutant is a fault that a test must find.
type mutant struct {
	name     string
	row      string   // a row of docs/reliability.md whose guarantee is otherwise checked by labs; "" if there is none
	file     string   // the file that the mutant changes
	test     []string // the package, the test, and its arguments
	old, new string
}

// read parses mutants.txt. A mutant begins with "== NAME". Then come the lines "row", "file" and "test". The
// removed text follows "--- ", and the added text follows "+++ ".
func read(t *testing.T) (all []*mutant) {
	t.Helper()
	text, err := os.ReadFile("mutants.txt")
	if err != nil {
		t.Fatal(err)
	}
	var into *string
	for line := range strings.Lines(string(text)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch {
		case word == "==":
			all, into = append(all, &mutant{name: rest}), nil
		case len(all) == 0 || into == nil && (word == "" || word == "#"):
		case word == "---":
			into = &all[len(all)-1].old
		case word == "+++":
			into = &all[len(all)-1].new
		case into != nil:
			*into += line
		case word == "row":
			all[len(all)-1].row = rest
		case word == "file":
			all[len(all)-1].file = rest
		case word == "test":
			all[len(all)-1].test = strings.Fields(rest)
		default:
			t.Fatalf("mutants.txt: %q is no part of a mutant", line)
		}
	}
	for _, m := range all {
		m.old, m.new = strings.TrimRight(m.old, "\n"), strings.TrimRight(m.new, "\n")
	}
	return all
}

// changed returns the text of the mutant's file with the fault.
func (m *mutant) changed() ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(m.old)); n != 1 || m.old == "" {
		return nil, fmt.Errorf("what it takes out is in %s %d times, and should be once:\n%s", m.file, n, m.old)
	}
	return bytes.Replace(text, []byte(m.old), []byte(m.new), 1), nil
}

// TestEveryMutantFits checks that each mutant can be applied, and that its row and its test exist.
func TestEveryMutantFits(t *testing.T) {
	rows, err := os.ReadFile(filepath.Join(root, "docs/reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	names, ofRows := map[string]bool{}, map[string]bool{}
	for _, m := range read(t) {
		if _, err := m.changed(); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		if m.row != "" && !strings.Contains(string(rows), "\n| "+m.row) {
			t.Errorf("%s: docs/reliability.md has no row %q", m.name, m.row)
		}
		if len(m.test) < 2 || names[m.name] {
			t.Errorf("%s: %q: want a name of its own, a package and a test", m.name, m.test)
			continue
		}
		if out, err := exec.CommandContext(t.Context(), "grep", "-rqE", "^func "+strings.SplitN(m.test[1], "/", 2)[0]+`\(t`, filepath.Join(root, m.test[0]), "--include=*_test.go").CombinedOutput(); err != nil {
			t.Errorf("%s: %s has no %s: %v %s", m.name, m.test[0], m.test[1], err, out)
		}
		names[m.name] = true
		if m.row != "" {
			ofRows[m.row] = true
		}
	}
	if len(ofRows) < 20 {
		t.Errorf("%d rows of docs/reliability.md have a mutant, and 20 are to have one", len(ofRows))
	}
}

// TestEveryMutantDies builds each mutant, and expects that its test fails. The failure must be a message of the
// test, not a compiler error.
func TestEveryMutantDies(t *testing.T) {
	if !*mutantsFlag {
		t.Skip("takes some minutes: ask for it with -accordion.mutants")
	}
	for _, m := range read(t) {
		t.Run(m.name, func(t *testing.T) {
			text, err := m.changed()
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			other, overlay := filepath.Join(folder, filepath.Base(m.file)), filepath.Join(folder, "overlay.json")
			path, err := filepath.Abs(filepath.Join(root, m.file))
			if err != nil {
				t.Fatal(err)
			}
			replace, err := json.Marshal(map[string]any{"Replace": map[string]string{path: other}})
			if err != nil {
				t.Fatal(err)
			}
			for name, data := range map[string][]byte{other: text, overlay: replace} {
				if err := os.WriteFile(name, data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			args := append([]string{"test", "-vet=off", "-count=1", "-timeout=5m", "-overlay=" + overlay, "-run=^" + strings.ReplaceAll(m.test[1], "/", "$/^") + "$", m.test[0]}, m.test[2:]...)
			c := exec.CommandContext(t.Context(), "go", args...)
			c.Dir = root
			out, err := c.CombinedOutput()
			switch {
			case err == nil:
				t.Errorf("it survives %s in %s:\n%s", m.test[1], m.test[0], out)
			case !strings.Contains(string(out), "--- FAIL: Test") && !strings.Contains(string(out), "panic: test timed out") && !strings.Contains(string(out), "deadlock"):
				t.Errorf("its test was not run: %v\n%s", err, out)
			}
		})
	}
}
