package advise

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core/policy"
	"accordion/core/sched"
	"accordion/traces/advise"
	"accordion/traces/advise/whatif"
	"accordion/traces/compare"
	"accordion/traces/workload"
)

// asItWas is the site's kind of policy.
const asItWas = "easy"

// whatIfFlags are those of --what-if.
type whatIfFlags struct {
	on       bool
	policies []string
	nodes    int
	seed     uint64
}

func (f *whatIfFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "what-if", false, "replay all jobs without and with the lines, and show which jobs would become faster or slower")
	c.Flags().StringSliceVar(&f.policies, "policy", []string{"patient"}, "with --what-if: a policy for the replay with the lines, in addition to "+asItWas+"; may be repeated")
	command.Complete(c, "policy", "patient", "patient+share", "easy-evolving", "repeated", "repeated+share")
	c.Flags().IntVar(&f.nodes, "nodes", 0, "with --what-if: nodes of the machine (default: from the log, else the most in use at once)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "with --what-if: random seed of the 95 % intervals, which are drawn from weeks")
}

// check is about the command line: nothing has been read.
func (f *whatIfFlags) check(c *cobra.Command, user, job string) error {
	for _, name := range []string{"policy", "nodes", "seed"} {
		if c.Flags().Changed(name) && !f.on {
			return fmt.Errorf("--%s goes with --what-if", name)
		}
	}
	switch {
	case !f.on:
		return nil
	case user != "":
		return errors.New("--what-if needs everybody's jobs, for they wait for each other: leave out --user")
	case job != "":
		return errors.New("--what-if is about all jobs: name none")
	case c.Flags().Changed("nodes") && (f.nodes < 1 || f.nodes > workload.MaxNodes):
		return fmt.Errorf("--nodes %d is not 1 to %d", f.nodes, workload.MaxNodes)
	}
	_, err := f.named()
	return err
}

// named are the policies, the site's own first.
func (f *whatIfFlags) named() ([]policy.Policy, error) {
	var all []policy.Policy
	for _, name := range append([]string{asItWas}, f.policies...) {
		p, err := policy.Named(name, sched.FirstCome)
		if err != nil {
			return nil, fmt.Errorf("--policy: %w", err)
		}
		if !slices.ContainsFunc(all, func(q policy.Policy) bool { return q.Name == name }) {
			all = append(all, p)
		}
	}
	return all, nil
}

// supposed is all of a what-if: what was replayed, and what came out.
type supposed struct {
	site    *workload.Selected
	inUse   bool // the machine is as large as what was in use at once
	limits  bool // jobs are known to have asked for more time than they took
	with    whatif.Supposed
	lines   int // that were suggested
	seed    uint64
	of      *archived // nil: of an accounting
	result  whatif.Result
	replays bool   // there was something to replay
	only    string // all that was read is of this user; "": of several
}

// suppose replays the jobs without and with the report's lines. The runs lose their steps, unless a page draws them: what is replayed does not
// need them, and of a month they take most of the memory.
func (f *whatIfFlags) suppose(ctx context.Context, h *heard, report *advise.Report, o advise.Options, drawn bool) (*supposed, error) {
	s := &supposed{seed: f.seed, of: h.log, lines: len(report.Sizes)}
	for i := range report.Advice {
		if report.Advice[i].Kind != advise.LeftAlone {
			s.lines++
		}
	}
	if len(h.runs) > 0 && onlyOf(h.runs[0].User, h.runs) {
		s.only = h.runs[0].User
	}
	if s.lines == 0 {
		return s, nil
	}
	var err error
	if s.site, s.inUse, err = f.site(h); err != nil {
		return nil, command.Usage(fmt.Errorf("advise: --what-if: %w", err))
	}
	s.limits = !s.site.RunOnly
	s.with = whatif.Suppose(s.site, h.runs, report.Lines(o))
	for i := range h.runs {
		if !drawn {
			h.runs[i].Steps = nil
		}
	}
	if s.with.Told() == 0 {
		return s, nil
	}
	policies, err := f.named()
	if err != nil {
		return nil, err
	}
	cases, err := replays(ctx, s, policies)
	if err != nil {
		return nil, fmt.Errorf("advise: --what-if: %w", err)
	}
	s.result, s.replays = whatif.Compare(cases, s.with.Tells, whatif.Bootstrap{Seed: f.seed}), true
	return s, nil
}

// site is the jobs as they were.
func (f *whatIfFlags) site(h *heard) (site *workload.Selected, inUse bool, err error) {
	if h.log == nil {
		site, err = whatif.Site(h.runs, f.nodes)
		return site, f.nodes == 0, err
	}
	selection := workload.Selection{Machine: f.nodes}
	if _, known := h.log.Header.Machine(); !known && f.nodes == 0 {
		selection.Machine, inUse = whatif.InUse(h.runs), true
	}
	site, err = selection.Select(h.log.Log)
	return site, inUse, err
}

// stopped is the error of a what-if that was interrupted: how many replays were done.
type stopped struct{ done, of int }

func (e *stopped) Error() string {
	return fmt.Sprintf("%d of %d replays of the jobs done", e.done, e.of)
}

// stoppedAfter returns the error of the jobs' replays, as they were or with lines, when some were done before. Both have the same number of
// policies.
func stoppedAfter(before, policies int, err error) error {
	if i := (*compare.InterruptedError)(nil); errors.As(err, &i) {
		done, _ := i.Count()
		return &stopped{before + done, 2 * policies}
	}
	return err
}

// replays are those of the jobs as they were, and with the lines, under each policy.
func replays(ctx context.Context, s *supposed, policies []policy.Policy) ([]whatif.Case, error) {
	each := len(s.site.Jobs) * len(policies)
	told, over := progress("jobs replayed", progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
	defer over()
	after := func(before int) func(int) {
		if told == nil {
			return nil
		}
		return func(n int) { told(before+n, 2*each) }
	}
	was, err := compare.Replay(ctx, s.site.Workload, policies, after(0))
	if err != nil {
		return nil, stoppedAfter(0, len(policies), err)
	}
	with, err := compare.Replay(ctx, s.with.Workload, policies, after(each))
	if err != nil {
		return nil, stoppedAfter(len(policies), len(policies), err)
	}
	var cases []whatif.Case
	for i, p := range policies {
		cases = append(cases, whatif.Case{Policy: p.Name, Jobs: s.site.Jobs, Outcomes: was[i].Outcomes},
			whatif.Case{Policy: p.Name, Lines: true, Jobs: s.with.Jobs, Outcomes: with[i].Outcomes})
	}
	return cases, nil
}
