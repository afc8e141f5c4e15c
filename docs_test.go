package accordion_test

import (
	"context"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/adapter/config"
	"accordion/adapter/metrics"
)

var (
	links     = regexp.MustCompile(`\]\(([^)#:]+)\)`)
	testNames = regexp.MustCompile(`\bTest[A-Z]\w+`)
	rooms     = regexp.MustCompile("`([a-z/]+)`: ")
)

func guides(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, pattern := range []string{"*.md", "docs/*.md", "examples/*/*.md"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			texts[file] = string(text)
		}
	}
	if len(texts) < 5 {
		t.Fatalf("only %d guides found", len(texts))
	}
	return texts
}

func TestTheGuidesLinkToFilesThatExist(t *testing.T) {
	for file, text := range guides(t) {
		for _, link := range links.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), link[1])); err != nil {
				t.Errorf("%s links to %s: %v", file, link[1], err)
			}
		}
	}
}

// TestTheContentsNameEachGuideOnce checks that docs/README.md lists each guide once. Its order is the order in which
// guides are meant to be read, and the order of the pages on the site.
func TestTheContentsNameEachGuideOnce(t *testing.T) {
	all := guides(t)
	named := map[string]int{}
	for _, link := range links.FindAllStringSubmatch(all["docs/README.md"], -1) {
		named[filepath.Join("docs", link[1])]++
	}
	for file := range all {
		if file != "docs/README.md" && named[file] != 1 {
			t.Errorf("docs/README.md names %s %d times: give it its place, once, in the order of reading", file, named[file])
		}
	}
}

func TestEveryFaultOfTheReliabilityGuideIsShownByATestThatExists(t *testing.T) {
	for line := range strings.Lines(guides(t)["docs/reliability.md"]) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"); strings.HasPrefix(line, "|") &&
			(len(cells) != 4 || slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" })) {
			t.Errorf("not a fault, what a user sees, what is guaranteed, and the tests: %s", line)
		}
	}
	checkNamedTests(t, "docs/reliability.md")
}

// Each row of the tables of attacks and limits is complete, and in only one of the tables.
func TestEveryAttackOfTheSecurityGuideIsShownByATestThatExists(t *testing.T) {
	width, seen := 0, map[string]bool{}
	for line := range strings.Lines(guides(t)["docs/security.md"]) {
		if !strings.HasPrefix(line, "|") {
			width = 0
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		switch {
		case width == 0:
			width = len(cells)
			if first := strings.TrimSpace(cells[0]); first != "attack" && first != "limit" {
				t.Errorf("a row without its table: %s", line)
			}
		case seen[cells[0]] && !strings.HasPrefix(line, "|---"):
			t.Errorf("a row is there twice: %s", line)
		case len(cells) != width || slices.ContainsFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "" }):
			t.Errorf("a row has not the %d cells of its table: %s", width, line)
		default:
			seen[cells[0]] = true
		}
	}
	checkNamedTests(t, "docs/security.md")
}

// checkNamedTests reports an error for each test that a guide names but that does not exist in the package named with it.
func checkNamedTests(t *testing.T, guide string) {
	t.Helper()
	shown := 0
	for line := range strings.Lines(guides(t)[guide]) {
		at := rooms.FindAllStringSubmatchIndex(line, -1)
		if len(at) == 0 && testNames.MatchString(line) {
			t.Errorf("tests without a room: %s", line)
		}
		for i, room := range at { // the package's tests are listed between its name and the name of the next package
			end := len(line)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			folder, source := line[room[2]:room[3]], ""
			for _, name := range testNames.FindAllString(line[room[1]:end], -1) {
				if source == "" {
					source = testsOf(t, folder)
				}
				shown++
				if !strings.Contains(source, "func "+name+"(t *testing.T)") {
					t.Errorf("%s names %s in %s, which has no such test", guide, name, folder)
				}
			}
		}
	}
	if shown < 10 {
		t.Errorf("%s names only %d tests", guide, shown)
	}
}

func TestTheAdministratorGuideNamesTheMetrics(t *testing.T) {
	m := metrics.New(time.Now)
	m.Call("observe", time.Second, context.DeadlineExceeded)
	m.Grew(time.Second, "")
	m.Broke("lost node")
	a := metrics.NewApplications()
	a.Frame("in", "hello", 1)
	a.FailedPreparation("a", "nodes are busy")
	m.Serves(a)
	m.WatchJournal("sidecar", func() int64 { return 0 })
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	served := map[string]bool{}
	for line := range strings.Lines(answer.Body.String()) {
		if words := strings.Fields(line); len(words) > 2 && words[1] == "TYPE" && strings.HasPrefix(words[2], "accordion_") {
			served[words[2]] = true
		}
	}
	named := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(accordion_[a-z_]+)").FindAllStringSubmatch(guides(t)["docs/administrator.md"], -1) {
		named[row[1]] = true
	}
	if !maps.Equal(served, named) || len(served) < 9 {
		t.Errorf("served are %v, the guide's table names %v", slices.Sorted(maps.Keys(served)), slices.Sorted(maps.Keys(named)))
	}
}

func TestTheAdministratorGuideNamesTheDefaultPlaces(t *testing.T) {
	guide, c := guides(t)["docs/administrator.md"], config.Default()
	for _, place := range []string{config.DefaultPath, c.Journal.Path, c.Session.Socket} {
		if !strings.Contains(guide, "`"+place+"`") {
			t.Errorf("docs/administrator.md does not name %s", place)
		}
	}
}

// testsOf returns the source of a folder's tests.
func testsOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(folder + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var source strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
	}
	return source.String()
}
