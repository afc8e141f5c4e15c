package swf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const text = `; MaxRecords: 6
; UnixStartTime: 1000
; TimeZoneString: Europe/Stockholm
; StartTime: some day
; EP: 20 4x1h,8x30m
; EP: 40 1x1m,2x1m
10    100  0   60  4 -1 -1  4   60 -1 1 1 1 1 1 1 -1 -1
20    200  0 5400  8 -1 -1  8 5400 -1 1 2 1 1 1 2 10  5
30    150  0   30  1 -1 -1 -1   60 -1 0 1 2 1 2 1 20  5
40    300  0   -1 -1 -1 -1  2   -1 -1 5 3 2 2 2 2 99  5
50    400  0  600  2 -1 -1  2  600 -1 1 3 2 2 1 2 -1 -1
20    500  0  600  2 -1 -1  2  600 -1 1 2 2 2 1 2 20 -1
`

func logOf(t *testing.T) *Log {
	t.Helper()
	log, err := Read(strings.NewReader(text), "a.swf", Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func numbers(log *Log) string {
	var b strings.Builder
	for _, r := range log.Records {
		fmt.Fprintf(&b, "%d@%d ", r.Number, r.Submit)
	}
	return strings.TrimSpace(b.String())
}

func TestSelect(t *testing.T) {
	const all = "10@100 20@200 30@150 40@300 50@400 20@500"
	for _, c := range []struct {
		name string
		s    Selection
		want string
	}{
		{"nothing asked", Selection{}, all},
		{"from, to", Selection{From: 150, To: 400}, "20@200 30@150 40@300"},
		{"skip", Selection{Skip: 4}, "50@400 20@500"},
		{"skip all", Selection{Skip: 9}, ""},
		{"jobs", Selection{Skip: 1, Jobs: 2}, "20@200 30@150"},
		{"jobs of what is left", Selection{From: 200, Skip: 1, Jobs: 2}, "40@300 50@400"},
		{"large", Selection{MinSize: 4}, "10@100 20@200"},
		{"small, also where nobody knows what was asked for", Selection{MaxSize: 1}, "30@150"},
		{"neither small nor large", Selection{MinSize: 2, MaxSize: 4}, "10@100 40@300 50@400 20@500"},
		{"short, run times that are known", Selection{MaxRun: 60}, "10@100 30@150"},
		{"long", Selection{MinRun: 600}, "20@200 50@400 20@500"},
		{"asked for long", Selection{MinRequest: 600, MaxRequest: 600}, "50@400 20@500"},
		{"users", Selection{Users: []int32{1, 3}}, "10@100 30@150 40@300 50@400"},
		{"groups", Selection{Groups: []int32{1}}, "10@100 20@200"},
		{"applications", Selection{Applications: []int32{2}}, "40@300 50@400 20@500"},
		{"queues", Selection{Queues: []int32{2}}, "30@150 40@300"},
		{"partitions", Selection{Partitions: []int32{1}}, "10@100 30@150"},
		{"statuses", Selection{Statuses: []Status{Failed, Cancelled}}, "30@150 40@300"},
		{"all of several", Selection{Users: []int32{1}, Statuses: []Status{Failed}}, "30@150"},
		{"the others", Selection{Users: []int32{1, 3}, Invert: true}, "20@200 20@500"},
		{"some of the others", Selection{Users: []int32{1, 3}, Invert: true, Jobs: 1}, "20@200"},
	} {
		log := logOf(t)
		removed := Select(log, c.s)
		if got := numbers(log); got != c.want || removed != 6-len(log.Records) {
			t.Errorf("%s: %s are kept and %d removed, want %s", c.name, got, removed, c.want)
		}
		if n, _ := log.Header.Number("MaxRecords"); n != int64(len(log.Records)) {
			t.Errorf("%s: MaxRecords is %d of %d", c.name, n, len(log.Records))
		}
		for n := range log.EPs {
			if !strings.Contains(numbers(log), fmt.Sprint(n, "@")) {
				t.Errorf("%s: job %d has left its profile", c.name, n)
			}
		}
		if want := min(1, strings.Count(c.want, "20@")) + strings.Count(c.want, "40@"); len(log.EPs) != want {
			t.Errorf("%s: %d profiles, want %d", c.name, len(log.EPs), want)
		}
	}
}

func TestRezero(t *testing.T) {
	log := logOf(t)
	log.Records[2].Submit = -50
	Rezero(log)
	if got := numbers(log); got != "10@150 20@250 30@0 40@350 50@450 20@550" {
		t.Error(got)
	}
	start, _ := log.Header.UnixStart()
	date, _ := log.Header.Get("StartTime")
	if start != 950 || date != "Thu Jan  1 01:15:50 CET 1970" {
		t.Errorf("the log begins at %d, %s", start, date)
	}
	Rezero(&Log{}) // no jobs to move
}

func TestRenumber(t *testing.T) {
	log := logOf(t)
	Renumber(log)
	if got := numbers(log); got != "1@100 2@200 3@150 4@300 5@400 6@500" {
		t.Error(got)
	}
	var preceding []int64
	for _, r := range log.Records {
		preceding = append(preceding, r.Preceding)
	}
	if diff := cmp.Diff([]int64{-1, 1, 2, -1, -1, 2}, preceding); diff != "" {
		t.Errorf("preceding jobs differ (-want +got):\n%s", diff)
	}
	if len(log.EPs) != 2 || log.EPs[2].Peak() != 8 || log.EPs[4].Peak() != 2 {
		t.Errorf("profiles: %v", log.EPs)
	}
}

func TestSort(t *testing.T) {
	log := logOf(t)
	log.Records[5].Submit = 150 // the same second as number 30: the sort is stable, so number 20 stays after it
	Sort(log)
	if got := numbers(log); got != "10@100 30@150 20@150 20@200 40@300 50@400" {
		t.Error(got)
	}
}

// A job's line and the lines of its bursts (found/05) stay together in every changed log.
func TestBurstsGoWithTheirJobs(t *testing.T) {
	read := func() *Log {
		log, err := Read(strings.NewReader(`; MaxRecords: 6
7 100 0 30 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1
7 100 0 10 4 -1 -1 4 60 -1 2 1 1 1 1 1 -1 -1
7  -1 5 20 4 -1 -1 4 60 -1 3 1 1 1 1 1 -1 -1
9  50 0 60 1 -1 -1 1 60 -1 1 1 1 1 1 1 7 -1
`), "a.swf", Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	sorted := read()
	Sort(sorted)
	renumbered := read()
	Renumber(renumbered)
	rezeroed := read()
	Rezero(rezeroed)
	filtered := read()
	removed := Select(filtered, Selection{Statuses: []Status{Completed}, Jobs: 1})
	for _, c := range []struct {
		name string
		log  *Log
		want string
	}{
		{"sort", sorted, "9@50 7@100 7@100 7@-1"},
		{"renumber", renumbered, "1@100 1@100 1@-1 2@50"},
		{"rezero", rezeroed, "7@50 7@50 7@-1 9@0"},
		{"filter", filtered, "7@100 7@100 7@-1"},
	} {
		if got := numbers(c.log); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if removed != 1 || CountJobs(filtered) != 1 || renumbered.Records[3].Preceding != 1 {
		t.Errorf("%d jobs were removed of 2 and %d are left; job 2 follows job %d", removed, CountJobs(filtered), renumbered.Records[3].Preceding)
	}
}
