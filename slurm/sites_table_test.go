package slurm_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"accordion/slurm/growth"
)

var rewrite = flag.Bool("accordion.write", false, "write the golden tables of settings anew; read them before you commit them")

// A row is the result of one setting on one release. A table has a row for each setting.
type row struct {
	Setting string      `json:"setting"`
	Plain   bool        `json:"plain,omitempty"`
	Auto    growth.Kind `json:"auto"`              // how jobs grow according to preflight
	Refused string      `json:"refused,omitempty"` // why preflight refuses to serve and tries no way to grow
	Ways    []result    `json:"ways,omitempty"`
}

// A result is the outcome of one way to grow.
type result struct {
	Way   growth.Kind `json:"way"`
	Works bool        `json:"works"`
	Bound bool        `json:"bound,omitempty"` // whether each task had a CPU of its own
	Why   string      `json:"why,omitempty"`   // why the way fails, or why Accordion does not try it
	Slurm string      `json:"slurm,omitempty"` // Slurm's message when the way is tried by hand, or ""
}

type table []row

func (r row) same(o row) bool { return reflect.DeepEqual(r, o) }

// releases are the releases of the table; testdata has the results of each.
var releases = []string{"20.11", "22.05", "24.11", "26.05"}

const guide = "../docs/slurm-sites.md"

func tablePath(release string) string { return filepath.Join("testdata", release, "sites.json") }

func readTable(t *testing.T, release string) table {
	t.Helper()
	text, err := os.ReadFile(tablePath(release))
	if os.IsNotExist(err) && *rewrite {
		return nil
	}
	var all table
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func writeTable(t *testing.T, release string, seen table) {
	t.Helper()
	var text strings.Builder
	coder := json.NewEncoder(&text)
	coder.SetEscapeHTML(false)
	coder.SetIndent("", "\t")
	err := coder.Encode(seen)
	if err == nil {
		err = os.WriteFile(tablePath(release), []byte(text.String()), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The guide's table must agree with the results that were recorded on real Slurms.
func TestTheGuideHasTheTableOfSettings(t *testing.T) {
	var all []table
	for _, release := range releases {
		all = append(all, readTable(t, release))
	}
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- the table of settings -->\n", "<!-- its end -->\n"
	head, rest, ok1 := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok1 || !ok2 {
		t.Fatalf("%s: no place for the table between %q and %q", guide, begin, end)
	}
	want := head + begin + printed(all) + end + tail
	switch {
	case want == string(text):
	case *rewrite:
		if err := os.WriteFile(guide, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s does not show what was seen: go test ./slurm -run %s -args -accordion.write", guide, t.Name())
	}
}

// printed returns the table of all releases. Below the table it lists the reasons to which the letters in the table
// refer.
func printed(all []table) string {
	var text, reasons strings.Builder
	text.WriteString("| setting | growth by | " + strings.Join(releases, " | ") + " |\n|---|---|" + strings.Repeat("---|", len(releases)) + "\n")
	var known []string
	letter := func(reason string) string {
		i := slices.Index(known, reason)
		if i < 0 {
			i = len(known)
			known = append(known, reason)
			fmt.Fprintf(&reasons, "- **%d** %s\n", i+1, reason)
		}
		return fmt.Sprint(i + 1)
	}
	for i, s := range settings {
		name := s.name
		for w, way := range []growth.Kind{growth.Merge, growth.Overlap, growth.Companions} {
			fmt.Fprintf(&text, "| %s | %s |", name, way)
			name = ""
			for _, seen := range all {
				cell := " ? |"
				if i < len(seen) {
					cell = " " + seen[i].cell(w, letter) + " |"
				}
				text.WriteString(cell)
			}
			text.WriteString("\n")
		}
	}
	return text.String() + "\n" + reasons.String()
}

// cell returns the table cell of one way under one setting on one release.
func (r row) cell(way int, letter func(string) string) string {
	if r.Refused != "" {
		return "no, " + letter("Accordion refuses to serve: "+r.Refused)
	}
	w := r.Ways[way]
	word := "yes"
	if w.Bound {
		word = "bound"
	}
	switch {
	case w.Works && r.Auto == w.Way:
		return "**" + word + "**"
	case w.Works:
		return word
	case w.Slurm == "":
		return "no, " + letter(w.Why)
	}
	doing, complaint, _ := strings.Cut(w.Slurm, ": ")
	return "no, " + letter(fmt.Sprintf("%s. `%s` says: %q", w.Why, tool(doing), complaint))
}

// tool returns the command that carries out a part of a growth.
func tool(doing string) string {
	switch doing {
	case "merge":
		return "scontrol update NumNodes=0"
	case "shrink":
		return "scontrol update NodeList="
	case "again":
		return "scontrol update"
	}
	return doing
}
