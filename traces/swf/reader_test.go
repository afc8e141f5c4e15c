package swf

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// line is a job with 18 different numbers.
const line = "1 2 3 4 5 6.25 7 8 9 10 0 12 13 14 15 16 17 18"

var job = Record{
	Number: 1, Submit: 2, Wait: 3, Run: 4, Processors: 5, CPU: 6.25, UsedMemory: 7, RequestedProcessors: 8, RequestedTime: 9,
	RequestedMemory: 10, Status: 0, User: 12, Group: 13, Application: 14, Queue: 15, Partition: 16, Preceding: 17, Think: 18,
}

func TestFieldsAreInOrder(t *testing.T) {
	log, err := Read(strings.NewReader(line), "a.swf", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Record{job}, log.Records); diff != "" {
		t.Errorf("the record differs (-want +got):\n%s", diff)
	}
}

func TestStrictErrorsNameFileLineAndField(t *testing.T) {
	dashes := strings.Repeat(" -1", 15)
	for text, want := range map[string]string{
		"; x: y\n\n1 2 3":                  `a.swf:3: 3 fields; a job has 18`,
		line + " 19":                       `a.swf:1: 19 fields; a job has 18`,
		"1 0 x" + dashes:                   `a.swf:1: field 3 (wait time): "x" is no number; write -1 for what is unknown`,
		"1 0 1e" + dashes:                  `a.swf:1: field 3 (wait time): "1e" is no number; write -1 for what is unknown`,
		"1 0 --1" + dashes:                 `a.swf:1: field 3 (wait time): "--1" is no number; write -1 for what is unknown`,
		"1 0 NaN" + dashes:                 `a.swf:1: field 3 (wait time): "NaN" is no number; write -1 for what is unknown`,
		"1 0 0x10" + dashes:                `a.swf:1: field 3 (wait time): "0x10" is no number; write -1 for what is unknown`,
		"1 0 2.5" + dashes:                 `a.swf:1: field 3 (wait time): "2.5" is not a whole number`,
		"1 0 1000000000000000" + dashes:    `a.swf:1: field 3 (wait time): "1000000000000000" is out of range; at most 999999999999999`,
		"1 0 1e999" + dashes:               `a.swf:1: field 3 (wait time): "1e999" is out of range; at most 999999999999999`,
		"1 0 0 1 2147483648" + dashes[6:]:  `a.swf:1: field 5 (allocated processors): "2147483648" is out of range; at most 2147483647`,
		"1 0 0 1 -2147483648" + dashes[6:]: `a.swf:1: field 5 (allocated processors): "-2147483648" is out of range; at most 2147483647`,
		line + "\nx" + line[1:]:            `a.swf:2: "x" is no job number; a line is a job of 18 numbers, or begins with a semicolon`,
		"; EP: 7 4x1\n":                    `a.swf:1: job 7: evolution profile, column 3: "1" is not a duration above 0 and up to 3650 days: write 500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS`,
		"; EP: x 4x1h\n":                   `a.swf:1: "x" is no job number; write EP: 17 4x1h,8x30m`,
	} {
		_, err := Read(strings.NewReader(text), "a.swf", Options{Strict: true})
		var problem *Problem
		if !errors.As(err, &problem) || err.Error() != want {
			t.Errorf("%.60q: %v\nwant %s", text, err, want)
		}
	}
}

func TestProblemsAreReadAroundAndCounted(t *testing.T) {
	text := "1 10 2.5 -1\n" + // ends early; has a fraction
		"2 20 x 7 4e9 1 1 4 1e3 -1 1 1 1 1 1 1 1 1 99\n" + // no number; one out of range; an exponent; one field too many
		"three 30\n" +
		"; EP: 2 4x\n" +
		"; EP: 1 4x1h,8x30m\n"
	log, err := Read(strings.NewReader(text), "a.swf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range log.Records {
		got = append(got, fmt.Sprint(of(&r)))
	}
	want := []string{"[1 10 2 -1 -1 0 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1]", "[2 20 -1 7 -1 0 1 4 1000 -1 1 1 1 1 1 1 1 1]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the jobs differ (-want +got):\n%s", diff)
	}
	if len(log.EPs) != 1 || log.EPs[1].String() != "4x3600s,8x1800s" {
		t.Errorf("the profiles are %v", log.EPs)
	}
	warnings := `lines with fewer than 18 fields, the others taken as unknown: 1, first a.swf:1: 4 fields; a job has 18
lines with more than 18 fields, the others left out: 1, first a.swf:2: 19 fields; a job has 18
fields that are no numbers, taken as unknown: 1, first a.swf:2: field 3 (wait time): "x" is no number; write -1 for what is unknown
numbers out of range, taken as unknown: 1, first a.swf:2: field 5 (allocated processors): "4e9" is out of range; at most 2147483647
fractions of whole numbers, cut off: 1, first a.swf:1: field 3 (wait time): "2.5" is not a whole number
lines that are no jobs, left out: 1, first a.swf:3: "three" is no job number; a line is a job of 18 numbers, or begins with a semicolon
EP lines that say no profile, left out: 1, first a.swf:4: job 2: evolution profile, column 3: "" is not a duration above 0 and up to 3650 days: write 500s, 90m, 1h30m, 2d, MM:SS, HH:MM:SS or D-HH:MM:SS`
	if diff := cmp.Diff(warnings, log.Warnings.String()); diff != "" {
		t.Errorf("the warnings differ (-want +got):\n%s", diff)
	}
	if log.Warnings.Total() != 7 {
		t.Errorf("%d warnings", log.Warnings.Total())
	}
}

func TestLineEndsOfAllSystems(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r", " \t\r\n", "\n\n\r\r\n"} {
		text := "\xef\xbb\xbf; Computer: x" + end + line + end + "\t " + line + end + line // the last line has no end
		for name, in := range map[string]io.Reader{
			"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
			"with the error": iotest.DataErrReader(strings.NewReader(text)),
		} {
			r := NewReader(in, "a.swf", Options{Strict: true})
			var got Record
			for i := range 3 {
				if err := r.Next(&got); err != nil || got != job {
					t.Fatalf("lines that end in %q, read %s: job %d is %+v, %v", end, name, i, got, err)
				}
			}
			if err := r.Next(&got); !errors.Is(err, io.EOF) {
				t.Errorf("lines that end in %q, read %s: after the last: %v", end, name, err)
			}
			if value, _ := r.Header.Get("computer"); value != "x" {
				t.Errorf("lines that end in %q, read %s: the header is %q", end, name, r.Header.Lines)
			}
			ends := strings.Count(strings.ReplaceAll(text, "\r\n", "\n"), "\n") + strings.Count(strings.ReplaceAll(text, "\r\n", ""), "\r")
			if r.line != ends+1 {
				t.Errorf("lines that end in %q, read %s: %d lines, want %d", end, name, r.line, ends+1)
			}
		}
	}
}

func packed(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFileThatIsNoLogIsRefused(t *testing.T) {
	whole := packed(t, "; a: b\n"+strings.Repeat(line+"\n", 10_000))
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-6] ^= 1
	for name, c := range map[string]struct{ content, want string }{
		"empty.swf":     {"", "no workload log"},
		"blank.swf":     {"\n\n", "no workload log"},
		"prose.swf":     {"Dear reader,\nthis is no log.\n", "no workload log"},
		"long.swf":      {strings.Repeat("prose\n", 1000), "long.swf:100: no workload log"},
		"binary.swf":    {strings.Repeat("\x7fELF", MaxLine), "a line of more than"},
		"endless.swf":   {"; " + strings.Repeat("x", MaxLine), "endless.swf:1: a line of more than"},
		"truncated.swf": {string(whole[:len(whole)/2]), "truncated after this line; get it again"},
		"headless.swf":  {string(whole[:5]), "without a whole beginning"},
		"damaged.swf":   {string(damaged), "damaged after this line: gzip: invalid checksum"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadFile(path, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		if strings.Contains(c.want, "workload log") != errors.Is(err, ErrNotSWF) && !strings.Contains(c.want, "a line") {
			t.Errorf("%s: ErrNotSWF is matched: %v", name, errors.Is(err, ErrNotSWF))
		}
	}
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none.swf")} {
		if _, err := ReadFile(path, Options{}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestLogWithoutJobs(t *testing.T) {
	log, err := Read(strings.NewReader("; MaxProcs: 7\n"), "standard input", Options{Strict: true})
	if err != nil || len(log.Records) != 0 || log.Name != "standard input" {
		t.Errorf("%+v, %v", log, err)
	}
}

func TestConcatenatedCompressedLogsAreOneLog(t *testing.T) {
	text := append(packed(t, "; a: b\n"+line+"\n1 2"), packed(t, line[3:]+"\n"+line)...)
	log, err := Read(bytes.NewReader(text), "a.swf", Options{Strict: true})
	if err != nil || len(log.Records) != 3 || log.Records[1] != job {
		t.Errorf("%+v, %v", log, err)
	}
}

// A reader that fails in the middle returns the whole lines before the failure, and then its error.
func TestReadErrorIsNotTheEndOfTheLog(t *testing.T) {
	in := io.MultiReader(strings.NewReader(line+"\n"+line+"\n1 2 3"), iotest.ErrReader(errors.New("bad disk")))
	r := NewReader(in, "a.swf", Options{})
	var got Record
	for range 2 {
		if err := r.Next(&got); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Next(&got); err == nil || err.Error() != "read a.swf, after line 2: bad disk" {
		t.Errorf("%v", err)
	}
}

// words are fields as logs have them, and invalid ones.
var words = rapid.OneOf(
	rapid.SampledFrom([]string{
		"-1", "0", "1", "-1.00", "142.00", "552.21", "3.", ".5", "-", ".", "-.", "+4", "1e3", "1e400", "12.5", "x", "NaN", "0x1p3", "1_0",
		"999999999999999", "-999999999999999", "1000000000000000", "12345678901234567890", "2147483647", "2147483648", "-2147483648", "-2147483647",
		"0.000000000000001", "0000000000000000001", "000000000000001", ";", "1;", "-0", "--1", "1-", "123456789.123456", "99999999.99999999",
	}),
	rapid.Map(rapid.Int64(), func(n int64) string { return fmt.Sprint(n) }),
	rapid.Map(rapid.Int64Range(-2, 100000), func(n int64) string { return fmt.Sprint(n) }),
)

// texts are logs of such fields, mostly 18 per line.
var texts = rapid.Custom(func(t *rapid.T) string {
	var b strings.Builder
	for range rapid.IntRange(0, 12).Draw(t, "lines") {
		n := rapid.OneOf(rapid.Just(18), rapid.Just(18), rapid.IntRange(0, 20)).Draw(t, "fields")
		odd := rapid.IntRange(0, 40).Draw(t, "the only odd field; beyond 20 all may be")
		for f := range n {
			b.WriteString(rapid.SampledFrom([]string{" ", "  ", "\t", "   \t"}).Draw(t, "space"))
			if f == odd || odd > 20 {
				b.WriteString(words.Draw(t, "field"))
			} else {
				fmt.Fprint(&b, rapid.IntRange(-1, 100000).Draw(t, "plain field"))
			}
		}
		b.WriteString(rapid.SampledFrom([]string{"\n", "\r\n", "\r", " \n", "\t\n", " \v\n", "\n; Note: a\n"}).Draw(t, "end"))
	}
	return b.String()
})

// same fails the test if the fast reader and the naive one differ for a text.
func same(t rapid.TB, text string) {
	want, problems := naive(text)
	log, err := Read(strings.NewReader(text), "a.swf", Options{})
	if errors.Is(err, ErrNotSWF) && len(want) == 0 {
		return
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	if len(want)+len(log.Records) > 0 {
		if diff := cmp.Diff(want, log.Records); diff != "" {
			t.Errorf("%q: the naive reader differs (-want +got):\n%s", text, diff)
		}
	}
	got := log.Warnings.counts()
	got[BadProfile] = 0 // the naive reader does not check profiles
	if got != problems {
		t.Errorf("%q: problems by kind are %v, want %v", text, got, problems)
	}
	_, err = Read(strings.NewReader(text), "a.swf", Options{Strict: true})
	if (err != nil) != (log.Warnings.Total() > 0) {
		t.Errorf("%q: strictly %v, otherwise %v", text, err, &log.Warnings)
	}
}

func TestFastReaderEqualsNaiveReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { same(t, texts.Draw(t, "text")) })
}

func FuzzRead(f *testing.F) {
	f.Add("; Version: 2.2\n; EP: 1 4x1h,8x30m\n" + line + "\n")
	f.Add("1 0 588530    937  306 142.00    -1   -1  35100    -1  1  97  -1 307  3 -1 -1 -1\r\n1 2 3\r")
	f.Add("\x1f\x8b\x08\x00")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 || strings.HasPrefix(text, "\x1f\x8b") {
			_, _ = Read(strings.NewReader(text), "a.swf", Options{}) // it must not panic
			return
		}
		same(t, text)
	})
}

const oneJob = "1 0 0 10 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1\n"

func TestTooLongLineIsSkipped(t *testing.T) {
	for _, end := range []string{"\n", "\r\n"} {
		text := oneJob + "2 " + strings.Repeat("x", 3*MaxLine) + end + strings.Replace(oneJob, "1", "3", 1)
		log, err := Read(strings.NewReader(text), "a.swf", Options{})
		if err != nil || len(log.Records) != 2 || log.Records[1].Number != 3 || log.Warnings[NotJob].Count != 1 || log.Warnings[NotJob].First.Line != 2 {
			t.Errorf("%q: %v, %+v", end, err, log)
		}
		if _, err := Read(strings.NewReader(text), "a.swf", Options{Strict: true}); err == nil || !strings.HasPrefix(err.Error(), `a.swf:2: "2 xxx`) {
			t.Errorf("%q, strictly: %v", end, err)
		}
	}
	log, err := Read(strings.NewReader(oneJob+strings.Repeat("x", 2*MaxLine)), "a.swf", Options{})
	if err != nil || len(log.Records) != 1 || log.Warnings.Total() != 1 {
		t.Errorf("at the end: %v, %+v", err, log)
	}
}

func TestConcatenatedLogsAreOneLog(t *testing.T) {
	text := "\xef\xbb\xbf; MaxProcs: 8\n" + oneJob
	log, err := Read(strings.NewReader(text+text), "a.swf", Options{Strict: true})
	if err != nil || len(log.Records) != 2 || len(log.Header.All("MaxProcs")) != 2 {
		t.Errorf("%v, %+v", err, log)
	}
}

func TestOtherCompressionsAreReadOrRefused(t *testing.T) {
	var zst bytes.Buffer
	w, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, oneJob)
	w.Close()
	path := filepath.Join(t.TempDir(), "KTH.swf.zst")
	if err := os.WriteFile(path, zst.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := ReadFile(path, Options{})
	if err != nil || len(log.Records) != 1 || log.Name != "KTH" {
		t.Errorf("%v: %+v", err, log)
	}
	_, err = Read(strings.NewReader("\xfd7zXZ\x00\x00\x04"), "KTH.swf.xz", Options{})
	if err == nil || err.Error() != "read KTH.swf.xz: it is compressed by xz, which is not read here; convert it first, as in: xz -dc FILE" {
		t.Errorf("xz: %v", err)
	}
	for name, is := range map[string]bool{"a.swf": true, "a.swf.gz": true, "b/a.swf.bz2": true, "a.swf.zst": true, "a.swf.xz": true, "a.txt": false, "a.txt.gz": false, "swf": false} {
		if IsName(name) != is {
			t.Errorf("%s: %v", name, !is)
		}
	}
}
