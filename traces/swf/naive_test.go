package swf

import (
	"bytes"
	"compress/gzip"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"accordion/internal/testenv"
)

// naive parses plain text with the standard library, field by field, as the format's definition says. It returns the jobs, and the number of
// problems of each kind. The fast reader is compared with it.
func naive(text string) (records []Record, problems [kinds]int) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	for i, line := range strings.Split(text, "\n") {
		if i == 0 {
			line = strings.TrimPrefix(line, "\xef\xbb\xbf") // at the beginning of the text
		}
		line = strings.TrimPrefix(strings.Trim(line, " \t\v\f\x00"), "\xef\xbb\xbf") // at the beginning of a concatenated text
		fields := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\v\f\x00", r) })
		if len(fields) == 0 || fields[0][0] == ';' {
			continue
		}
		if kind, _ := naiveField(1, fields[0]); kind == NotNumber || kind == OutOfRange {
			problems[NotJob]++
			continue
		}
		if len(fields) < Fields {
			problems[Missing]++
		}
		if len(fields) > Fields {
			problems[Surplus]++
		}
		var job [Fields]float64
		for f := range job {
			job[f] = -1
			if f >= len(fields) {
				continue
			}
			kind, value := naiveField(f+1, fields[f])
			if kind < kinds {
				problems[kind]++
			}
			job[f] = value
		}
		records = append(records, Record{
			Number: int64(job[0]), Submit: int64(job[1]), Wait: int64(job[2]), Run: int64(job[3]), Processors: int32(job[4]), CPU: job[5],
			UsedMemory: int64(job[6]), RequestedProcessors: int32(job[7]), RequestedTime: int64(job[8]), RequestedMemory: int64(job[9]),
			Status: Status(job[10]), User: int32(job[11]), Group: int32(job[12]), Application: int32(job[13]), Queue: int32(job[14]),
			Partition: int32(job[15]), Preceding: int64(job[16]), Think: int64(job[17]),
		})
	}
	return records, problems
}

var decimal = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)

// naiveField returns the value of a field, counted from 1, and its problem, or kinds if there is none.
func naiveField(f int, text string) (Kind, float64) {
	if !decimal.MatchString(text) {
		return NotNumber, -1
	}
	value, err := strconv.ParseFloat(text, 64)
	bound := 999_999_999_999_999.0
	if slices.Contains([]int{5, 8, 11, 12, 13, 14, 15, 16}, f) {
		bound = math.MaxInt32
	}
	switch {
	case err != nil || math.Abs(math.Trunc(value)) > bound:
		return OutOfRange, -1
	case f != 6 && value != math.Trunc(value):
		return Fraction, math.Trunc(value)
	}
	return kinds, value
}

func (w *Warnings) counts() (c [kinds]int) {
	for kind := range w {
		c[kind] = w[kind].Count
	}
	return c
}

// traces returns the real logs, or skips the test if there are none.
func traces(t testing.TB) []string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(testenv.Logs(t, "KTH-SP2-1996-2.1-cln.swf.gz"), "*.swf.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return logs
}

// plain returns at most `most` bytes of the text of a log.
func plain(t testing.TB, path string, most int64) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzip, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(io.LimitReader(unzip, most))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRealLogsAreReadAsByTheNaiveReader(t *testing.T) {
	most := int64(100_000) // bytes of each log; the naive reader is slow
	if *long {
		most = 1 << 40
	}
	for _, path := range traces(t) {
		text := plain(t, path, most)
		text = text[:bytes.LastIndexByte(text, '\n')+1]
		log, err := Read(bytes.NewReader(text), path, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		want, problems := naive(string(text))
		if len(want) < 500 {
			t.Errorf("%s: only %d jobs", log.Name, len(want))
		}
		if problems != log.Warnings.counts() {
			t.Errorf("%s: problems by kind are %v, want %v", log.Name, log.Warnings.counts(), problems)
		}
		for i := range max(len(want), len(log.Records)) {
			if i >= len(want) || i >= len(log.Records) || want[i] != log.Records[i] {
				t.Errorf("%s: %d jobs, want %d; number %d in the log is not as the naive reader has it", log.Name, len(log.Records), len(want), i)
				break
			}
		}
	}
}
