package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ran is a run in which tests were skipped because root, a Slurm or a flag was missing, and for another reason. One
// test was not skipped.
var ran = []record{
	{Package: "accordion/a", Test: "TestRoot", Result: "skip", Why: "needs root: this is not root"},
	{Package: "accordion/a", Test: "TestLab", Result: "skip", Why: "needs slurm: ./scripts/test --real"},
	{Package: "accordion/a", Test: "TestLong/part", Result: "skip", Why: "takes hours: -args -accordion.long"},
	{Package: "accordion/a", Test: "TestLong", Result: "pass"},
	{Package: "accordion/b", Test: "TestMoon", Result: "skip", Why: "the moon is full"},
	{Package: "accordion/b", Test: "TestLog", Result: "skip", Why: "needs published: it is not there"},
	{Package: "accordion/b", Test: "TestFine", Result: "pass"},
}

const written = listHead + "a TestLab slurm\na TestLong/part -accordion.long\na TestRoot root\nb TestLog published\nb TestMoon the moon is full\n"

// list writes a list of skips.
func list(t *testing.T, lines string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "skips")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTheListOfSkipsIsWritten(t *testing.T) {
	for name, before := range map[string]string{
		"from nothing":              "",
		"in place of an older one":  "a TestGone root\nb TestFine root\n",
		"as it is":                  written,
		"packages not tested stay":  "c TestOther oar\n",
		"with a comment, and words": "# more\na TestRoot this is another reason\n",
	} {
		file := list(t, before)
		if err := writtenTo(file)(nil, ran); err != nil {
			t.Fatal(err)
		}
		want := written
		if strings.HasPrefix(before, "c ") {
			want += before
		}
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, text, want)
		}
	}
}

func TestASkipThatIsNotListedIsFound(t *testing.T) {
	for name, c := range map[string]struct{ list, want string }{
		"all are listed":                              {written, ""},
		"one begins to be skipped":                    {strings.Replace(written, "b TestMoon the moon is full\n", "", 1), "begins to be skipped: b TestMoon: the moon is full\n"},
		"a part of a test that is listed":             {strings.Replace(written, "TestLong/part", "TestLong", 1), "is not skipped any more: a TestLong, for want of -accordion.long\n"},
		"one is gone":                                 {written + "b TestGone root\n", "is gone: b TestGone\n"},
		"one of a package that was not tested":        {written + "c TestOther oar\n", ""},
		"one runs that the machine has what it needs": {written + "b TestFine root\n", ""},
		"one runs that the first level never has":     {written + "b TestFine slurm\n", "is not skipped any more: b TestFine, for want of slurm\n"},
	} {
		var out strings.Builder
		err := comparedWith(list(t, c.list))(&out, ran)
		if out.String() != c.want || (err != nil) != (c.want != "") {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, out.String(), c.want)
		}
	}
	if err := comparedWith(list(t, "a TestRoot\n"))(nil, ran); err == nil || !strings.Contains(err.Error(), `not "a TestRoot\n"`) {
		t.Errorf("a line of two words: %v", err)
	}
}

func TestWhatIsLeftOutIsOneLine(t *testing.T) {
	var out strings.Builder
	if err := printLeft(&out, ran); err != nil {
		t.Fatal(err)
	}
	const want = "left out: the race detector, lint, 9,000 seeds, and 3 tests for want of root 1, slurm 1, the moon is full 1: ./scripts/test --real; " +
		"2 that are run on request: --long, -accordion.seed=N\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}
