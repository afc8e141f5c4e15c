package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// recorder is a test that only records how it ended.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, args ...any) {
	r.end("skips: "+format, args)
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.end("fails: "+format, args)
}

// end records the first end, because a real test has only one.
func (r *recorder) end(format string, args []any) {
	if r.ended == "" {
		r.ended = fmt.Sprintf(format, args...)
	}
}

func TestATestIsSkippedOrFailsByItsLevel(t *testing.T) {
	lacks, has := Missing("moon", "it is not full"), Missing("moon", "")
	lab := Need{word: "moon", real: true, cause: func() string { return "" }}
	away := Need{word: "moon", real: true, cause: func() string { return "it is not full" }}
	for _, c := range []struct {
		level, own string
		need       Need
		want       string
	}{
		{"", "", lacks, "skips: needs moon: it is not full"},
		{"", "", has, ""},
		{"", "", lab, "skips: needs moon: ./scripts/test --real"},
		{"", "", away, "skips: needs moon: ./scripts/test --real"},
		{"bare", "", lacks, "skips: needs moon: a bare machine has none"},
		{"bare", "", has, "skips: needs moon: a bare machine has none"},
		{"bare", "", lab, "skips: needs moon: a bare machine has none"},
		{"real", "", lacks, "fails: needs moon: it is not full"},
		{"real", "", has, ""},
		{"real", "", lab, ""},
		{"real", "", away, "fails: needs moon: it is not full"},
		{"", "required", lab, ""},
		{"", "required", away, "fails: needs moon: it is not full"},
		{"", "wanted", lab, ""},
		{"", "wanted", away, "skips: needs moon: it is not full"},
		{"real", "wanted", away, "skips: needs moon: it is not full"},
	} {
		t.Setenv("ACCORDION_TEST", c.level)
		t.Setenv("ACCORDION_TEST_MOON", c.own)
		r := &recorder{TB: t}
		if Needs(r, c.need); r.ended != c.want {
			t.Errorf("level %q, own %q, %+v: %q, want %q", c.level, c.own, c.need, r.ended, c.want)
		}
	}
}

func TestLogsAreWhereTheVariableOrTheScriptPutsThem(t *testing.T) {
	t.Setenv("ACCORDION_TEST", "real")
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	cached, named := filepath.Join(home, "accordion", "traces"), t.TempDir()
	for _, folder := range []string{cached, named} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "a.swf.gz"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ variable, asked, file, folder, want string }{
		{"", "", "a.swf.gz", cached, ""},
		{named, "", "a.swf.gz", named, ""},
		{named, "", "b.swf.gz", named, "skips: needs logs: b.swf.gz is not in " + named + "; scripts/fetch-traces fetches it, and ACCORDION_TRACES names another folder"},
		{named, "required", "b.swf.gz", named, "fails: needs logs: b.swf.gz is not in " + named + "; scripts/fetch-traces fetches it, and ACCORDION_TRACES names another folder"},
		{named, "required", "lublin_256.swf.gz", named, "skips: needs published: lublin_256.swf.gz is not in " + named + ", and scripts/fetch-traces does not fetch it"},
	} {
		t.Setenv("ACCORDION_TRACES", c.variable)
		t.Setenv("ACCORDION_TEST_LOGS", c.asked)
		r := &recorder{TB: t}
		if folder := Logs(r, c.file); folder != c.folder || r.ended != c.want {
			t.Errorf("%q, %s: %s, %q, want %s, %q", c.variable, c.file, folder, r.ended, c.folder, c.want)
		}
	}
}
