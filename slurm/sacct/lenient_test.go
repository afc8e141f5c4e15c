package sacct

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/core"
	"accordion/traces/input"

	"github.com/google/go-cmp/cmp"
)

const (
	first  = "7|100|110|130|COMPLETED|2|8|5|00:08|ada|physics|normal|main|mesh"
	second = "9|130|150|160|COMPLETED|1|4|2|00:02|bob|physics|normal|main|late"
)

// between returns the first row with its times replaced.
func between(submit, start, end string) string {
	return "7|" + submit + "|" + start + "|" + end + strings.TrimPrefix(first, "7|100|110|130")
}

// A text has two valid rows and some invalid lines. Both rows are parsed, and each invalid line is counted with its
// position.
func TestOneBadLineCostsOneLine(t *testing.T) {
	for _, c := range []struct {
		name, text string
		unread     string // the lines that cannot be parsed
	}{
		{"nothing wrong", names + first + "\n" + second + "\n", ""},
		{"no end of the last line", names + first + "\n" + second, ""},
		{"CR LF", strings.ReplaceAll(names+first+"\n"+second+"\n", "\n", "\r\n"), ""},
		{"CR", strings.ReplaceAll(names+first+"\n"+second+"\n", "\n", "\r"), ""},
		{"a mark of the byte order", "\ufeff" + names + first + "\n" + second + "\n", ""},
		{"two texts, each with a mark", "\ufeff" + names + first + "\n\ufeff" + names + second + "\n", ""},
		{"separators at the end of lines", strings.ReplaceAll(names+first+"\n"+second+"\n", "\n", "|\n"), ""},
		{"a name with a line end, found/02", names + first + "\nsecond line\n" + second + "\n", "a.txt:3: one field for 14 columns: the rest of a JobName with a line end in it, or no row"},
		{"a name with a line end and a separator", names + first + "\nsecond|line\n" + second + "\n", "a.txt:3: 2 fields for 14 columns"},
		{"a job id that is none", names + "x" + first + "\n" + first + "\n" + second + "\n", `a.txt:2: JobIDRaw: "x7" is no job id, nor that of a step such as 123.0`},
		{"a time that is none", names + first + "\n" + strings.Replace(first, "110", "soon", 1) + "\n" + second + "\n", `a.txt:3: Start: "soon" is no time; want Unix seconds (SLURM_TIME_FORMAT=%s), or 2026-01-31T12:00:00`},
		{"an unknown submission", names + strings.Replace(first, "100", "Unknown", 1) + "\n" + first + "\n" + second + "\n", `a.txt:2: Submit: "Unknown" is no time of submission`},
		{"processors that cannot be read", names + strings.Replace(first, "|8|", "|eight|", 1) + "\n" + first + "\n" + second + "\n", `a.txt:2: AllocCPUS: "eight" is no number from 0 to 2147483647`},
		{"a damaged step", names + first + "\n7.0|100|no\n" + second + "\n", "a.txt:3: 3 fields for 14 columns"},
		{"what sacct complains of", "sacct: error: slurmdbd\n" + names + first + "\n" + second + "\n", "a.txt:1: above the line of names"},
		{"a line of more than a mebibyte", names + first + strings.Repeat("x", input.MaxLine) + "\n" + first + "\n" + second + "\n", "a.txt:2: a line of more than 1048576 bytes"},
		{"other names", names + first + "\n" + strings.Replace(names, "Submit|Start", "Start|Submit", 1) + second + "\n", "a.txt:3: a line of other names than the first: read that text by itself"},
	} {
		t.Run(c.name, func(t *testing.T) {
			log, left, err := Workload(strings.NewReader(c.text), "a.txt", time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			want := "7: @0 +10 20 s, 8 of 8, limit 300, cpu 1, status 1, 1 1 1 1 1\n" +
				"9: @30 +20 10 s, 4 of 4, limit 120, cpu 0.5, status 1, 2 1 2 1 1\n"
			if diff := cmp.Diff(want, jobs(log)); diff != "" {
				t.Errorf("the jobs differ (-want +got):\n%s", diff)
			}
			unread := ""
			if c.unread != "" {
				unread = "1 line cannot be read, left out: " + c.unread
			}
			if got := strings.Join(left.Warnings(), "\n"); got != unread || left.String() != "" {
				t.Errorf("unread: %s\nwant: %s\nleft out: %s", got, unread, left)
			}
		})
	}
}

func TestAStatisticThatCannotBeReadIsUnknownAndItsJobStays(t *testing.T) {
	for text, want := range map[string]string{
		strings.Replace(first, "00:08", "lots", 1):         `8 of 8, limit 300, cpu -1; 1 value cannot be read, taken as unknown: a.txt:2: TotalCPU: "lots" is no value that sacct prints`,
		strings.Replace(first, "|5|", "|5 minutes|", 1):    `8 of 8, limit -1, cpu 1; 1 value cannot be read, taken as unknown: a.txt:2: TimelimitRaw: "5 minutes" is no value that sacct prints`,
		strings.Replace(first, "|2|8|", "|two|8|", 1):      `8 of 8, limit 300, cpu 1; 1 value cannot be read, taken as unknown: a.txt:2: ReqCPUS: "two" is no value that sacct prints`,
		strings.Replace(first, "|2|8|", "|two|0|", 1):      `-1 of -1, limit 300, cpu -1; 1 value cannot be read, taken as unknown: a.txt:2: ReqCPUS: "two" is no value that sacct prints`,
		strings.Replace(first, "130", "4294967294", 1):     "jobs that wait or run",
		strings.Replace(first, "130", "99999999999999", 1): "",
	} {
		log, left, err := Workload(strings.NewReader(names+text+"\n"), "a.txt", time.UTC)
		got := ""
		if err == nil {
			r := log.Records[0]
			got = fmt.Sprintf("%d of %d, limit %d, cpu %v; %s", r.Processors, r.RequestedProcessors, r.RequestedTime, r.CPU, strings.Join(left.Warnings(), "; "))
		}
		if err != nil && left.String() != "" {
			got = left.String()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, %v\nwant %s", text, got, err, want)
		}
	}
}

func TestAResizedJobOfWhichARowIsLostIsLeftOut(t *testing.T) {
	resized := "8|100|110|130|RESIZING|2|8|5|00:00|ada|physics|normal|main|mesh\n8|130|130|x|RESIZING|2|16|5|00:00|ada|physics|normal|main|mesh\n8|150|150|170|COMPLETED|2|4|5|00:00|ada|physics|normal|main|mesh\n"
	requeued := "6|100|110|130|REQUEUED|2|8|5|00:00|ada|physics|normal|main|mesh\n6|100|110|x|REQUEUED|2|8|5|00:00|ada|physics|normal|main|mesh\n"
	log, left, err := Workload(strings.NewReader(names+resized+requeued+second+"\n"), "a.txt", time.UTC)
	if err != nil || len(log.Records) != 2 || left.String() != "1 resized jobs of which a row cannot be read" || left.Lines.Count != 2 {
		t.Errorf("%v, left out: %s, %s\n%s", err, left, left.Warnings(), jobs(log))
	}
}

func TestAResizedJobWithoutAProfileCostsItselfOnly(t *testing.T) {
	var b strings.Builder
	b.WriteString(names + second + "\n")
	for i := range core.MaxSteps + 2 {
		state := "RESIZING"
		if i > core.MaxSteps {
			state = "COMPLETED"
		}
		fmt.Fprintf(&b, "7|%d|%d|%d|%s|1|%d|5|00:00|ada|physics|normal|main|mesh\n", 100+10*i, 100+10*i, 110+10*i, state, 2+i%2)
	}
	log, left, err := Workload(strings.NewReader(b.String()), "a.txt", time.UTC)
	if err != nil || len(log.Records) != 1 || left.String() != "1 resized jobs whose sizes make no profile" {
		t.Errorf("%v, left out: %s", err, left)
	}
}

// sacct --clusters prints the accounting of several clusters. A job's id is unique only within one cluster.
func TestTheSameIdInTwoClustersIsTwoJobs(t *testing.T) {
	head := "Cluster|" + names
	text := head +
		"alpha|7|100|110|130|RESIZING|2|8|5|00:00|ada|physics|normal|main|mesh\n" +
		"beta|7|105|110|140|COMPLETED|2|4|5|00:08|bob|physics|normal|main|late\n" +
		"beta|8|121|122|139|COMPLETED|1|2|2|00:02|bob|physics|normal|main|accordion-with-7\n" +
		"alpha|7|130|130|150|COMPLETED|2|16|5|00:00|ada|physics|normal|main|mesh\n"
	log, left, err := Workload(strings.NewReader(text), "a.txt", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	want := "7: @0 +10 40 s, 16 of 16, limit 40, cpu -1, status 1, 1 1 1 1 1, 8x20s,16x20s\n" +
		"8: @5 +5 30 s, 6 of 6, limit 30, cpu -1, status 1, 2 1 2 1 2, 4x12s,6x17s,4x1s\n"
	if diff := cmp.Diff(want, jobs(log)); diff != "" {
		t.Errorf("the jobs differ (-want +got):\n%s", diff)
	}
	if !slices.Equal(log.Header.All("Partition"), []string{"1 alpha/main", "2 beta/main"}) || len(left.Warnings()) != 1 || !strings.HasPrefix(left.Warnings()[0], "the accounting is of 2 clusters (alpha, beta)") {
		t.Errorf("partitions %q, warnings %q", log.Header.All("Partition"), left.Warnings())
	}
	one, left, err := Workload(strings.NewReader(strings.ReplaceAll(text, "beta", "alpha")), "a.txt", time.UTC)
	if err != nil || !slices.Equal(one.Header.All("Partition"), []string{"1 main"}) || len(left.Warnings()) != 0 {
		t.Errorf("of one cluster: %q, %q, %v", one.Header.All("Partition"), left.Warnings(), err)
	}

	held, _, err := ReadHolds(strings.NewReader(`Cluster|JobIDRaw|Submit|Start|End|State|User|NodeList|JobName
alpha|7|90|100|120|RESIZING|ada|n[1-2]|mesh
beta|7|90|100|150|COMPLETED|bob|n1|other
alpha|7|120|120|140|COMPLETED|ada|n1|mesh
`), "a.txt", time.UTC, 200)
	if want := "7@90 mesh COMPLETED: 100-120 [n1 n2] 120-140 [n1]\n7@90 other COMPLETED: 100-150 [n1]\n"; err != nil || formatJobs(held) != want || held[1].Cluster != "beta" {
		t.Errorf("holds: %v\n%s", err, formatJobs(held))
	}

	runs := read(t, "Cluster|"+stepNames+`alpha|7|7|100|110|170|COMPLETED|1|n1|ada|phys|main|mesh
beta|7|7|100|110|180|COMPLETED|1|n1|ada|phys|main|mesh
alpha|7.0|7.0|111|111|130|COMPLETED|1|n1||phys||solve
beta|7.0|7.0|111|111|140|COMPLETED|1|n1||phys||solve
`)
	got := formatRuns(runs.All)
	if want := "7 ada mesh @100 110-170 1/1 script -1 completed true: solve 111-130 [0]\n7 ada mesh @100 110-180 1/1 script -1 completed true: solve 111-140 [1]\n"; got != want || runs.All[1].Partition != "beta/main" {
		t.Errorf("runs:\n%swant:\n%s", got, want)
	}
}

// On 2026-10-25 clocks in Paris show the hour from 2:00 to 3:00 twice: first from 0:00 UTC, then from 1:00 UTC.
func TestTheHourThatComesTwiceIsReadAsEarlyAsTheJobAllows(t *testing.T) {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	midnight := time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC).Unix() // when clocks in Paris show 2:00 for the first time
	for _, c := range []struct {
		name, submit, start, end string
		want                     [3]core.Time // seconds after midnight
		doubled                  int
	}{
		{"it ends where clocks show less than at its start", "01:50:00", "02:50:00", "02:10:00", [3]core.Time{-600, 3000, 4200}, 2},
		{"it ends at the same time of day", "01:50:00", "02:50:00", "02:50:00", [3]core.Time{-600, 3000, 3000}, 2},
		{"it starts after clocks were set back", "02:50:00", "02:10:00", "02:20:00", [3]core.Time{3000, 4200, 4800}, 3},
		{"it ends before that hour", "00:50:00", "01:10:00", "01:20:00", [3]core.Time{-4200, -3000, -2400}, 0},
		{"it ends after that hour", "01:50:00", "02:10:00", "03:10:00", [3]core.Time{-600, 600, 7800}, 1},
	} {
		row := between("2026-10-25T"+c.submit, "2026-10-25T"+c.start, "2026-10-25T"+c.end)
		log, left, err := Workload(strings.NewReader(names+row+"\n"), "a.txt", paris)
		if err != nil {
			t.Errorf("%s: %v, left out: %s", c.name, err, left)
			continue
		}
		begin, _ := log.Header.UnixStart()
		r := log.Records[0]
		got := [3]core.Time{begin - midnight, begin + r.Wait - midnight, begin + r.Wait + r.Run - midnight}
		if got != c.want || left.Doubled.Count != c.doubled || left.String() != "" {
			t.Errorf("%s: %v, %d doubled, left out: %s; want %v, %d", c.name, got, left.Doubled.Count, left, c.want, c.doubled)
		}
	}
	// A resize and a step in the second of the two hours for which clocks show the same times.
	text := strings.ReplaceAll("7|T01:50:00|T02:30:00|T02:20:00|RESIZING|2|8|5|00:00|ada|physics|normal|main|mesh\n"+
		"7|T02:20:00|T02:20:00|T02:40:00|COMPLETED|2|16|5|00:00|ada|physics|normal|main|mesh\n", "|T", "|2026-10-25T")
	log, left, err := Workload(strings.NewReader(names+text), "a.txt", paris)
	if err != nil || len(log.Records) != 1 || fmt.Sprint(log.EPs[7]) != "8x3000s,16x1200s" {
		t.Errorf("%v, left out: %s; it held %v", err, left, log)
	}
	runs := NewRuns()
	steps := strings.ReplaceAll("7|7|T02:50:00|T02:10:00|T02:40:00|COMPLETED|1|n1|ada|p|m|x\n7.0|7.0|T02:15:00|T02:15:00|T02:35:00|COMPLETED|1|n1||p||y\n", "|T", "|2026-10-25T")
	if err := runs.Read(strings.NewReader(stepNames+steps), "a.txt", paris, 0, 0); err != nil || len(runs.All) != 1 || runs.All[0].Start != midnight+4200 || runs.All[0].Steps[0].From != midnight+4500 {
		t.Errorf("%v: %s", err, formatRuns(runs.All))
	}
	// A zone whose clocks are set back by half an hour.
	lordHowe, err := time.LoadLocation("Australia/Lord_Howe")
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 4, 5, 1, 45, 0, 0, lordHowe)
	if a, b := readings(at); b-a != 1800 {
		t.Errorf("Lord Howe: %d and %d", a, b)
	}
	if a, b := readings(at.Add(-time.Hour)); a != b {
		t.Errorf("Lord Howe, an hour before: %d and %d", a, b)
	}
}

func TestTimesWithAZoneOfTheirOwnAreRead(t *testing.T) {
	row := between("2026-07-01T12:00:00+0200", "2026-07-01T10:00:10Z", "2026-07-01 10:00:30")
	log, _, err := Workload(strings.NewReader(names+row+"\n"), "a.txt", time.UTC)
	if err != nil || jobs(log) != "7: @0 +10 20 s, 8 of 8, limit 300, cpu 1, status 1, 1 1 1 1 1\n" {
		t.Errorf("%v: %s", err, jobs(log))
	}
}

func TestOfADamagedFileWhatCanBeUnpackedIsRead(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprint(w, names, first, "\n")
	w.Flush()
	fmt.Fprint(w, second, "\n")
	w.Close()
	cut := b.Bytes()[:b.Len()-20]
	log, left, err := Workload(bytes.NewReader(cut), "a.txt.gz", time.UTC)
	if err != nil || len(log.Records) != 1 || left.Lines.Count != 1 || !strings.Contains(left.Warnings()[0], "unexpected EOF") {
		t.Errorf("%v: %v", err, left.Warnings())
	}
}

func TestHoldsAreReadAroundWhatCannotBeRead(t *testing.T) {
	rows := "7|90|100|120|COMPLETED|ada|n[1-2]|mesh\n" + "these are words, but|no|row|of|the|accounting|at|all\n" + "8|90|100|120|COMPLETED|ada|n[1-|bad\n" +
		"9|90|100|120|COMPLETED|ada|n3|two\nlines\n" + "9.batch|90|100|120|COMPLETED||n3|batch\n" + "10|90|100|120|COMPLETED|ada|n4|last\n"
	got, unread, err := ReadHolds(strings.NewReader(rows), "a.txt", time.UTC, 200)
	want := "7@90 mesh COMPLETED: 100-120 [n1 n2]\n9@90 two COMPLETED: 100-120 [n3]\n10@90 last COMPLETED: 100-120 [n4]\n"
	if err != nil || formatJobs(got) != want || unread.Lines.Count != 3 {
		t.Errorf("%v, %v\n%s", err, unread.Warnings(), formatJobs(got))
	}
	if _, _, err := ReadHolds(strings.NewReader("no|row\n"), "a.txt", time.UTC, 200); err == nil || !strings.HasPrefix(err.Error(), "a.txt:1: 2 fields for 8 columns") {
		t.Errorf("a text without a row: %v", err)
	}
	if got, _, err := ReadHolds(strings.NewReader(""), "a.txt", time.UTC, 200); err != nil || got != nil {
		t.Errorf("no text: %v, %v", got, err)
	}
}
