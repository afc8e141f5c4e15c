package sacct

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"accordion/slurm/output"
	"accordion/traces/input"
	"accordion/traces/swf"

	"github.com/google/go-cmp/cmp"
)

// jobs formats records as: number, submission, wait, run time, CPUs got and requested, limit, CPU time, status,
// user group application queue partition, profile.
func jobs(log *swf.Log) string {
	var b strings.Builder
	for _, r := range log.Records {
		fmt.Fprintf(&b, "%d: @%d +%d %d s, %d of %d, limit %d, cpu %v, status %d, %d %d %d %d %d", r.Number, r.Submit, r.Wait, r.Run, r.Processors,
			r.RequestedProcessors, r.RequestedTime, r.CPU, r.Status, r.User, r.Group, r.Application, r.Queue, r.Partition)
		if ep := log.EPs[r.Number]; ep != nil {
			fmt.Fprintf(&b, ", %v", ep)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

var names = strings.ReplaceAll(Columns, ",", "|") + "\n"

func TestAccountingBecomesAWorkload(t *testing.T) {
	text := names +
		"9|130|150|160|COMPLETED|1|4|2|00:02.500|bob|physics|normal|main|late\n" +
		"9.batch|150|150|160|COMPLETED|4|4||00:02.500||||||\n" + // a step
		"7|100|110|130|RESIZING|2|8|5|00:00|ada|physics|normal|main|mesh\n" +
		"8|127|128|130|COMPLETED|2|8|5|00:00|ada|physics|normal|main|" + output.GrowPrefix + "7\n" +
		"7|130|130|150|RESIZING|2|16|5|00:00|ada|physics|normal|main|mesh\n" +
		"7|150|110|150|RESIZING|2|12|5|00:00|ada|physics|normal|main|mesh\n" + // held for less than a second
		"7|150|110|170|COMPLETED|2|4|5|00:00|ada|physics|normal|main|mesh\n" + // the job's limit was changed, so this row has the job's start
		"10|140|None|145|CANCELLED by 0|6|6|UNLIMITED|00:00:00|bob||high|debug|a|b\n" + // never began
		"17|155|160|160|CANCELLED by 0|6|6|1|00:00:00|bob||high|debug|same\n" + // this one did not start either
		"11|141|Unknown|Unknown|PENDING|6|6|1|00:00:00|bob||high|debug|later\n" +
		"12|142|150|Unknown|RUNNING|6|6|1|00:00:00|bob||high|debug|now\n" +
		"13|143|150|149|FAILED|6|6|1|00:00:00|bob||high|debug|odd\n" +
		"14|144|145|146|REQUEUED|1|1|1|1-00:00:02|bob||high|debug|again\n" +
		"14|147|148|149|TIMEOUT|1|1|1|00:00:00|bob||high|debug|again\n" +
		"15|150|150|160|RESIZING|1|4|1|00:00:00|bob||high|debug|same\n" +
		"15|160|160|170|DREAMING|1|4|1||bob||high|debug|same\n"
	log, left, err := Workload(strings.NewReader(text), "spring.txt", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	want := `7: @0 +10 60 s, 16 of 16, limit 60, cpu -1, status 1, 1 1 1 1 1, 8x20s,16x20s,4x20s
9: @30 +20 10 s, 4 of 4, limit 120, cpu 0.625, status 1, 2 1 2 1 1
10: @40 +-1 0 s, -1 of 6, limit -1, cpu -1, status 5, 2 -1 3 2 2
14: @44 +1 1 s, 1 of 1, limit 60, cpu 86402, status 5, 2 -1 4 2 2
18: @47 +1 1 s, 1 of 1, limit 60, cpu 0, status 0, 2 -1 4 2 2
15: @50 +0 20 s, 4 of 4, limit 60, cpu -1, status -1, 2 -1 5 2 2
17: @55 +-1 0 s, -1 of 6, limit 60, cpu -1, status 5, 2 -1 5 2 2
`
	if diff := cmp.Diff(want, jobs(log)); diff != "" {
		t.Errorf("the jobs differ (-want +got):\n%s", diff)
	}
	if told := left.String(); told != "2 jobs that wait or run, 1 expanders of jobs that grew, 1 jobs that end before they begin" {
		t.Errorf("left out: %s", told)
	}
	h := &log.Header
	start, _ := h.UnixStart()
	if start != 100 || log.Name != "spring.txt" || !slices.Equal(h.All("Queue"), []string{"1 normal", "2 high"}) || !slices.Equal(h.All("Partition"), []string{"1 main", "2 debug"}) {
		t.Errorf("%s: the header is %q", log.Name, h.Lines)
	}
	for _, secret := range []string{"ada", "bob", "physics", "mesh"} {
		if slices.ContainsFunc(h.Lines, func(line string) bool { return strings.Contains(line, secret) }) {
			t.Errorf("the header names %s: %q", secret, h.Lines)
		}
	}
}

func TestACompanionsProcessorsAreItsJobs(t *testing.T) {
	row := func(id string, submit, start, end int, state string, cpus int, name string) string {
		return fmt.Sprintf("%s|%d|%d|%d|%s|1|%d|%d|00:05|ada|physics|normal|main|%s\n", id, submit, start, end, state, cpus, cpus/2, name)
	}
	text := names + row("7", 90, 100, 160, "COMPLETED", 4, "mesh") + row("8", 119, 120, 150, "CANCELLED by 0", 6, "accordion-with-7") +
		row("9", 139, 140, 150, "COMPLETED", 2, "accordion-with-7") + row("10", 139, 140, 150, "COMPLETED", 2, "accordion-with-99")
	log, left, err := Workload(strings.NewReader(text), "a.txt", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	want := "7: @0 +10 60 s, 12 of 12, limit 60, cpu -1, status 1, 1 1 1 1 1, 4x20s,10x20s,12x10s,4x10s\n" +
		"10: @49 +1 10 s, 2 of 2, limit 60, cpu 2.5, status 1, 1 1 2 1 1\n" // the job in its name is unknown, because any user can choose such a name
	if diff := cmp.Diff(want, jobs(log)); diff != "" || left.String() != "" {
		t.Errorf("left out %q; the jobs differ (-want +got):\n%s", left, diff)
	}
}

func TestColumnsMayBeInAnyOrderAndTimesLocal(t *testing.T) {
	stockholm, err := time.LoadLocation("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	order := strings.Split(Columns, ",")
	slices.Reverse(order)
	row := map[string]string{
		"JobIDRaw": "5", "Submit": "2026-07-01T12:00:00", "Start": "2026-07-01T12:00:10", "End": "2026-07-01T12:01:00", "State": "COMPLETED",
		"ReqCPUS": "1", "AllocCPUS": "2", "TimelimitRaw": "10", "Cluster": "big",
	}
	var head, fields []string
	for _, name := range append(order, "Cluster") {
		head, fields = append(head, name), append(fields, row[name])
	}
	text := strings.Join(head, "|") + "\r\n\r\n" + strings.Join(fields, "|") + "\r\n"
	log, _, err := Workload(strings.NewReader(text), "a.txt", stockholm)
	if err != nil {
		t.Fatal(err)
	}
	start, _ := log.Header.UnixStart()
	if start != time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC).Unix() || jobs(log) != "5: @0 +10 50 s, 2 of 2, limit 600, cpu -1, status 1, -1 -1 -1 -1 -1\n" {
		t.Errorf("from %d: %s", start, jobs(log))
	}
}

func TestWrongTextIsRefusedWithItsPlace(t *testing.T) {
	good := "9|130|150|160|COMPLETED|1|4|2|00:02|bob|physics|normal|main|late"
	for text, want := range map[string]string{
		"":                        "a.txt:1: no text; want what this prints: SLURM_TIME_FORMAT=%s sacct ",
		"; Version: 2.2\n":        "a.txt:1: no column JobIDRaw in \"; Version: 2.2\"; want what this prints: ",
		"JobIDRaw|Submit|Start\n": "a.txt:1: no column End in ",
		names + "9|130\n":         "a.txt:2: 2 fields for 14 columns (no line of 1 can be read)",
		names + strings.Replace(good, "9|", "9_1|", 1):  `a.txt:2: JobIDRaw: "9_1" is no job id`,
		names + strings.Replace(good, "130", "noon", 1): `a.txt:2: Submit: "noon" is no time; want Unix seconds (SLURM_TIME_FORMAT=%s), or 2026-01-31T12:00:00`,
		names + strings.Replace(good, "|4|", "|4X|", 1): `a.txt:2: AllocCPUS: "4X" is no number from 0 to 2147483647`,
		names: "a.txt: no job that has ended",
		names + strings.Repeat("x", input.MaxLine) + "\n" + strings.Replace(good, "160", "Unknown", 1): "a.txt: no job that has ended",
		"JobName|" + strings.TrimSuffix(Columns, ",JobName") + "\n" + "a|" + good:                      "a.txt:1: no column",
	} {
		_, _, err := Workload(strings.NewReader(strings.ReplaceAll(text, "JobName|JobIDRaw,", "JobName,")), "a.txt", time.UTC)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.80q: %v\nwant %s", text, err, want)
		}
		var wrong *InputError
		if errors.As(err, &wrong) && wrong.File != "a.txt" {
			t.Errorf("%v is about %s", err, wrong.File)
		}
	}
	reordered := strings.ReplaceAll("JobName,"+strings.TrimSuffix(Columns, ",JobName"), ",", "|") + "\na|" + good + "\n"
	if _, _, err := Workload(strings.NewReader(reordered), "a.txt", time.UTC); err == nil || !strings.Contains(err.Error(), "ask for JobName last") {
		t.Errorf("a name that contains the separator: %v", err)
	}
}

// testdata/real.txt is the output of sacct of Slurm 22.05 in a lab. It has an evolving job of 2, then 4, then 1
// nodes with 4 CPUs each, and its expander. It also has ordinary jobs that completed, failed, were requeued or were
// canceled while pending, and the steps of all jobs.
func TestARealSacctIsRead(t *testing.T) {
	file, err := os.Open("testdata/real.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want := `1: @0 +1 8 s, 8 of 8, limit 300, cpu 0, status 1, 1 -1 1 1 1
2: @1 +0 2 s, 4 of 4, limit 300, cpu 0, status 0, 1 -1 2 1 1
3: @1 +8 64 s, 16 of 16, limit 64, cpu -1, status 1, 1 -1 3 1 1, 8x23s,16x20s,4x21s
4: @1 +0 3 s, 4 of 4, limit 300, cpu 0, status 1, 1 -1 4 1 1
5: @1 +0 1 s, 2 of 2, limit 300, cpu 0, status 1, 1 -1 5 1 2
6: @1 +2 4 s, 4 of 4, limit 300, cpu 0, status 5, 1 -1 6 1 1
7: @1 +0 3 s, 4 of 4, limit 300, cpu 0, status 1, 1 -1 4 1 1
8: @7 +-1 0 s, -1 of 6, limit 180, cpu -1, status 5, 1 -1 7 1 1
9: @7 +5 9 s, 4 of 4, limit -1, cpu 0, status 1, 1 -1 8 1 1
`
	log, left, err := Workload(file, "real.txt", time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, jobs(log)); diff != "" {
		t.Errorf("the jobs differ (-want +got):\n%s", diff)
	}
	if told := left.String(); told != "1 jobs that wait or run, 1 expanders of jobs that grew" {
		t.Errorf("left out: %s", told)
	}
}

func FuzzWorkload(f *testing.F) {
	f.Add(names + "7|100|110|130|RESIZING|2|8|5|00:00|ada|physics|normal|main|mesh\n7|130|130|150|COMPLETED|2|16|5|00:00|ada|physics|normal|main|mesh\n")
	f.Add(names + "10|140|None|145|CANCELLED by 0|6|6|UNLIMITED|1-00:00:00.5|bob||high|debug|a|b\n")
	f.Add(names + "7|100|110|2000000000|RESIZING|2|8|5|00:00|ada|physics|normal|main|mesh\n7|130|110|150|COMPLETED|2|16|5|00:00|ada|physics|normal|main|mesh\n")
	f.Add(names + "7|1|2|3|FAILED|2|8|5|00:00|||||\n8|1000000000000000000|1000000000000000000|1000000000000000001|FAILED|2|8|5|00:00|||||\n")
	f.Add(names + "7||||RESIZING||1||||||||\n7||||COMPLETED||2||||||||\n")
	f.Add(names + "7|||1|RESIZING||1|||||||\n7|||2|||2|||||||0")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<12 {
			return
		}
		log, _, err := Workload(strings.NewReader(text), "a.txt", time.UTC)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := swf.Write(&b, log); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := swf.Read(&b, "a.txt", swf.Options{Strict: true})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if jobs(again) != jobs(log) {
			t.Errorf("%q: written and read:\n%s\nwant\n%s", text, jobs(again), jobs(log))
		}
		for i, r := range log.Records {
			if r.Submit < 0 || i > 0 && r.Submit < log.Records[i-1].Submit || r.Run < 0 {
				t.Errorf("%q: %+v", text, r)
			}
			if ep := log.EPs[r.Number]; ep != nil && ep.Total() != r.Run {
				t.Errorf("%q: job %d ran %d s and held %v", text, r.Number, r.Run, ep)
			}
		}
	})
}
