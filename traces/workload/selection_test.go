package workload

import (
	"cmp"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"accordion/core"
	"accordion/traces/swf"
)

// logOf returns a log with these header lines. Each job is "submit run allocated requested request"; jobs are numbered from 1.
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

func TestSelectKeepsUsableJobs(t *testing.T) {
	got, err := Selection{}.Select(logOf(t, " MaxNodes: 7\n MaxProcs: 10 (of 12)",
		[5]int64{5, 60, -1, 4, 100}, // 1: kept
		[5]int64{5, 200, 4, 6, 100}, // 2: longer than its limit; has what it requested
		[5]int64{5, 60, 4, -1, 100}, // 3: no requested processors: the allocated ones count
		[5]int64{-1, 60, 4, 4, 100}, // 4: no submission time
		[5]int64{5, 0, 4, 4, 100},   // 5: did not run
		[5]int64{5, -1, 4, 4, 100},  // 6: unknown run time
		[5]int64{5, 60, -1, 0, 100}, // 7: no processors
		[5]int64{5, 60, 4, 11, 100}, // 8: requested more than the machine has
		[5]int64{5, 60, 11, 4, 100}, // 9: got more than the machine has
		[5]int64{5, 60, 4, 4, -1},   // 10: no requested time
		[5]int64{5, 60, 4, 4, 0},    // 11: neither
		[5]int64{2, 60, 10, 10, 60}, // 12: submitted before all others, on the whole machine
		[5]int64{5, 60, 4, 4, 1e15}, // 13: requests millions of years
		[5]int64{5, 1, 0, 1, 1},     // 14: kept
	))
	if err != nil {
		t.Fatal(err)
	}
	want := []Job{
		{Number: 12, Submit: 2, Run: 60, Request: 60, Size: 10, User: 3},
		{Number: 1, Submit: 5, Run: 60, Request: 100, Size: 4, User: 3},
		{Number: 2, Submit: 5, Run: 100, Request: 100, Size: 6, User: 3, Cut: true},
		{Number: 3, Submit: 5, Run: 60, Request: 100, Size: 4, User: 3},
		{Number: 14, Submit: 5, Run: 1, Request: 1, Size: 1, User: 3},
	}
	if !slices.EqualFunc(got.Jobs, want, sameJob) || got.Machine.Nodes != 10 || !slices.Equal(got.Records, []int32{11, 0, 1, 2, 13}) {
		t.Errorf("kept on %d nodes, records %v:\n%+v\nwant on 10:\n%+v", got.Machine.Nodes, got.Records, got.Jobs, want)
	}
	const left = "1 without a submission time, 2 that did not run, 1 without processors, 2 larger than the machine, 2 without a requested time, 1 with a time of more than 300 years"
	if got.LeftOut.String() != left || got.LeftOut.Total() != 9 {
		t.Errorf("left out %d: %s\nwant %s", got.LeftOut.Total(), got.LeftOut, left)
	}
}

func sameJob(a, b Job) bool {
	same := slices.EqualFunc(a.Choices, b.Choices, func(x, y core.EP) bool { return slices.Equal(x, y) })
	same = same && slices.Equal(a.Runs, b.Runs)
	a.Choices, b.Choices, a.Runs, b.Runs = nil, nil, nil, nil
	return same && a.Number == b.Number && a.Submit == b.Submit && a.Run == b.Run && a.Request == b.Request && a.Size == b.Size && a.User == b.User && a.Cut == b.Cut
}

func TestMachineSizeComesFromHeaderOrUser(t *testing.T) {
	for _, c := range []struct {
		name, header string
		s            Selection
		nodes, kept  int
	}{
		{"MaxProcs before MaxNodes", " MaxNodes: 3\n MaxProcs: 6", Selection{}, 6, 3},
		{"MaxNodes where there is no MaxProcs", " MaxNodes: 3", Selection{}, 3, 2},
		{"MaxNodes where MaxProcs is -1", " MaxProcs: -1\n MaxNodes: 3", Selection{}, 3, 2},
		{"the leading integer only", " MaxProcs: 6 (batch; 9 in all)", Selection{}, 6, 3},
		{"the user before the header", " MaxProcs: 6", Selection{Machine: 4}, 4, 2},
		{"whole nodes", " MaxProcs: 6", Selection{ProcsPerNode: 2}, 3, 3},
		{"whole nodes of which the last is not whole", " MaxProcs: 5", Selection{ProcsPerNode: 2}, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.s.Select(logOf(t, c.header, [5]int64{0, 1, 1, 1, 1}, [5]int64{0, 1, 3, 3, 1}, [5]int64{0, 1, 5, 5, 1}))
			if err != nil {
				t.Fatal(err)
			}
			if got.Machine.Nodes != c.nodes || len(got.Jobs) != c.kept {
				t.Errorf("%d nodes and %d jobs, want %d and %d", got.Machine.Nodes, len(got.Jobs), c.nodes, c.kept)
			}
		})
	}
	for _, header := range []string{"", " MaxProcs: -1", " MaxNodes: many"} {
		if _, err := (Selection{}).Select(logOf(t, header, [5]int64{0, 1, 1, 1, 1})); !errors.Is(err, ErrNoMachine) {
			t.Errorf("header %q: %v, want %v", header, err, ErrNoMachine)
		}
	}
}

func TestRunTimeIsUsedIfNoJobHasARequestedTime(t *testing.T) {
	all := logOf(t, " MaxProcs: 9", [5]int64{0, 70, 1, -1, -1}, [5]int64{1, 80, 1, -1, 0})
	got, err := Selection{}.Select(all)
	if err != nil || !got.RunOnly || len(got.Jobs) != 2 || got.Jobs[0].Request != 70 || got.Jobs[1].Request != 80 || got.Jobs[0].Cut {
		t.Errorf("kept %+v, error %v", got, err)
	}
	// If a single job of the log has a requested time, even a job that is left out, the other jobs count as jobs without a requested time.
	all.Records = append(all.Records, swf.Record{Number: 3, Submit: -1, RequestedTime: 5})
	if _, err := (Selection{}).Select(all); err == nil || !strings.Contains(err.Error(), "none of 3 jobs can be replayed: 1 without a submission time, 2 without a requested time") {
		t.Errorf("error %v", err)
	}
}

func TestEstimatesChangeRequestsOfSelectedJobs(t *testing.T) {
	for text, want := range map[string][2]core.Time{ // of a job that runs 60 s of 100 s, and of one that is cut at 50 s
		"requested": {100, 50},
		"actual":    {60, 50},
		"×1":        {60, 50},
		"×1.5":      {90, 75},
		"x2.111111": {126, 105},
	} {
		e, err := ParseEstimates(text)
		if err != nil {
			t.Error(err)
			continue
		}
		got, err := Selection{Estimates: e}.Select(logOf(t, " MaxProcs: 9", [5]int64{0, 60, 1, 1, 100}, [5]int64{0, 80, 1, 1, 50}, [5]int64{0, 9, 1, 1, 0}))
		if err != nil || len(got.Jobs) != 2 {
			t.Fatalf("%s: %d jobs, error %v", text, len(got.Jobs), err)
		}
		if requests := [2]core.Time{got.Jobs[0].Request, got.Jobs[1].Request}; requests != want || got.Jobs[1].Run != 50 || !got.Jobs[1].Cut {
			t.Errorf("%s: requests %v, want %v", text, requests, want)
		}
	}
	for _, text := range []string{"", "wrong", "×", "x0.5", "×-1", "2", "x1e3", "×0"} {
		if _, err := ParseEstimates(text); err == nil {
			t.Errorf("%q is read as estimates", text)
		}
	}
}

func TestArrivals(t *testing.T) {
	factor := func(text string) Factor {
		f, err := ParseFactor("factor", text)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	jobs := [][5]int64{{-1, 1, 1, 1, 1}, {103, 1, 1, 1, 1}, {100, 0, 1, 1, 1}, {114, 1, 1, 1, 1}, {101, 1, 1, 1, 1}, {102, 1, 1, 1, 1}}
	for _, c := range []struct {
		name    string
		s       Selection
		submits []core.Time
		numbers []int64
	}{
		{"as in the log", Selection{}, []core.Time{101, 102, 103, 114}, []int64{5, 6, 2, 4}},
		{"load, from the first kept job on", Selection{ScaleLoad: factor("1.3")}, []core.Time{101, 101, 102, 111}, []int64{5, 6, 2, 4}},
		{"load, equal submissions by log order", Selection{ScaleLoad: factor("4")}, []core.Time{101, 101, 101, 104}, []int64{2, 5, 6, 4}},
		{"less load", Selection{ScaleLoad: factor("0.5")}, []core.Time{101, 103, 105, 127}, []int64{5, 6, 2, 4}},
		{"a rate", Selection{ArrivalRate: factor("0.4")}, []core.Time{101, 103, 106, 108}, []int64{5, 6, 2, 4}},
		{"a limit", Selection{Limit: 2}, []core.Time{101, 102}, []int64{5, 6}},
		{"a window", Selection{Window: Window{From: 102, To: 114}}, []core.Time{102, 103}, []int64{6, 2}},
		{"a window, then load", Selection{Window: Window{From: 102}, ScaleLoad: factor("4")}, []core.Time{102, 102, 105}, []int64{2, 6, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.s.Select(logOf(t, " MaxProcs: 9", jobs...))
			if err != nil {
				t.Fatal(err)
			}
			var submits []core.Time
			var numbers []int64
			for i, j := range got.Jobs {
				submits, numbers = append(submits, j.Submit), append(numbers, j.Number)
				if int64(got.Records[i]) != j.Number-1 {
					t.Errorf("job %d is said to be record %d", j.Number, got.Records[i])
				}
			}
			if !slices.Equal(submits, c.submits) || !slices.Equal(numbers, c.numbers) {
				t.Errorf("submitted at %v are %v, want %v and %v", submits, numbers, c.submits, c.numbers)
			}
			if len(got.Jobs)+got.LeftOut.Total() != len(jobs) {
				t.Errorf("%d kept and %d left out of %d", len(got.Jobs), got.LeftOut.Total(), len(jobs))
			}
		})
	}
}

// The test implements the rules again, as filters that are applied one after the other.
func TestSelectionEqualsPlainFilters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		machine := rapid.IntRange(1, 20).Draw(t, "machine")
		l := &swf.Log{Name: "drawn", Header: swf.Header{Lines: []string{" MaxProcs: 20"}}}
		asked := rapid.Bool().Draw(t, "asked") // whether the log has requested times
		for i := range rapid.IntRange(1, 30).Draw(t, "jobs") {
			n := func(from, to int64, what string) int64 { return rapid.Int64Range(from, to).Draw(t, what) }
			r := swf.Record{Number: int64(i + 1), Submit: n(-1, 30, "submit"), Run: n(-1, 30, "run"), Processors: int32(n(-1, 25, "got")), RequestedProcessors: int32(n(-1, 25, "asked"))}
			if r.RequestedTime = -1; asked {
				r.RequestedTime = n(-1, 30, "request")
			}
			l.Records = append(l.Records, r)
		}
		load := rapid.Int64Range(1, 4_000_000).Draw(t, "load")
		type row struct{ number, submit, run, request, size int64 }
		var want []row
		any := false
		for _, r := range l.Records {
			any = any || r.RequestedTime > 0
		}
		for _, r := range l.Records {
			size := int64(r.RequestedProcessors)
			if size <= 0 {
				size = int64(r.Processors)
			}
			request := r.RequestedTime
			if !any {
				request = r.Run
			}
			if r.Submit >= 0 && r.Run > 0 && size > 0 && int(r.RequestedProcessors) <= machine && int(r.Processors) <= machine && request > 0 {
				want = append(want, row{r.Number, r.Submit, min(r.Run, request), request, size})
			}
		}
		slices.SortStableFunc(want, func(a, b row) int { return cmp.Compare(a.submit, b.submit) })
		for i := len(want) - 1; i >= 0; i-- {
			// s0 + floor((s − s0)/F), in exact fractions
			q := new(big.Rat).SetFrac64((want[i].submit-want[0].submit)*1_000_000, load)
			want[i].submit = want[0].submit + new(big.Int).Quo(q.Num(), q.Denom()).Int64()
		}
		slices.SortFunc(want, func(a, b row) int { return cmp.Or(cmp.Compare(a.submit, b.submit), cmp.Compare(a.number, b.number)) })
		got, err := Selection{Machine: machine, ScaleLoad: Factor(load)}.Select(l)
		if len(want) == 0 {
			if err == nil {
				t.Fatalf("an empty workload is no error")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var rows []row
		for _, j := range got.Jobs {
			rows = append(rows, row{j.Number, j.Submit, j.Run, j.Request, int64(j.Size)})
		}
		if !slices.Equal(rows, want) || len(rows)+got.LeftOut.Total() != len(l.Records) {
			t.Fatalf("kept %v\nwant %v", rows, want)
		}
	})
}

func TestProfilesOfTheLogMakeEvolvingJobs(t *testing.T) {
	l := logOf(t, " MaxProcs: 8", [5]int64{0, 60, 4, 4, 100}, [5]int64{0, 120, 4, 4, 100}, [5]int64{0, 10, 4, 4, 100}, [5]int64{0, 10, 8, 8, 100})
	l.EPs = map[int64]core.EP{
		1: {{Duration: 40, Nodes: 3}, {Duration: 60, Nodes: 5}},
		2: {{Duration: 40, Nodes: 3}, {Duration: 20, Nodes: 5}},   // shorter than requested: the last step is lengthened
		3: {{Duration: 40, Nodes: 3}, {Duration: 100, Nodes: 4}},  // in whole nodes it does not evolve
		4: {{Duration: 40, Nodes: 2}, {Duration: 100, Nodes: 12}}, // larger than the machine
	}
	got, err := Selection{ProcsPerNode: 2}.Select(l)
	if err != nil {
		t.Fatal(err)
	}
	want := []Job{
		{Number: 1, Run: 60, Request: 100, Size: 3, User: 3, Choices: []core.EP{{{Duration: 40, Nodes: 2}, {Duration: 60, Nodes: 3}}}},
		{Number: 2, Run: 100, Request: 100, Size: 3, User: 3, Cut: true, Choices: []core.EP{{{Duration: 40, Nodes: 2}, {Duration: 60, Nodes: 3}}}},
		{Number: 3, Run: 10, Request: 100, Size: 2, User: 3},
	}
	if !slices.EqualFunc(got.Jobs, want, sameJob) || got.LeftOut[TooLarge] != 1 {
		t.Errorf("kept %+v, left out %s; want %+v", got.Jobs, got.LeftOut, want)
	}
}

func TestLogWithoutUsableJobsIsAnError(t *testing.T) {
	_, err := Selection{}.Select(logOf(t, " MaxProcs: 8", [5]int64{0, 0, 4, 4, 100}, [5]int64{0, 10, 9, 4, 100}))
	const want = "log: none of 2 jobs can be replayed: 1 that did not run, 1 larger than the machine"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	if _, err := (Selection{}).Select(logOf(t, " MaxProcs: 8")); err == nil || err.Error() != "log: the log has a header and no jobs" {
		t.Errorf("of a log without jobs: error %v", err)
	}
}

func TestBurstsAreNotJobs(t *testing.T) {
	log := logOf(t, " MaxProcs: 9", [5]int64{0, 30, 4, 4, 60}, [5]int64{0, 10, 4, 4, 60}, [5]int64{-1, 20, 4, 4, 60}, [5]int64{5, 10, 2, 2, 60})
	for i, status := range []swf.Status{swf.Completed, swf.Part, swf.LastPart, swf.LastPart} {
		log.Records[i].Number, log.Records[i].Status = int64(1+i/3), status
	}
	got, err := Selection{}.Select(log)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Jobs) != 2 || got.Jobs[0].Run != 30 || got.Jobs[1].Run != 10 || got.LeftOut.String() != "2 that are parts of the job above them" {
		t.Errorf("jobs %+v, left out: %s", got.Jobs, got.LeftOut)
	}
}

func TestUnreadableMachineSizeIsNamedInTheError(t *testing.T) {
	_, err := Selection{}.Select(logOf(t, " MaxProcs: 1 024", [5]int64{0, 1, 1, 1, 1}))
	const want = `read the header's size of the machine: "MaxProcs: 1 024" is no whole number of processors; write MaxProcs: 1024, or give --nodes 1024`
	if err == nil || !strings.HasSuffix(err.Error(), ": "+want) {
		t.Errorf("error %v, want %s", err, want)
	}
	if got, err := (Selection{Machine: 4}).Select(logOf(t, " MaxProcs: 1 024", [5]int64{0, 1, 1, 1, 1})); err != nil || got.Machine.Nodes != 4 {
		t.Errorf("with --machine: %v", err)
	}
}

func TestDescribe(t *testing.T) {
	jobs := make([]Job, 3)
	for _, c := range []struct {
		selected Selected
		supposed Supposed
		want     string
	}{
		{Selected{Workload: Workload{Machine: core.Machine{Nodes: 8}, Jobs: jobs[:1]}}, Supposed{}, "1 job on 8 nodes"},
		{Selected{Workload: Workload{Machine: core.Machine{Nodes: 8}, Jobs: jobs}}, Supposed{Evolving: 1, AsBefore: 1},
			"3 jobs on 8 nodes, 1 of them evolving and 0 moldable (1 of those drawn stays as it is)"},
		{Selected{Workload: Workload{Machine: core.Machine{Nodes: 8}, Jobs: jobs}, LeftOut: LeftOut{NoRun: 2}, RunOnly: true}, Supposed{Moldable: 1, AsBefore: 2},
			"3 jobs on 8 nodes, 0 of them evolving and 1 moldable (2 of those drawn stay as they are); left out 2: 2 that did not run; no job has a requested time, so its run time stands in"},
	} {
		if got := c.selected.Describe(c.supposed); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
