package compare

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"accordion/traces/replay"
	"accordion/traces/report"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// smallLog returns a log of three jobs, one of which did not run.
func smallLog(t *testing.T) *Replayed {
	t.Helper()
	log := &swf.Log{Name: "small", Records: []swf.Record{
		{Number: 1, Submit: 0, Run: 100, RequestedTime: 200, Processors: 2, RequestedProcessors: 2},
		{Number: 2, Submit: 10, Run: 100, RequestedTime: 200, Processors: 4, RequestedProcessors: 4},
		{Number: 3, Submit: 20, Run: -1, RequestedTime: 200, Processors: 4, RequestedProcessors: 4},
	}}
	log.Header.Set("MaxProcs", "4")
	log.Header.Set("UnixStartTime", "5000")
	selected, err := workload.Selection{}.Select(log)
	if err != nil {
		t.Fatal(err)
	}
	return &Replayed{Log: log, Selected: selected}
}

func TestReplayedLogHasFilesForEachRunAndAReport(t *testing.T) {
	r := smallLog(t)
	runs, err := Replay(t.Context(), r.Workload, policies(t, "easy"), nil)
	if err != nil {
		t.Fatal(err)
	}
	placed, err := replay.Place(r.Workload, runs[0].Result)
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Report("out", runs, []*replay.Placement{placed}, "accordion replay small.swf", false)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range append(r.Files("out/easy", runs[0], placed), all...) {
		names = append(names, filepath.ToSlash(f.Path))
	}
	if diff := cmp.Diff([]string{"out/easy/jobs.csv", "out/easy/steps.csv", "out/easy/metrics.json", "out/easy/replayed.swf", "out/report.html"}, names); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
	if got, want := r.String(), "small: 2 jobs on 4 nodes; left out 1: 1 that did not run"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	want := []report.Note{{Name: "Command", Text: "accordion replay small.swf"}, {Name: "Left out", Text: "1 of 3 jobs: 1 that did not run"}}
	if diff := cmp.Diff(want, r.notes("accordion replay small.swf")); diff != "" {
		t.Errorf("notes differ (-want +got):\n%s", diff)
	}
}

func TestCasesHaveOneSeedWhereNoJobIsDrawn(t *testing.T) {
	for _, c := range []struct {
		moldable float64
		want     []Case
	}{
		{0, []Case{{Share: 0, Seed: 5}, {Share: .3, Seed: 5}, {Share: .3, Seed: 6}}},
		{.1, []Case{{Share: 0, Seed: 5}, {Share: 0, Seed: 6}, {Share: .3, Seed: 5}, {Share: .3, Seed: 6}}},
	} {
		if diff := cmp.Diff(c.want, Cases([]float64{0, .3}, 5, 2, workload.WhatIf{Moldable: c.moldable})); diff != "" {
			t.Errorf("moldable %v: cases differ (-want +got):\n%s", c.moldable, diff)
		}
	}
}

func TestCasesAreReplayedUntilTheContextEnds(t *testing.T) {
	r := smallLog(t)
	jobs := slices.Clone(r.Jobs)
	all, ps := Cases([]float64{0, 1}, 1, 1, workload.WhatIf{}), policies(t, "easy", "patient")
	told := make(chan int, 100)
	replayed, err := ReplayCases(t.Context(), r.Workload, ps, workload.WhatIf{}, all, func(n int) { told <- n })
	close(told)
	most := 0
	for n := range told {
		most = max(most, n)
	}
	if err != nil || replayed != 2 || len(all[0].Metrics) != 2 || len(all[1].Metrics) != 2 || most != 8 {
		t.Errorf("%d replayed, %v, progress up to %d, cases %+v", replayed, err, most, all)
	}
	if diff := cmp.Diff(jobs, r.Jobs); diff != "" {
		t.Errorf("the log's jobs changed:\n%s", diff)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if replayed, err := ReplayCases(ctx, r.Workload, ps, workload.WhatIf{}, Cases([]float64{1}, 1, 1, workload.WhatIf{}), nil); replayed != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("after an interrupt: %d replayed, %v", replayed, err)
	}
}
