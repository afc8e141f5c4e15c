package swf

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"accordion/core"
)

var records = rapid.Custom(func(t *rapid.T) (r Record) {
	var v values
	for f := range v {
		most := min(Field(f+1).most(), 1<<31-1)
		v[f] = rapid.OneOf(rapid.Just(int64(Unknown)), rapid.Int64Range(0, 100000), rapid.Int64Range(-most, most)).Draw(t, "field")
	}
	v.record(&r, rapid.OneOf(rapid.Just(-1.0), rapid.Float64Range(-1e14, 1e14)).Draw(t, "cpu"))
	return r
})

func TestWrittenLogIsReadBack(t *testing.T) {
	profiles := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Step {
		return core.Step{Duration: rapid.Int64Range(1, 100000).Draw(t, "duration"), Nodes: rapid.IntRange(1, 1000).Draw(t, "nodes")}
	}), 1, 5)
	rapid.Check(t, func(t *rapid.T) {
		log := Log{
			Name:    "a",
			Header:  Header{Lines: rapid.SliceOf(rapid.StringMatching(`( |\t|   )[A-Z][a-z]+(: [a-z]+)?`)).Draw(t, "header")},
			Records: rapid.SliceOf(records).Draw(t, "records"),
		}
		for number, ep := range rapid.MapOf(rapid.Int64Range(0, 1000), profiles).Draw(t, "profiles") {
			if log.EPs == nil {
				log.EPs = map[int64]core.EP{}
			}
			log.EPs[number] = joined(ep)
		}
		log.Header.Add("Version", "2.2")
		want := log
		if log.EPs != nil {
			want.Header.Lines = append(log.Header.Lines[:len(log.Header.Lines):len(log.Header.Lines)], profileNote)
		}
		var first, second bytes.Buffer
		if err := Write(&first, &log); err != nil {
			t.Fatal(err)
		}
		got, err := Read(bytes.NewReader(first.Bytes()), "a.swf", Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Header, got.Header); diff != "" {
			t.Errorf("the header differs (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want.EPs, got.EPs); diff != "" {
			t.Errorf("the profiles differ (-want +got):\n%s", diff)
		}
		if len(want.Records)+len(got.Records) > 0 {
			if diff := cmp.Diff(want.Records, got.Records); diff != "" {
				t.Errorf("the jobs differ (-want +got):\n%s", diff)
			}
		}
		if err := Write(&second, got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("written twice:\n%s\n%s", &first, &second)
		}
	})
}

// joined joins neighbors with equal node counts, as the reader does.
func joined(ep []core.Step) (j core.EP) {
	for _, s := range ep {
		if last := len(j) - 1; last >= 0 && j[last].Nodes == s.Nodes {
			j[last].Duration += s.Duration
		} else {
			j = append(j, s)
		}
	}
	return j
}

func TestLogIsWrittenInColumns(t *testing.T) {
	log := Log{Header: Header{Lines: []string{" Computer: a\nb"}}, Records: []Record{job}, EPs: map[int64]core.EP{1: {{Duration: 3600, Nodes: 4}, {Duration: 1800, Nodes: 8}}}}
	var b strings.Builder
	if err := Write(&b, &log); err != nil {
		t.Fatal(err)
	}
	want := `; Computer: a b
; Note: EP lines give an evolving job's number and the steps it asked for, processors x duration
; EP: 1 4x1h,8x30m
    1        2      3      4    5   6.25     7    8      9    10  0  12  13  14 15 16    17 18
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("the text differs (-want +got):\n%s", diff)
	}
}

func TestInvalidProfileIsNotWritten(t *testing.T) {
	for _, ep := range []core.EP{nil, {{Duration: 0, Nodes: 1}}, {{Duration: 5, Nodes: 0}}} {
		err := Write(&bytes.Buffer{}, &Log{EPs: map[int64]core.EP{7: ep}})
		if err == nil || !strings.Contains(err.Error(), "job 7") {
			t.Errorf("%v: %v", ep, err)
		}
	}
}

func TestFileIsWrittenCompletelyOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	names := func() (all []string) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	good := &Log{Records: []Record{job}, Header: Header{Lines: []string{" Version: 2.2"}}}
	for _, name := range []string{"a.swf", "a.swf.gz"} {
		path := filepath.Join(folder, name)
		if err := WriteFile(path, good); err != nil {
			t.Fatal(err)
		}
		bad := &Log{EPs: map[int64]core.EP{7: nil}}
		if err := WriteFile(path, bad); err == nil || !strings.Contains(err.Error(), "write "+path) {
			t.Errorf("%v", err)
		}
		got, err := ReadFile(path, Options{Strict: true})
		if err != nil || len(got.Records) != 1 || got.Records[0] != job || got.Name != "a" {
			t.Errorf("%s was lost: %+v, %v", name, got, err)
		}
	}
	if diff := cmp.Diff([]string{"a.swf", "a.swf.gz"}, names()); diff != "" {
		t.Errorf("the folder differs (-want +got):\n%s", diff)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "a.swf.gz")); err != nil || !bytes.HasPrefix(text, []byte("\x1f\x8b")) {
		t.Errorf("a.swf.gz is not compressed: %v", err)
	}
	if err := WriteFile(filepath.Join(folder, "none", "a.swf"), good); err == nil {
		t.Error("a file in a folder that is not there was written")
	}
}

// If root writes a log to /dev/null, the log must not replace /dev/null.
func TestPipeIsWrittenToAndKept(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	came := make(chan int)
	go func() {
		log, err := ReadFile(pipe, Options{Strict: true})
		if err != nil {
			t.Error(err)
			log = &Log{}
		}
		came <- len(log.Records)
	}()
	if err := WriteFile(pipe, &Log{Header: Header{Lines: []string{" Version: 2.2"}}, Records: []Record{job, job}}); err != nil {
		t.Fatal(err)
	}
	if n := <-came; n != 2 {
		t.Errorf("%d jobs came through the pipe", n)
	}
	if info, err := os.Stat(pipe); err != nil || info.Mode().IsRegular() {
		t.Errorf("the pipe is gone: %v", err)
	}
	if err := WriteFile(t.TempDir(), &Log{}); err == nil {
		t.Error("a folder was written")
	}
}

func TestFullDiskIsAnError(t *testing.T) {
	log := &Log{Records: make([]Record, 10_000)}
	for _, room := range []int{0, 1000, 100_000} {
		if err := Write(&fullDisk{room: room}, log); !errors.Is(err, errFull) {
			t.Errorf("%d bytes of room: %v", room, err)
		}
	}
	if err := Write(&fullDisk{}, &Log{Header: Header{Lines: []string{" a: b"}}}); !errors.Is(err, errFull) {
		t.Errorf("a header alone: %v", err)
	}
}

var errFull = errors.New("no space left on device")

type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.room -= len(p); d.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}
