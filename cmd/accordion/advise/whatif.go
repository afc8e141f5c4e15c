package advise

import (
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
	"accordion/traces/workload"
)

// whatIfFlags are the flags of --what-if.
type whatIfFlags struct {
	on       bool
	policies []string
	nodes    int
	seed     uint64
}

// register adds the flags to a command.
func (f *whatIfFlags) register(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "what-if", false, "replay all jobs without and with the lines, and show which jobs would become faster or slower")
	c.Flags().StringSliceVar(&f.policies, "policy", []string{"patient"}, "with --what-if: a policy for the replay with the lines, in addition to "+whatif.Baseline+"; may be repeated")
	command.Complete(c, "policy", "patient", "patient+share", "easy-evolving", "repeated", "repeated+share")
	c.Flags().IntVar(&f.nodes, "nodes", 0, "with --what-if: nodes of the machine (default: from the log, else the most in use at once)")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "with --what-if: random seed of the 95 % intervals, which are drawn from weeks")
}

// check returns an error if the command line is wrong. It is called before anything is read.
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
		return errors.New("--what-if needs the jobs of all users, because they wait for each other; leave out --user")
	case job != "":
		return errors.New("--what-if replays all jobs; leave out the job")
	case c.Flags().Changed("nodes") && (f.nodes < 1 || f.nodes > workload.MaxNodes):
		return fmt.Errorf("--nodes %d is not 1 to %d", f.nodes, workload.MaxNodes)
	}
	_, err := f.named()
	return err
}

// named returns the policies that the flags name, with whatif.Baseline first.
func (f *whatIfFlags) named() ([]policy.Policy, error) {
	var all []policy.Policy
	for _, name := range append([]string{whatif.Baseline}, f.policies...) {
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

// study replays the jobs without and with the requests that the report advises. Unless `drawn` is set, it removes the
// steps of the runs.
func (f *whatIfFlags) study(cmd *cobra.Command, r *readRuns, report *advise.Report, o advise.Options, drawn bool) (*whatif.Study, error) {
	policies, err := f.named()
	if err != nil {
		return nil, err
	}
	progress, over := command.Progress("jobs replayed", progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
	defer over()
	s, err := whatif.Run(cmd.Context(), whatif.Input{Runs: r.Runs, Log: r.log, Report: report, Advice: o,
		Policies: policies, Nodes: f.nodes, Seed: f.seed, FreeSteps: !drawn, Progress: progress})
	if stopped := (*whatif.InterruptedError)(nil); errors.As(err, &stopped) {
		return nil, stopped
	}
	if err != nil {
		return nil, command.Usage(fmt.Errorf("advise: --what-if: %w", err))
	}
	return s, nil
}
