package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const events = `{"Action":"start","Package":"accordion/a"}
{"Action":"run","Package":"accordion/a","Test":"TestGood"}
{"Action":"output","Package":"accordion/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"accordion/a","Test":"TestGood","Output":"    a_test.go:3: of a test that passes\n"}
{"Action":"pass","Package":"accordion/a","Test":"TestGood","Elapsed":1.5}
{"Action":"output","Package":"accordion/a","Test":"TestBad","Output":"=== RUN   TestBad\n"}
{"Action":"output","Package":"accordion/a","Test":"TestBad","Output":"    a_test.go:7: it is bad\n"}
{"Action":"output","Package":"accordion/a","Test":"TestBad","Output":"--- FAIL: TestBad (3.00s)\n"}
{"Action":"fail","Package":"accordion/a","Test":"TestBad","Elapsed":3}
{"Action":"output","Package":"accordion/a","Test":"TestLong/part","Output":"    a_test.go:9: takes long: -args -accordion.long\n"}
{"Action":"output","Package":"accordion/a","Test":"TestLong/part","Output":"    --- SKIP: TestLong/part (0.00s)\n"}
{"Action":"skip","Package":"accordion/a","Test":"TestLong/part","Elapsed":0}
{"Action":"pass","Package":"accordion/a","Test":"TestBeside/one","Elapsed":2.5}
{"Action":"pass","Package":"accordion/a","Test":"TestBeside","Elapsed":0}
{"Action":"output","Package":"accordion/a","Test":"TestHangs","Output":"panic: it hangs\n"}
{"Action":"output","Package":"accordion/a","Output":"FAIL\taccordion/a\t5.0s\n"}
{"Action":"fail","Package":"accordion/a","Elapsed":5}
# accordion/b
{"Action":"output","Package":"accordion/c","Output":"PASS\n"}
{"Action":"output","Package":"accordion/c","Output":"ok  \taccordion/c\t0.1s\n"}
{"Action":"pass","Package":"accordion/c","Elapsed":0.1}
`

func TestWhatIsPrintedAndKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	for _, c := range []struct {
		name  string
		sum   summary
		files []string
		want  string
	}{
		{"results", nil, []string{file},
			"    a_test.go:7: it is bad\n--- FAIL: TestBad (3.00s)\nFAIL\taccordion/a\t5.0s\npanic: it hangs\n# accordion/b\nok  \taccordion/c\t0.1s\n"},
		{"slowest", slowestOf(1), []string{file}, "     3.0 s  a TestBad\n"},
		{"slowest of few", slowestOf(10), []string{file}, "     3.0 s  a TestBad\n     2.5 s  a TestBeside\n     1.5 s  a TestGood\n"},
		{"not run", printSkipped, []string{file, file + ".none"}, "NOT run: a TestLong/part: takes long: -args -accordion.long\n"},
		{"what failed", printFailed, []string{file}, "FAILED: a TestBad\n    a_test.go:7: it is bad\nFAILED: a TestHangs\npanic: it hangs\n"},
		{"all was run", printSkipped, []string{file + ".none"}, ""},
	} {
		var out strings.Builder
		if err := run(strings.NewReader(events), &out, c.sum, c.files); err != nil || out.String() != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, out.String(), c.want)
		}
	}
}

func TestTheBeginningOfEachMessageIsKept(t *testing.T) {
	journal := []string{"=== RUN   TestBad\n", "    a_test.go:7: the journal:\n", "        1\n", "        2\n", "        3\n",
		"    a_test.go:9: " + strings.Repeat("x", 2*mostOfALine) + "\n", "--- FAIL: TestBad (3.00s)\n"}
	want := []string{journal[1], journal[2], journal[3], journal[5][:mostOfALine] + "…\n"}
	if got := first(journal); !slices.Equal(got, want) {
		t.Errorf("kept\n%s\nwant\n%s", got, want)
	}
	var many []string
	for i := range 2 * mostLines {
		many = append(many, fmt.Sprintf("    a_test.go:%d: bad\n", i))
	}
	if got := first(many); !slices.Equal(got, many[:mostLines]) {
		t.Errorf("of many messages it kept\n%s", got)
	}
	script := []string{"    testscript.go:584: WORK=$WORK\n", "        PATH=/bin\n", "        > accordion replay\n", "        [stderr]\n",
		"        FAIL: testdata/replay.txtar:106: no match\n"}
	if got := first(script); !slices.Equal(got, []string{script[0], script[1], script[2], script[4]}) {
		t.Errorf("of a script it kept\n%s", got)
	}
	panics := []string{"panic: it hangs\n", "goroutine 1\n", "main.go:3\n", "main.go:4\n"}
	if got := first(panics); !slices.Equal(got, panics[:mostOfOne]) {
		t.Errorf("of a panic it kept\n%s", got)
	}
}

func TestAFileThatIsBrokenIsAnError(t *testing.T) {
	if err := run(strings.NewReader("{}"), &strings.Builder{}, printSkipped, []string{t.TempDir()}); err == nil {
		t.Error("a directory was read")
	}
	if err := run(nil, nil, nil, nil); err == nil {
		t.Error("no file was taken")
	}
}
