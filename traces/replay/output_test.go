package replay

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// written returns a small replay of a log in which job 4 comes before job 3.
func written(t *testing.T) (*swf.Log, *workload.Selected, Result, *Placement) {
	t.Helper()
	l := logOf(t, " Computer: none\n MaxProcs: 8 (all)",
		[5]int64{10, 100, 4, 4, 120}, [5]int64{20, 90, 5, 5, 40}, [5]int64{40, 30, 4, 4, 40}, [5]int64{30, 9, 3, 3, 9}, [5]int64{50, 0, 1, 1, 1},
	)
	l.Name = `a,"b"`
	s, err := workload.Selection{}.Select(l)
	if err != nil {
		t.Fatal(err)
	}
	s.Jobs[3].Choices = []core.EP{{{Duration: 10, Nodes: 2}, {Duration: 30, Nodes: 4}}} // job 3
	r := Result{Policy: "hand", Outcomes: []Outcome{
		{Start: 10, End: 110},
		{Start: -1},
		{Start: 30, End: 39},
		{Start: 40, End: 75, Held: core.EP{{Duration: 15, Nodes: 2}, {Duration: 20, Nodes: 4}}},
	}}
	p, err := Place(s.Workload, r)
	if err != nil {
		t.Fatal(err)
	}
	return l, s, r, p
}

func TestJobsAreWrittenInBatsimsColumnsInTheOrderOfTheLog(t *testing.T) {
	_, s, r, p := written(t)
	var out bytes.Buffer
	if err := WriteJobs(&out, s, r, p); err != nil {
		t.Fatal(err)
	}
	want := `job_id,workload_name,submission_time,requested_number_of_resources,requested_time,success,starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_resources
1,"a,""b""",10,4,120,1,10,100,110,0,100,1.000000,-1,0-3
2,"a,""b""",20,5,40,0,,,,,,,,
3,"a,""b""",40,4,40,1,40,35,75,0,35,1.000000,-1,4-7
4,"a,""b""",30,3,9,1,30,9,39,0,9,1.000000,-1,4-6
`
	if out.String() != want {
		t.Errorf("written\n%s\nwant\n%s", out.String(), want)
	}
	if rows, err := csv.NewReader(&out).ReadAll(); err != nil || len(rows) != 5 || rows[1][1] != s.Name {
		t.Errorf("read back: %v, error %v", rows, err)
	}
}

func TestStepsAreWrittenForEvolvingJobs(t *testing.T) {
	_, s, r, p := written(t)
	var out bytes.Buffer
	if err := WriteSteps(&out, s, r, p); err != nil {
		t.Fatal(err)
	}
	want := `job_id,step,starting_time,execution_time,finish_time,requested_number_of_resources,allocated_resources
3,0,40,15,55,2,4-5
3,1,55,20,75,4,4-7
`
	if out.String() != want {
		t.Errorf("written\n%s\nwant\n%s", out.String(), want)
	}
}

func TestMoldableJobIsWrittenWithItsChosenSize(t *testing.T) {
	w, r := hand(8, Outcome{Start: 5, End: 25, Choice: 4})
	w.Jobs[0].Submit = 0
	w.Jobs[0].Choices = []core.EP{{{Duration: 50, Nodes: 2}}, {{Duration: 30, Nodes: 6}}}
	r.Outcomes[0].Choice = 1
	w.Jobs[0].Run = 16 // in the log
	s := &workload.Selected{Workload: w, Records: []int32{0}}
	for choice, want := range map[int]string{1: "1,hand,0,6,30,1,5,20,25,5,25,1.562500,-1,0-5\n", AsRequested: "1,hand,0,4,20,1,5,20,25,5,25,1.562500,-1,0-3\n"} {
		r.Outcomes[0].Choice = choice
		p, err := Place(w, r)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := WriteJobs(&out, s, r, p); err != nil || !strings.HasSuffix(out.String(), "\n"+want) {
			t.Errorf("choice %d is written %s, error %v; want %s", choice, out.String(), err, want)
		}
	}
}

func TestMetricsFileHasWhatWasLeftOut(t *testing.T) {
	_, s, r, _ := written(t)
	var out bytes.Buffer
	if err := WriteMetrics(&out, Measure(s.Workload, r), s); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Trace, Policy string
		Jobs, Records int
		LeftOut       map[string]int              `json:"left_out"`
		NeverBegan    int                         `json:"never_began"`
		Slowdown      struct{ Mean, P95 float64 } `json:"bounded_slowdown"`
		BySize        []struct {
			Class   string
			Waiting struct{ Mean float64 }
		} `json:"by_size"`
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Trace != s.Name || got.Policy != "hand" || got.Jobs != 4 || got.Records != 5 || len(got.LeftOut) != 1 || got.LeftOut["no_run_time"] != 1 ||
		got.NeverBegan != 1 || got.Slowdown.Mean != 1 || len(got.BySize) != 5 || got.BySize[1].Class != "2-8" {
		t.Errorf("read back: %+v", got)
	}
}

func TestReplayedLogHasTheTimesOfTheReplay(t *testing.T) {
	l, s, r, _ := written(t)
	var out bytes.Buffer
	if err := WriteSWF(&out, l, s, r); err != nil {
		t.Fatal(err)
	}
	back, err := swf.Read(&out, "back", swf.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := back.Header.Machine(); n != 8 || len(back.Records) != 4 || back.EPs[3].String() != "2x10s,4x30s" {
		t.Errorf("a machine of %d, %d jobs, profiles %v", n, len(back.Records), back.EPs)
	}
	for i, want := range []swf.Record{
		{Number: 1, Submit: 10, Wait: 0, Run: 100, Processors: 4, RequestedProcessors: 4, RequestedTime: 120, User: 3},
		{Number: 2, Submit: 20, Wait: -1, Run: -1, Processors: -1, RequestedProcessors: 5, RequestedTime: 40, User: 3},
		{Number: 4, Submit: 30, Wait: 0, Run: 9, Processors: 3, RequestedProcessors: 3, RequestedTime: 9, User: 3},
		{Number: 3, Submit: 40, Wait: 0, Run: 35, Processors: 4, RequestedProcessors: 4, RequestedTime: 40, User: 3},
	} {
		if got := back.Records[i]; got != want {
			t.Errorf("job %d is %+v, want %+v", want.Number, got, want)
		}
	}
}

func TestMillionthsAreRounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.OneOf(rapid.Int64Range(0, 50), rapid.Int64Range(0, 1<<50)).Draw(t, "a")
		b := rapid.OneOf(rapid.Int64Range(1, 50), rapid.Int64Range(1, 1<<40)).Draw(t, "b")
		want := big.NewRat(a, b).FloatString(6) // half is rounded away from zero
		if got := string(appendMillionths(nil, a, b)); got != want {
			t.Fatalf("%d/%d is written %s, want %s", a, b, got, want)
		}
	})
	if got, err := strconv.ParseFloat(string(appendMillionths(nil, 103585102, 3993000)), 64); err != nil || got != 25.941673 {
		t.Errorf("the stretch of job 70 of evalys' example is %v, error %v; want 25.941673", got, err)
	}
}

// logOf returns a log. Each job is: submission, run time, allocated processors, requested processors, requested time.
func logOf(t *testing.T, header string, jobs ...[5]int64) *swf.Log {
	t.Helper()
	l := &swf.Log{Name: "log", Header: swf.Header{Lines: strings.Split(header, "\n")}}
	for i, j := range jobs {
		l.Records = append(l.Records, swf.Record{
			Number: int64(i + 1), Submit: j[0], Wait: swf.Unknown, Run: j[1], Processors: int32(j[2]), RequestedProcessors: int32(j[3]), RequestedTime: j[4], User: 3,
		})
	}
	return l
}
