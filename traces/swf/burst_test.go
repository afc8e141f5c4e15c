package swf

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The test reads the log of found/05, in which the lines of bursts follow the line of their job.
func TestLineWithNumberOfJobAboveAndBurstStatusIsABurst(t *testing.T) {
	for _, c := range []struct{ name, lines, want string }{
		{"a job and its two bursts", "1/1 1/2 1/3 2/1", "1/1 2/1"},
		{"one that failed in its last", "1/0 1/2 1/2 1/4 2/1", "1/0 2/1"},
		{"exit codes in the field of the status, as Sandia-Ross has them", "1/2 2/2 3/4 4/1", "1/2 2/2 3/4 4/1"},
		{"bursts without a summary: the first line stands for the job", "1/2 1/3 2/1", "1/2 2/1"},
		{"another job of the same number", "1/1 1/1 1/0", "1/1 1/1 1/0"},
		{"the number again, not in the line below", "1/1 2/1 1/3", "1/1 2/1 1/3"},
		{"a cancelled job with a burst", "1/5 1/2 1/4", "1/5"},
		{"nothing", "", ""},
	} {
		var records []Record
		for line := range strings.FieldsSeq(c.lines) {
			var r Record
			if _, err := fmt.Sscanf(line, "%d/%d", &r.Number, &r.Status); err != nil {
				t.Fatal(err)
			}
			records = append(records, r)
		}
		before := slices.Clone(records)
		var got []string
		for _, r := range Summaries(records) {
			got = append(got, fmt.Sprintf("%d/%d", r.Number, r.Status))
		}
		if strings.Join(got, " ") != c.want || !slices.Equal(before, records) {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
	}
}

// The cleaned logs have no bursts, and published figures count all their lines. Sandia-Ross has a status from 2 to 4 in 1,994 lines.
func TestRealLogsHaveNoFalseBursts(t *testing.T) {
	most := int64(1_000_000) // bytes of each log; the race detector is slow
	if *long {
		most = 1 << 40
	}
	for _, path := range traces(t) {
		text := plain(t, path, most)
		log, err := Read(bytes.NewReader(text[:bytes.LastIndexByte(text, '\n')+1]), path, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if n := len(Summaries(log.Records)); n != len(log.Records) {
			t.Errorf("%s: %d of %d records are taken for jobs", log.Name, n, len(log.Records))
		}
	}
}
