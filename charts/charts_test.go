package charts

import (
	"strings"
	"testing"

	"accordion/core"
)

// A page without modules gets the content of the module as a script.
func TestScriptIsTheModuleWithoutImportsExportsAndComments(t *testing.T) {
	module, script := Module(), Script()
	for _, class := range []string{"class Gantt", "class Rects", "class View"} {
		if strings.Count(module, "\nexport "+class) != 1 || strings.Count(script, "\n"+class) != 1 {
			t.Errorf("%s is in the module %d times and in the script %d times", class, strings.Count(module, class), strings.Count(script, class))
		}
	}
	for _, word := range []string{"import ", "//", "\n\n", "\n "} {
		if strings.Contains(module, word) {
			t.Errorf("the module has %q", word)
		}
	}
	if strings.Contains(script, "export ") {
		t.Error("the script has exports")
	}
}

func TestBareKeepsTextsThatHaveSlashes(t *testing.T) {
	const script = "// about\nlet a = \"x//y\"; // why\n\n  // more\n  b(a / 2);\n"
	if got, want := Bare(script), "let a = \"x//y\";\nb(a / 2);\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A staircase is as high as the profile. It begins and ends at 0 nodes, and returns to 0 between spans that do not touch.
func TestStairs(t *testing.T) {
	x, y := Scale{0, 100, 0, 200}, Scale{0, 10, 100, 0}
	if got, want := Stairs(Spans(core.EP{{Duration: 50, Nodes: 2}, {Duration: 50, Nodes: 10}}, 0), x, y), "M0 100V80H100V0H200V100"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := Stairs([]Span{{0, 10, 2}, {20, 30, 1}}, x, y), "M0 100V80H20V100H40V90H60V100"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Stairs(nil, x, y); got != "" {
		t.Errorf("no profile is %s", got)
	}
}

func TestAxesHaveFewRoundNumbers(t *testing.T) {
	for _, high := range []float64{1, 7, 59, 61, 3000, 8100, 90_000, 1e6, 1e9} {
		times, counts := Scale{0, high, 0, 100}.Times(), Scale{0, high, 0, 100}.Counts()
		for _, all := range [][]Tick{times, counts} {
			if len(all) < 2 || len(all) > 7 || all[0].Text != "0" || all[len(all)-1].At > 100 {
				t.Errorf("up to %g: %v", high, all)
			}
		}
	}
}
