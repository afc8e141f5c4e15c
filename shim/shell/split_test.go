package shell

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCommandsAreSplitAndNotExpanded(t *testing.T) {
	for text, want := range map[string][]string{
		"":                               nil,
		"  sbatch  -p main\tjob.sh ":     {"sbatch", "-p", "main", "job.sh"},
		`oarsub -l "nodes=2, x" './a b'`: {"oarsub", "-l", "nodes=2, x", "./a b"},
		`a\ b "c\"d\e" ''`:               {"a b", `c"d\e`, ""},
		`$HOME *.sh ; # no`:              {"$HOME", "*.sh", ";", "#", "no"},
		"a'b'\"c\"d":                     {"abcd"},
		"a\\\nb":                         {"ab"},
	} {
		got, err := Split(text)
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%q: %v\n%s", text, err, d)
		}
	}
	for _, text := range []string{"'a", `"a`, `a\`, `"a\"`} {
		if got, err := Split(text); err == nil {
			t.Errorf("%q is split into %q", text, got)
		}
	}
}

func TestWhatIsQuotedIsOneWordAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var quoted []string
		words := rapid.SliceOf(rapid.StringMatching("[ -~\n\té]*")).Draw(t, "words")
		for _, w := range words {
			quoted = append(quoted, Quote(w))
		}
		got, err := Split(strings.Join(quoted, " "))
		if err != nil || len(got) != len(words) || strings.Join(got, "\x00") != strings.Join(words, "\x00") {
			t.Fatalf("%q became %q, %v", words, got, err)
		}
	})
}

// A real shell splits the same where there is nothing to expand.
func TestAShellSplitsTheSame(t *testing.T) {
	for _, text := range []string{`a "b c"  d\ e`, `'x y' "\\z" "a\b" ''`, `a'b'"c"`} {
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+text).Output()
		if err != nil {
			t.Fatal(err)
		}
		words, err := Split(text)
		if got := strings.Join(words, "\x00") + "\x00"; err != nil || got != string(out) {
			t.Errorf("%s: %q, %v; the shell makes %q of it", text, got, err, out)
		}
	}
}
