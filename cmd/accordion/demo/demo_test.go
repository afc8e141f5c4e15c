package demo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"accordion/adapter"
	"accordion/traces/gantt"
	"accordion/traces/workload"
)

func TestBundledWorkloadGrowsShrinksAndKeepsItsPromises(t *testing.T) {
	jobs, err := Parse(Workload)
	if err != nil {
		t.Fatal(err)
	}
	var g gantt.Chart
	synctest.Test(t, func(t *testing.T) { // the wall clock is virtual here, so that nothing depends on the machine's speed
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		g, err = Play(ctx, Options{Jobs: jobs, Nodes: 16, Clock: adapter.Wall{}})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Jobs) != len(jobs) {
		t.Fatalf("%d jobs on the chart, %d in the workload", len(g.Jobs), len(jobs))
	}
	for i, j := range g.Jobs {
		if j.Name != jobs[i].Name || j.Request != jobs[i].Request {
			t.Errorf("job %d is %s %s, want %s %s", j.ID, j.Name, j.Request, jobs[i].Name, jobs[i].Request)
		}
		if j.Outcome != "COMPLETED" {
			t.Errorf("%s ended %s", j.Name, j.Outcome)
		}
		if j.Kind != workload.Evolving {
			continue
		}
		var got, want []int
		for _, s := range j.Sizes() {
			if s.Nodes > 0 {
				got = append(got, s.Nodes)
			}
		}
		for _, s := range jobs[i].Choices[0] {
			want = append(want, s.Nodes)
		}
		if len(got) != len(want) {
			t.Errorf("%s held %v, want %v", j.Name, got, want)
		}
	}
	f := g.Figures()
	if f.Missed > 0 || f.Growths < 8 || f.ByKind[workload.Moldable] < 2 || f.ByKind[workload.Rigid] < 4 {
		t.Errorf("figures %+v: want 8 growths at least, none missed, some jobs of each kind", f)
	}
	if err := alone(g); err != "" {
		t.Error(err)
	}
}

// alone returns the name of a node that two jobs held at the same time, or "".
func alone(g gantt.Chart) string {
	for i, a := range g.Jobs {
		for _, b := range g.Jobs[:i] {
			for _, ha := range a.Holds {
				for _, hb := range b.Holds {
					if ha.Node == hb.Node && ha.From.Before(hb.To) && hb.From.Before(ha.To) {
						return ha.Node + " is in jobs " + a.Name + " and " + b.Name + " at once"
					}
				}
			}
		}
	}
	return ""
}

func TestDemoIsShownWhileItRuns(t *testing.T) {
	jobs, err := Parse("0s ada grow ep=1x1m,2x1m 100%\n10s bob plain 1x1m 50%\n")
	if err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	var g gantt.Chart
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		g, err = Play(ctx, Options{Jobs: jobs, Nodes: 3, Clock: adapter.Wall{}, Show: &shown})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) != 3 || g.Figures().Growths != 1 {
		t.Errorf("%d rows and figures %+v, want 3 and one growth", len(g.Nodes), g.Figures())
	}
	for _, want := range []string{"submitted: ep=1x1m,2x1m", "grow       starts on 1", "grow       grows 1 → 2", "grow       ends"} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("%q is not shown in:\n%s", want, shown.String())
		}
	}
}

func TestDemoOnAFastClockEnds(t *testing.T) {
	jobs, err := Parse("0s ada grow ep=1x30s,2x30s 100%\n")
	if err != nil {
		t.Fatal(err)
	}
	// How many changes happen at their planned time depends on the machine. But every job must end.
	g, err := Play(t.Context(), Options{Jobs: jobs, Nodes: 2, Speed: 60})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Jobs) != 1 || g.Jobs[0].End().IsZero() {
		t.Errorf("jobs %+v, want one that ended", g.Jobs)
	}
}

func TestInterruptedDemoEnds(t *testing.T) {
	jobs, err := Parse(Workload)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Play(ctx, Options{Jobs: jobs, Nodes: 16, Speed: 60}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that it was cancelled", err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
		defer cancel()
		_, err = Play(ctx, Options{Jobs: jobs, Nodes: 16, Clock: adapter.Wall{}})
	})
	stopped := (*InterruptedError)(nil)
	if !errors.As(err, &stopped) || stopped.Ended == 0 || stopped.Ended >= stopped.Jobs || stopped.Jobs != len(jobs) {
		t.Errorf("after half an hour: %v, want that some of %d jobs have ended", err, len(jobs))
	}
}

func TestInvalidWorkloadIsRefusedWithItsLine(t *testing.T) {
	jobs, err := Parse("# nothing\n\n0s ada mesh ep=2x20s,5x1m 97%\n90s bob old 4x1h 100%\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(jobs) != 2 || jobs[1].At != 90 || jobs[1].Request != "" || jobs[0].Work != 97 || jobs[0].Nodes() != 5 {
		t.Errorf("read %+v", jobs)
	}
	for text, want := range map[string]string{
		"":                                            "no job in it",
		"\n0s ada mesh 97%":                           "line 2: 4 words",
		"x ada mesh 2x20s 97%":                        "line 1",
		"0s ada mesh ep=2x20 97%":                     "is not a duration",
		"0s ada mesh other=2x20s 97%":                 "neither ep",
		"0s ada mesh 2x20s,4x20s 97%":                 "write ep=2x20s,4x20s",
		"0s ada mesh 2x20s 0%":                        "percentage",
		"0s ada mesh 2x20s 97":                        "percentage",
		"9s a m 2x20s 97%\n8s a m 2x20s 97%":          "line 2: submitted at 8s, before",
		strings.Repeat("0s a m 1x1s 9%\n", MaxJobs+1): "more than",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %v, want one that says %q", text, err, want)
		}
	}
}

func TestImpossibleDemoIsRefused(t *testing.T) {
	jobs, err := Parse(Workload)
	if err != nil {
		t.Fatal(err)
	}
	for want, o := range map[string]Options{
		"machine has 4": {Jobs: jobs, Nodes: 4, Speed: 60},
		"speed 0":       {Jobs: jobs, Nodes: 16},
		"speed 601":     {Jobs: jobs, Nodes: 16, Speed: 601},
	} {
		if err := o.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(Workload)
	f.Add("0s a m mold=2x20s|4x15s 97%")
	f.Fuzz(func(t *testing.T, text string) {
		jobs, err := Parse(text)
		if err != nil {
			return
		}
		for _, j := range jobs {
			if j.Nodes() < 1 || j.Work < 1 || j.At < 0 || len(j.Choices) == 0 {
				t.Errorf("read %+v", j)
			}
		}
	})
}
