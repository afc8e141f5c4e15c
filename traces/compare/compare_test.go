package compare

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"accordion/core"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/replay"
	"accordion/traces/report"
	"accordion/traces/workload"
)

// three is a workload on which the policies differ: a wide job has to wait, and a short job fits while the first job runs.
var three = workload.Workload{Name: "three", Machine: core.Machine{Nodes: 4}, Jobs: []workload.Job{
	{Number: 1, Submit: 0, Run: 100, Request: 100, Size: 3},
	{Number: 2, Submit: 1, Run: 100, Request: 100, Size: 4},
	{Number: 3, Submit: 2, Run: 50, Request: 50, Size: 1},
}}

func policies(t *testing.T, names ...string) []policy.Policy {
	t.Helper()
	all := make([]policy.Policy, len(names))
	for i, name := range names {
		p, err := policy.Named(name, sched.FirstCome)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = p
	}
	return all
}

func TestPoliciesAreReplayedInParallel(t *testing.T) {
	names := []string{"fcfs", "easy", "conservative", "fcfs", "evolving:2X+c"}
	runs, err := Replay(context.Background(), three, policies(t, names...), nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, waits := range []float64{(0 + 99 + 198) / 3.0, 99 / 3.0, 99 / 3.0, (0 + 99 + 198) / 3.0, 99 / 3.0} {
		if got := runs[i].Metrics.Waiting.Mean; got != waits || runs[i].Policy != names[i] || len(runs[i].Outcomes) != 3 {
			t.Errorf("%s waits %v on average, want %v; it calls itself %s", names[i], got, waits, runs[i].Policy)
		}
	}
}

func TestInterruptedComparisonHasNoRuns(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if runs, err := Replay(ctx, three, policies(t, "easy"), nil); !errors.Is(err, context.Canceled) || runs != nil {
		t.Errorf("%d runs, error %v", len(runs), err)
	}
	if result, _, err := Once(ctx, three, policies(t, "easy")[0]); !errors.Is(err, context.Canceled) || result.Outcomes != nil {
		t.Errorf("%d outcomes, error %v", len(result.Outcomes), err)
	}
}

func TestInterruptedErrorHasTheFinishedReplays(t *testing.T) {
	before := runtime.GOMAXPROCS(1) // replays one policy after the other
	defer runtime.GOMAXPROCS(before)
	ctx, stop := context.WithCancel(context.Background())
	think := make(chan struct{})
	defer close(think)
	jobs := len(three.Jobs)
	runs, err := Replay(ctx, three, policies(t, "easy", "fcfs", "conservative"), func(over int) {
		if over == 2*jobs {
			stop()
			<-think
		}
	})
	var stopped *InterruptedError
	if !errors.As(err, &stopped) || runs != nil || !errors.Is(err, context.Canceled) {
		t.Fatalf("%d runs, error %v", len(runs), err)
	}
	if !slices.Equal(stopped.Done, []bool{true, false, false}) || stopped.Runs[0].Policy != "easy" || stopped.Runs[0].Metrics.Waiting.Mean != 33 {
		t.Errorf("done %v, first %+v", stopped.Done, stopped.Runs[0])
	}
	if said := err.Error(); said != "interrupted: 1 of 3 policies done" {
		t.Error(said)
	}
}

// The work never ends. Only the interrupt ends the comparison.
func TestInterruptEndsComparisonDuringAReplay(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	think := make(chan struct{})
	defer close(think)
	err := until(ctx, func() {
		stop()
		<-think
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestOnceEqualsReplayUnderOnePolicy(t *testing.T) {
	for _, p := range policies(t, "fcfs", "easy") {
		result, placed, err := Once(context.Background(), three, p)
		runs, err2 := Replay(context.Background(), three, []policy.Policy{p}, nil)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if replay.Measure(three, result).Waiting != runs[0].Metrics.Waiting || result.Policy != p.Name || placed.Job(0).String() != "0-2" {
			t.Errorf("%s: once %+v, otherwise %+v", p.Name, result, runs[0].Result)
		}
	}
}

func TestProgressReachesAllJobs(t *testing.T) {
	told := make(chan int, 100)
	if _, err := Replay(context.Background(), three, policies(t, "easy", "fcfs"), func(over int) { told <- over }); err != nil {
		t.Fatal(err)
	}
	close(told)
	most := 0
	for over := range told {
		most = max(most, over)
	}
	if most != 6 {
		t.Errorf("at most %d jobs are said to be over, of 2 times 3", most)
	}
}

func TestTableHasDifferencesToTheFirst(t *testing.T) {
	runs, err := Replay(context.Background(), three, policies(t, "fcfs", "easy"), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := Text([]string{"fcfs", "easy"}, []replay.Metrics{runs[0].Metrics, runs[1].Metrics}, true)
	for _, line := range []string{"Mean wait │ 1m39s │ 33s (-67 %)", "Longest wait │ 3m18s │ 1m39s (-50 %)", "Makespan │ 4m10s │ 3m20s (-20 %)", "Utilisation │ 75.0 % │ 93.8 % (+18.8)", "Waste │ 0.0 % │ 0.0 % (=)"} {
		if plain := strings.Join(strings.Fields(got), " "); !strings.Contains(plain, line) {
			t.Errorf("the table has no line %q:\n%s", line, got)
		}
	}
}

func TestValuesAreFormattedByUnit(t *testing.T) {
	for _, c := range []struct {
		unit  report.Unit
		value float64
		want  string
	}{
		{report.Seconds, 0, "0s"}, {report.Seconds, 7.25, "7.3s"}, {report.Seconds, 59.94, "59.9s"}, {report.Seconds, 59.96, "1m00s"}, {report.Seconds, 3599.4, "59m59s"},
		{report.Seconds, 3599.6, "1h00m"}, {report.Seconds, 6837, "1h54m"}, {report.Seconds, 86369, "23h59m"}, {report.Seconds, 86399, "1d00h"}, {report.Seconds, 86400 * 400, "400d00h"},
		{report.Number, 1, "1.00"}, {report.Number, 92.58, "92.6"}, {report.Number, 999.96, "1000"}, {report.Number, 12765.5, "12766"}, {report.Share, 0.6856, "68.6 %"},
	} {
		if got := value(c.unit, c.value); got != c.want {
			t.Errorf("%v is written %s, want %s", c.value, got, c.want)
		}
	}
	for _, c := range []struct {
		unit     report.Unit
		v, first float64
		want     string
	}{
		{report.Seconds, 5, 5, "(=)"}, {report.Seconds, 0, 0, "(=)"}, {report.Seconds, 5, 0, "(+5s)"}, {report.Seconds, 110, 100, "(+10 %)"}, {report.Seconds, 99, 100, "(-1.0 %)"},
		{report.Share, 0.68, 0.705, "(-2.5)"}, {report.Number, 30, 10, "(+200 %)"},
	} {
		if got := difference(c.unit, c.v, c.first); got != c.want {
			t.Errorf("from %v to %v: %s, want %s", c.first, c.v, got, c.want)
		}
	}
}

func TestEveryMetricHasAFiniteValueAndAUniqueName(t *testing.T) {
	runs, err := Replay(context.Background(), three, policies(t, "easy"), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	m := &runs[0].Metrics
	for _, line := range Metrics {
		if v := line.Of(m); math.IsNaN(v) || math.IsInf(v, 0) || line.Name == "" || line.Group == "" || seen[line.Name] {
			t.Errorf("%s, %s: %v", line.Group, line.Name, v)
		}
		seen[line.Name] = true
	}
}

// one returns metrics with these kinds of jobs.
func one(kinds ...replay.Kind) replay.Metrics { return replay.Metrics{ByKind: kinds} }

func TestLosers(t *testing.T) {
	evolving := func(wait, slowdown float64) replay.Kind {
		return replay.Kind{Kind: "evolving", Jobs: 3, Waiting: wait, Slowdown: slowdown}
	}
	rigid := func(wait, slowdown float64) replay.Kind {
		return replay.Kind{Kind: "rigid", Jobs: 3, Waiting: wait, Slowdown: slowdown}
	}
	for _, c := range []struct {
		what    string
		metrics []replay.Metrics
		want    string
	}{
		{"one policy", []replay.Metrics{one(rigid(100, 2))}, ""},
		{"all gain", []replay.Metrics{one(evolving(100, 2), rigid(100, 2)), one(evolving(50, 1), rigid(90, 2))},
			"Who loses in the mean, against a: under b nobody loses.\n"},
		{"less than counts", []replay.Metrics{one(rigid(1000, 2)), one(rigid(1004, 2.009))}, "Who loses in the mean, against a: under b nobody loses.\n"},
		{"others wait", []replay.Metrics{one(evolving(100, 2), rigid(100, 2)), one(evolving(50, 1), rigid(160, 2))},
			"Who loses in the mean, against a: under b other jobs wait 1m00s longer.\n"},
		{"all are slowed down", []replay.Metrics{one(rigid(0, 1)), one(rigid(0, 1)), one(rigid(30, 4))},
			"Who loses in the mean, against a: under b nobody loses; under c jobs wait 30s longer and are slowed down 4.00 times instead of 1.00.\n"},
		{"both", []replay.Metrics{one(evolving(10, 2), rigid(10, 2)), one(evolving(20, 2), rigid(30, 2))},
			"Who loses in the mean, against a: under b evolving jobs wait 10s longer, other jobs wait 20s longer.\n"},
	} {
		if got := Losers([]string{"a", "b", "c"}, c.metrics); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestSharesHaveAColumnEach(t *testing.T) {
	with := func(mean float64, kinds ...replay.Kind) replay.Metrics {
		m := one(kinds...)
		m.Waiting.Mean, m.Slowdown.Mean, m.Waiting.Max = mean, 2, 100
		return m
	}
	evolving, rigid := replay.Kind{Kind: "evolving", Jobs: 1, Waiting: 10, Slowdown: 2}, replay.Kind{Kind: "rigid", Jobs: 1, Waiting: 40, Slowdown: 2}
	fewer := evolving
	fewer.Waiting = 4
	got := Shares([]string{"easy", "ours"}, []Case{
		{Share: 0, Seed: 1, Metrics: []replay.Metrics{with(40, rigid), with(30, rigid)}},
		{Share: .3, Seed: 1, Metrics: []replay.Metrics{with(40, evolving, rigid), with(20, fewer, rigid)}},
		{Share: .3, Seed: 2, Metrics: []replay.Metrics{with(40, evolving, rigid), with(22, fewer, rigid)}},
	})
	plain := strings.Join(strings.Fields(got), " ")
	for _, line := range []string{"evolving │ 0 % │ 30 % │", "mean wait │ 40s │ 40s │", "mean wait │ -25.0 % │ -47.5 % ± 31.8 │", "evolving jobs: wait │ │ -60.0 % │", "other jobs: slowdown │ │ +0.0 % │"} {
		if !strings.Contains(plain, line) {
			t.Errorf("the table has no line %q:\n%s", line, got)
		}
	}
}
