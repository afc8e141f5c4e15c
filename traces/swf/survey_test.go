package swf

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"accordion/core"
)

func surveyText(t *testing.T, text string) *Log {
	t.Helper()
	log, err := Read(strings.NewReader(text), "small.swf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// odd is a log with all kinds of errors.
const odd = `; Computer: a` + "\x1b" + `[31mb
; MaxProcs: 8
; UnixStartTime: 843480031
; TimeZoneString: Europe/Stockholm
; EP: 2 4x1h,8x30m
1      0  10  3600   4  -1 -1   4  7200 -1  1  1 -1 -1 -1 -1 -1 -1
2    100  20  5400   8  -1 -1   8  5400 -1  1  2 -1 -1 -1 -1 -1 -1
3     -5  -1    60   1  -1 -1   1    60 -1  1  2 -1 -1 -1 -1 -1 -1
3     -1  -1     0   1  -1 -1   1    60 -1  0  2 -1 -1 -1 -1 -1 -1
5 700000   0    60  16  -1 -1  16    60 -1  5  2 -1 -1 -1 -1 -1 -1
6 650000   0    90   1 100 -1  -1    60 -1  9 -1 -1 -1 -1 -1 -1 -1
7 700000   0    -1  -1  -1 -1  -1    -1 -1 -1  2 -1 -1 -1 -1 -1 -1
8 700000   0    60   1  -1 -1   1 1000000000 -1 1 2 -1 -1
`

func TestAnomaliesAreCountedByKind(t *testing.T) {
	got := SurveyOf(surveyText(t, odd), 0).Wrong()
	want := []string{
		"lines with fewer than 18 fields, the others taken as unknown: 1, first small.swf:13: 14 fields; a job has 18",
		"jobs submitted before the log's second 0, or nobody knows when: 2, first job 3, the 3rd of the log",
		"jobs submitted before the job above them: 2, first job 3, the 3rd of the log",
		"jobs whose number another job has: 1, first job 3, the 4th of the log",
		"jobs whose run time is unknown: 1, first job 7, the 7th of the log",
		"jobs that ran for no second: 1, first job 3, the 4th of the log",
		"jobs without processors, requested or allocated: 1, first job 7, the 7th of the log",
		"jobs larger than the machine: 1, first job 5, the 5th of the log",
		"jobs without a requested time: 1, first job 7, the 7th of the log",
		"jobs that ran longer than they asked for: 1, first job 6, the 6th of the log",
		"jobs that used more processor time than they had: 1, first job 6, the 6th of the log",
		"jobs with a time of 10^9 seconds or more: 1, first job 8, the 8th of the log",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is wrong differs (-want +got):\n%s", diff)
	}
	kinds := map[string]bool{}
	for _, a := range SurveyOf(surveyText(t, odd), 0).Anomalies {
		kinds[a.Kind] = true
	}
	for _, sign := range signs {
		if !kinds[sign.kind] {
			t.Errorf("the odd log shows no %s", sign.kind)
		}
	}
}

func TestSurveyText(t *testing.T) {
	text := SurveyOf(surveyText(t, odd), 0).Text()
	page, _, _ := strings.Cut(text, "\nwhat looks wrong\n")
	want := `log          small
computer     a?[31mb
machine      8 processors
jobs         8 of 2 users
status       1 cancelled, 4 completed, 1 failed, 2 unknown
evolving     1 jobs have a profile
submitted    1996-09-23 14:00:31 CEST to 1996-10-01 16:27:11 CEST (8d2h26m40s)
last end     1996-10-01 16:28:11 CEST
sizes        57.1 % serial, 100.0 % powers of two
work         12.31 processor-hours, 0.8 % of the machine from the first submission to the last end

                       jobs       mean      least       10 %       25 %     median       75 %       90 %       99 %       most
processors                7        4.6          1          1          1          1          4          8          8         16
run time, s               7     1324.3          0          0         60         60         90       3600       3600       5400
requested, s              7 142858977.1         60         60         60         60       5400       7200       7200 1000000000
waited, s                 6        5.0          0          0          0          0          0         10         10         20
between jobs, s           5   140000.0          0          0          0        100      50000      50000      50000     649900

week from           jobs  load submitted
1996-09-23             2   0.01 ` + `
1996-09-30             4   0.00 ` + `
`
	if diff := cmp.Diff(want, page); diff != "" {
		t.Errorf("the page differs (-want +got):\n%s", diff)
	}
	for name, log := range map[string]*Log{"no jobs": surveyText(t, "; Computer: x\n"), "far": surveyText(t, "; UnixStartTime: 0\n1 900000000000000 1 999999999999999 2147483647\n")} {
		if text := SurveyOf(log, 0).Text(); !strings.HasPrefix(text, "log ") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s:\n%s", name, text)
		}
	}
}

// The p % quantile of n different values is the value with the index ⌊p·(n−1)/100⌋ in ascending order. The test counts smaller values.
func TestQuantilesOccurAmongTheValues(t *testing.T) {
	for n := 1; n < 250; n++ {
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(i * 251 % n * 3)
		}
		q := quantiles(slices.Clone(values))
		for percent, got := range map[int]int64{0: q.Min, 10: q.P10, 25: q.P25, 50: q.P50, 75: q.P75, 90: q.P90, 99: q.P99, 100: q.Max} {
			below, at := 0, false
			for _, v := range values {
				if v < got {
					below++
				}
				at = at || v == got
			}
			if !at || 100*below > (n-1)*percent || 100*(below+1) <= (n-1)*percent {
				t.Errorf("%d values: %d %% is %d, %d are below", n, percent, got, below)
			}
		}
	}
	if q := quantiles(nil); q != (Quantiles{}) {
		t.Errorf("of nothing: %+v", q)
	}
}

func TestJSONHasListsEvenWhenTheyAreEmpty(t *testing.T) {
	text, err := json.Marshal(SurveyOf(surveyText(t, "; MaxProcs: 1\n"), 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{`"weeks":[]`, `"anomalies":[]`, `"problems":[]`, `"status":{}`, `"unix_start_time":-1`} {
		if !strings.Contains(string(text), list) {
			t.Errorf("%s is not in %s", list, text)
		}
	}
}

func TestOrdinals(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 111: "111th", 122: "122nd"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

func TestAreaOfEvolvingJobEndsWithItsRunTime(t *testing.T) {
	ep := core.EP{{Duration: 100, Nodes: 4}, {Duration: 50, Nodes: 8}}
	for run, want := range map[int64]float64{-1: 0, 0: 0, 60: 240, 100: 400, 120: 560, 150: 800, 400: 800} {
		if got := area(&Record{Run: run, Processors: 8}, ep); got != want {
			t.Errorf("%d s of %v are %v processor-seconds, want %v", run, ep, got, want)
		}
	}
	if got := area(&Record{Run: 60, Processors: 8, RequestedProcessors: 2}, nil); got != 120 {
		t.Errorf("a rigid job's are %v", got)
	}
}

func TestBurstsAreCountedSeparately(t *testing.T) {
	log, err := Read(strings.NewReader(`; Max Procs 8
1 0 0 30 4 -1 -1 4 60 -1 1 1 1 1 1 1 -1 -1
1 0 0 10 4 -1 -1 4 60 -1 2 1 1 1 1 1 -1 -1
1 -1 5 20 4 -1 -1 4 60 -1 3 1 1 1 1 1 -1 -1
`), "a.swf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := SurveyOf(log, 0)
	if s.Jobs != 1 || s.Bursts != 2 || s.Area != 120 || len(s.Anomalies) != 0 || s.Status["part"] != 0 || len(log.Records) != 3 {
		t.Errorf("%+v", s)
	}
	for _, want := range []string{"\nbursts       2 lines of parts of these jobs, not counted again\n",
		"the size of the machine is unknown: the header's \"Max Procs 8\" is no whole number of processors\n"} {
		if !strings.Contains(s.Text(), want) {
			t.Errorf("no %q in:\n%s", want, s.Text())
		}
	}
}

func TestLongComputerNameIsCut(t *testing.T) {
	log, err := Read(strings.NewReader("; Computer: "+strings.Repeat("very ", 120)+"large\n; MaxProcs: 8\n"), strings.Repeat("x", 600)+".swf", Options{})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(SurveyOf(log, 0).Text()) {
		if n := utf8.RuneCountInString(line); n > 150 {
			t.Errorf("a line of %d characters: %s", n, line)
		}
	}
}
