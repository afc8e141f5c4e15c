package whatif

import (
	"context"
	"errors"
	"fmt"

	"accordion/core/policy"
	"accordion/traces/advise"
	"accordion/traces/compare"
	"accordion/traces/swf"
	"accordion/traces/workload"
)

// Baseline names the policy that stands for the site's own scheduler.
const Baseline = "easy"

// Input is what a study replays, and how.
type Input struct {
	Runs   []advise.Run
	Log    *swf.Log // the workload log that Runs come from; nil if they come from accounting
	Report *advise.Report
	Advice advise.Options // the options with which Report was made

	Policies []policy.Policy // the first one is Baseline
	Nodes    int             // size of the machine; 0 means the log's size, or without a log the most nodes in use simultaneously
	Seed     uint64          // seed of the confidence intervals

	// FreeSteps removes the steps from Runs before the replays. The replays do not need them, and a month of steps takes most of the memory.
	FreeSteps bool
	// Progress is called with the number of replayed jobs, from several goroutines. It may be nil.
	Progress func(done, of int)
}

// Study is a what-if: the jobs that were replayed, and the result.
type Study struct {
	Lines    int  // lines in the report
	FromLog  bool // the runs come from a workload log
	Replayed bool // at least one job could carry a line, so that there is a Result
	Result   Result

	Site        *workload.Selected // the jobs without lines; nil if there is no line
	With        Supposed           // the jobs with lines
	NodesInUse  bool               // the machine's size is the most nodes that were in use simultaneously
	LimitsKnown bool               // at least one job has a time limit
	OnlyUser    string             // the user of all runs; "" if there are several
	Seed        uint64
}

// InterruptedError is the error of a study whose context ended. It counts replays.
type InterruptedError struct{ Done, Of int }

// Error implements error.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("%d of %d replays of the jobs done", e.Done, e.Of)
}

// Run replays the jobs without and with the lines of the report. It returns an *InterruptedError if the context ends. Every other error is about
// the runs or the machine.
func Run(ctx context.Context, in Input) (*Study, error) {
	s := &Study{Seed: in.Seed, FromLog: in.Log != nil, Lines: in.Report.LineCount(), OnlyUser: advise.OnlyUser(in.Runs)}
	if s.Lines == 0 {
		return s, nil
	}
	if err := s.selectSite(&in); err != nil {
		return nil, err
	}
	s.LimitsKnown = !s.Site.RunOnly
	s.With = Suppose(s.Site, in.Runs, in.Report.Lines(in.Advice))
	if in.FreeSteps {
		for i := range in.Runs {
			in.Runs[i].Steps = nil
		}
	}
	if s.With.Carriers() == 0 {
		return s, nil
	}
	cases, err := s.replay(ctx, &in)
	if err != nil {
		return nil, err
	}
	s.Result, s.Replayed = Compare(cases, s.With.Carries, Bootstrap{Seed: in.Seed}), true
	return s, nil
}

// selectSite selects the jobs to replay.
func (s *Study) selectSite(in *Input) (err error) {
	if in.Log == nil {
		s.NodesInUse = in.Nodes == 0
		s.Site, err = Site(in.Runs, in.Nodes)
		return err
	}
	selection := workload.Selection{Machine: in.Nodes}
	if _, known := in.Log.Header.Machine(); !known && in.Nodes == 0 {
		selection.Machine, s.NodesInUse = InUse(in.Runs), true
	}
	s.Site, err = selection.Select(in.Log)
	return err
}

// replay replays the jobs without and with lines under each policy.
func (s *Study) replay(ctx context.Context, in *Input) ([]Case, error) {
	each := len(s.Site.Jobs) * len(in.Policies)
	progress := func(before int) func(int) {
		if in.Progress == nil {
			return nil
		}
		return func(n int) { in.Progress(before+n, 2*each) }
	}
	was, err := compare.Replay(ctx, s.Site.Workload, in.Policies, progress(0))
	if err != nil {
		return nil, interrupted(0, len(in.Policies), err)
	}
	with, err := compare.Replay(ctx, s.With.Workload, in.Policies, progress(each))
	if err != nil {
		return nil, interrupted(len(in.Policies), len(in.Policies), err)
	}
	var cases []Case
	for i, p := range in.Policies {
		cases = append(cases, Case{Policy: p.Name, Jobs: s.Site.Jobs, Outcomes: was[i].Outcomes},
			Case{Policy: p.Name, Lines: true, Jobs: s.With.Jobs, Outcomes: with[i].Outcomes})
	}
	return cases, nil
}

// interrupted converts the error of one of the two comparisons, which replay the same number of policies. `before` counts the replays that were
// done before it.
func interrupted(before, policies int, err error) error {
	if i := (*compare.InterruptedError)(nil); errors.As(err, &i) {
		done, _ := i.Count()
		return &InterruptedError{before + done, 2 * policies}
	}
	return err
}
