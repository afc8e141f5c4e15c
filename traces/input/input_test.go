package input

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"accordion/internal/testenv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// packed returns a text compressed by a program.
func packed(t *testing.T, text string, program ...string) string {
	t.Helper()
	testenv.Program(t, program[0])
	c := exec.CommandContext(t.Context(), program[0], program[1:]...)
	c.Stdin = strings.NewReader(text)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

func zstded(text string) string {
	var b bytes.Buffer
	w, _ := zstd.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return b.String()
}

func TestCompressedTextIsRead(t *testing.T) {
	const text = "some text\nof two lines\n"
	for name, in := range map[string]string{
		"plain":             text,
		"gzip":              gzipped(text),
		"two of gzip":       gzipped(text[:10]) + gzipped(text[10:]),
		"gzip in gzip":      gzipped(gzipped(text)),
		"zstd":              zstded(text),
		"a mark, gzip":      gzipped(mark + text),
		"a mark of UTF-8":   mark + text,
		"short":             text,
		"bzip2, by program": packed(t, text, "bzip2", "-c"),
	} {
		in, err := Open(strings.NewReader(in), "a.txt")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := io.ReadAll(in)
		in.Close()
		if string(got) != text || err != nil {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestUnsupportedFormIsNamedWithItsConverter(t *testing.T) {
	utf16 := func(text, mark string) string {
		for _, c := range text {
			mark += string(rune(c)) + "\x00"
		}
		return mark
	}
	for in, want := range map[string]string{
		"\xfd7zXZ\x00\x00\x04\xe6\xd6":                  "read a: it is compressed by xz, which is not read here; convert it first, as in: xz -dc FILE",
		"PK\x03\x04\x14\x00":                            "read a: it is a zip archive, which is not read here; convert it first, as in: unzip -p FILE",
		"7z\xbc\xaf\x27\x1c\x00\x04":                    "read a: it is a 7-Zip archive, which is not read here; convert it first, as in: 7z x -so FILE",
		"\x04\x22\x4d\x18":                              "read a: it is compressed by lz4, which is not read here; convert it first, as in: lz4 -dc FILE",
		"\x1f\x9d\x90":                                  "read a: it is compressed by compress, which is not read here; convert it first, as in: gzip -dc FILE",
		"LZIP\x01":                                      "read a: it is compressed by lzip, which is not read here; convert it first, as in: lzip -dc FILE",
		"Rar!\x1a\x07\x00":                              "read a: it is a RAR archive, which is not read here; convert it first, as in: unrar p -inul FILE",
		utf16("JobIDRaw|Submit\r\n", "\xff\xfe"):        "read a: it is text in UTF-16, which is not read here; convert it first, as in: iconv -f UTF-16 -t UTF-8 FILE",
		"\xfe\xff\x00J":                                 "read a: it is text in UTF-16, which is not read here; convert it first, as in: iconv -f UTF-16 -t UTF-8 FILE",
		utf16("JobIDRaw|Submit\n", ""):                  "read a: it is text in UTF-16, which is not read here; convert it first, as in: iconv -f UTF-16LE -t UTF-8 FILE",
		gzipped(strings.Repeat("x", 257) + "ustar"):     "read a: it is a tar archive, which is not read here; convert it first, as in: tar -xOf FILE",
		gzipped(gzipped(gzipped("x"))):                  "read a: it is compressed more than 2 times; unpack it first",
		"\x1f\x8bno":                                    "read a: it is compressed by gzip without a whole beginning: unexpected EOF",
		zstded("\xfd7zXZ\x00" + strings.Repeat("x", 9)): "read a: it is compressed by xz, which is not read here; convert it first, as in: xz -dc FILE",
	} {
		_, err := Open(strings.NewReader(in), "a")
		if err == nil || err.Error() != want {
			t.Errorf("%.20q: %v\nwant %s", in, err, want)
		}
	}
	for _, program := range [][]string{{"xz", "-c"}, {"lz4", "-c"}} {
		if _, err := exec.LookPath(program[0]); err != nil {
			continue
		}
		var wrong *FormError
		if _, err := Open(strings.NewReader(packed(t, "text\n", program...)), "a"); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", program[0], err)
		}
	}
}

func TestTruncatedTextEndsWithAnError(t *testing.T) {
	text := strings.Repeat("a line of some length\n", 500)
	for name, whole := range map[string]string{"gzip": gzipped(text), "zstd": zstded(text), "bzip2": packed(t, text, "bzip2", "-c")} {
		in, err := Open(strings.NewReader(whole[:len(whole)-12]), "a")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if _, err := io.ReadAll(in); err == nil || name != "bzip2" && !errors.Is(err, io.ErrUnexpectedEOF) || in.Compressed != name {
			t.Errorf("%s: %v, %q", name, err, in.Compressed)
		}
		in.Close()
	}
}

// lines returns the lines of a text as Lines reads them, with "!" before a line that is too long and "…" after one without an end.
func lines(t *testing.T, text string) (all []string) {
	t.Helper()
	l := NewLines(strings.NewReader(text))
	for {
		err := l.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		line := l.Text
		if l.Long {
			line = "!" + line[:4]
		}
		if !l.Ended {
			line += "…"
		}
		if all = append(all, line); l.Number != len(all) {
			t.Fatalf("line %d has number %d", len(all), l.Number)
		}
	}
}

func TestLinesEndLikeTheFirstOne(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
	for text, want := range map[string][]string{
		"":                                   nil,
		"a\nb\n":                             {"a", "b"},
		"a\r\nb\r\n":                         {"a", "b"},
		"a\rb\r":                             {"a", "b"},
		"a\rb":                               {"a", "b…"},
		"a\rb\nc\rd\r":                       {"a", "b\nc", "d"},
		"a\nb\rc\nd":                         {"a", "b\rc", "d…"}, // a CR in a name
		"a\r\r\nb\r\r\n":                     {"a", "b"},
		"\n\na\n":                            {"", "", "a"},
		long + "\nb\n":                       {long, "b"},
		long + "y\nb\n":                      {"!xxxx", "b"},
		"a\n" + long + long + long + "\nb\n": {"a", "!xxxx", "b"},
		"a\n" + long + "y":                   {"a", "!xxxx…"},
	} {
		if diff := cmp.Diff(want, lines(t, text)); diff != "" {
			t.Errorf("%.20q (-want +got):\n%.300s", text, diff)
		}
	}
}

var columns = Columns{Wanted: []string{"ID", "State", "Name"}, Rest: "Name", Command: "sacct …"}

// one returns the warnings as one text.
func one(u *Unread) string {
	return strings.Join(u.Warnings("line", "cannot be read, left out"), "; ")
}

// rows returns the ID, the state and the name of each row of a text, and what cannot be read.
func rows(t *testing.T, text string, c Columns) (all []string, unread Unread) {
	t.Helper()
	r, err := NewRows(strings.NewReader(text), "a", c, &unread)
	if err != nil {
		return []string{err.Error()}, unread
	}
	err = r.Each(&unread, func() error {
		if r.Text("State") == "?" {
			return r.Wrong("State", "no state")
		}
		all = append(all, r.Text("ID")+" "+r.Text("State")+" "+r.Text("Name"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, unread
}

func TestUnreadableLineIsSkipped(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1)
	for _, c := range []struct {
		name, text string
		want       []string
		unread     string
	}{
		{"rows", "ID|State|Name\n1|A|x\n\n2|B|y|z\n", []string{"1 A x", "2 B y|z"}, ""},
		{"other columns, and another order", "Name|Other|State|ID\nx|o|A|1\n", []string{"1 A x"}, ""},
		{"separators at the end", "ID|State|Name|\n1|A|x|\n2|B|y|z|\n3|C||\n", []string{"1 A x", "2 B y|z", "3 C "}, ""},
		{"tabs", "ID\tState\tName\n1\tA\tx|y\n", []string{"1 A x|y"}, ""},
		{"semicolons, names with blanks around", "ID ;State; Name\n1;A;x\n", []string{"1 A x"}, ""},
		{"CR LF, and a mark", mark + "ID|State|Name\r\n1|A|x\r\n", []string{"1 A x"}, ""},
		{"CR", "ID|State|Name\r1|A|x\r", []string{"1 A x"}, ""},
		{"two texts, each with a mark", "ID|State|Name\n1|A|x\n" + mark + "ID|State|Name\n2|B|y\n", []string{"1 A x", "2 B y"}, ""},
		{"a name with a line end", "ID|State|Name\n1|A|x\ny\n2|B|y\n", []string{"1 A x", "2 B y"},
			"1 line cannot be read, left out: a:3: one field for 3 columns: the rest of a Name with a line end in it, or no row"},
		{"a name that looks like other names", "ID|State|Name\n1|A|x\nName|State|ID\n2|B|y\n", []string{"1 A x", "2 B y"},
			"1 line cannot be read, left out: a:3: a line of other names than the first: read that text by itself"},
		{"a short row", "ID|State|Name\n1|A\n2|B|y\n", []string{"2 B y"}, "1 line cannot be read, left out: a:2: 2 fields for 3 columns"},
		{"a long row", "Name|ID|State\nx|y|1|A\ny|2|B\n", []string{"2 B y"},
			"1 line cannot be read, left out: a:2: 4 fields for 3 columns; a Name may have a | in it: ask for Name last"},
		{"a value that is wrong", "ID|State|Name\n1|?|x\n2|B|y\n", []string{"2 B y"}, "1 line cannot be read, left out: a:2: State: no state"},
		{"a very long line", "ID|State|Name\n1|A|" + long + "\n2|B|y\n", []string{"2 B y"}, "1 line cannot be read, left out: a:2: a line of more than 1048576 bytes"},
		{"what a login shell says", "Welcome!\n\nsacct: error: no\nID|State|Name\n1|A|x\n", []string{"1 A x"},
			"2 lines cannot be read, left out: a:1: above the line of names; a:3: above the line of names"},
		{"many", "ID|State|Name\n1\n2\n3\n4\n5\n6|A|x\n", []string{"6 A x"},
			"5 lines cannot be read, left out: " + strings.Repeat("a:N: one field for 3 columns: the rest of a Name with a line end in it, or no row; ", 3) + "… and 2 more"},
		{"nothing", " \n", []string{"a:1: no text; want what this prints: sacct …"}, ""},
		{"no names", "1|A|x\n", []string{`a:1: no column ID in "1|A|x"; want what this prints: sacct …`}, ""},
		{"names without rows", "ID|State|Name\n", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, unread := rows(t, c.text, columns)
			want := c.unread
			for _, line := range []string{"2", "3", "4"} {
				want = strings.Replace(want, "a:N:", "a:"+line+":", 1)
			}
			if !slices.Equal(got, c.want) || one(&unread) != want {
				t.Errorf("%q, unread: %s\nwant %q, unread: %s", got, one(&unread), c.want, want)
			}
		})
	}
}

func TestRowsWithoutLineOfNamesHaveTheDefaultColumns(t *testing.T) {
	c := columns
	c.Default = []string{"ID", "State", "Name"}
	for text, want := range map[string][]string{
		"1|A|x\n2|B|y|z\n":              {"1 A x", "2 B y|z"},
		"ID|State|Name\n1|A|x\n":        {"1 A x"},
		"State|ID|Name\nA|1|x\n":        {"1 A x"},
		"1|A|x\nID|State|Name\n2|B|y\n": {"1 A x", "2 B y"},
	} {
		if got, unread := rows(t, text, c); !slices.Equal(got, want) || unread.Count > 0 {
			t.Errorf("%q: %q, unread: %s", text, got, one(&unread))
		}
	}
}

// FuzzRows checks that for any bytes each line is a complete row, a header line, blank, or counted as unread.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{"ID|State|Name\n1|A|x\ny\n", mark + "ID|State|Name|\r\n1|A|x|\r\n", gzipped("ID;State;Name\r1;A;x"), zstded("ID|State|Name\n"), "BZh9", "\x28\xb5\x2f\xfd", "\xff\xfeI\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := Open(bytes.NewReader(data), "a")
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !utf8.ValidString(err.Error()) {
				t.Fatalf("an error of several lines: %q", err)
			}
			return
		}
		defer in.Close()
		var unread Unread
		r, err := NewRows(in, "a", columns, &unread)
		if err != nil {
			return
		}
		last := unread.Count
		_ = r.Each(&unread, func() error {
			_, line := r.Line()
			if len(r.fields) != len(r.names) || line <= last {
				t.Fatalf("line %d has %d fields of %d", line, len(r.fields), len(r.names))
			}
			last = line
			return nil
		})
		for _, w := range unread.Warnings("line", "cannot be read, left out") {
			if strings.Contains(w, "\n") {
				t.Fatalf("a warning of several lines: %q", w)
			}
		}
	})
}
