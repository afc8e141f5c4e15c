package whatif

import (
	"context"
	"errors"
	"testing"

	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/advise"
	"accordion/traces/compare"
)

func TestInterruptedStudyCountsReplays(t *testing.T) {
	first := &compare.InterruptedError{Runs: make([]compare.Run, 3), Done: []bool{true, false, true}}
	for before, want := range map[int]string{0: "2 of 6 replays of the jobs done", 3: "5 of 6 replays of the jobs done"} {
		if err := interrupted(before, 3, first); err.Error() != want {
			t.Errorf("after %d: %q, want %q", before, err, want)
		}
	}
	if err := interrupted(0, 3, context.Canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("another error becomes %v", err)
	}
}

// studyInput returns twelve runs of one job of ada: each holds 8 nodes for 4,000 s, and uses 1 and then 8 of them.
func studyInput(t *testing.T) Input {
	t.Helper()
	easy, err := policy.Named(Baseline, sched.FirstCome)
	if err != nil {
		t.Fatal(err)
	}
	one, all := []int32{0}, []int32{0, 1, 2, 3, 4, 5, 6, 7}
	in := Input{Policies: []policy.Policy{easy}, Seed: 1}
	for i := range int64(12) {
		start := 1_000_000 + 5000*i
		in.Runs = append(in.Runs, advise.Run{ID: "1", User: "ada", Name: "mesh", Submit: start, Start: start, End: start + 4000, Requested: 8, Held: 8, Completed: true, Script: -1,
			Steps: []advise.Step{{Name: "prepare", From: start, To: start + 2000, Nodes: one}, {Name: "solve", From: start + 2000, To: start + 4000, Nodes: all}}})
	}
	report := advise.Make(in.Runs, in.Advice)
	in.Report = &report
	return in
}

func TestStudyReplaysJobsWithoutAndWithTheirLines(t *testing.T) {
	in := studyInput(t)
	told, want := make(chan int, 100), 2*len(in.Runs)
	in.Progress = func(done, of int) {
		if told <- done; of != want {
			t.Errorf("%d of %d, want of %d", done, of, want)
		}
	}
	s, err := Run(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	close(told)
	most := 0
	for n := range told {
		most = max(most, n)
	}
	if s.Lines != 1 || !s.Replayed || s.With.Evolving != 12 || !s.NodesInUse || s.Site.Machine.Nodes != 8 || s.LimitsKnown || s.OnlyUser != "ada" || most != want {
		t.Errorf("%+v, progress up to %d", s, most)
	}
	if len(s.Result.Carriers.Rows) != 2 || s.Result.Carriers.Jobs != 12 || s.Result.Others.Jobs != 0 {
		t.Errorf("result %+v", s.Result)
	}
	if in.Runs[0].Steps == nil {
		t.Error("the runs lost their steps")
	}
}

func TestStudyFreesStepsWhenAsked(t *testing.T) {
	in := studyInput(t)
	in.FreeSteps = true
	if _, err := Run(t.Context(), in); err != nil || in.Runs[0].Steps != nil {
		t.Errorf("error %v, steps %v", err, in.Runs[0].Steps)
	}
}

func TestStudyWithoutLinesReplaysNothing(t *testing.T) {
	s, err := Run(t.Context(), Input{Report: &advise.Report{}})
	if err != nil || s.Replayed || s.Site != nil || s.Lines != 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestStudyWhoseContextEndedIsInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var interrupted *InterruptedError
	if _, err := Run(ctx, studyInput(t)); !errors.As(err, &interrupted) || interrupted.Of != 2 {
		t.Errorf("error %v", err)
	}
}
