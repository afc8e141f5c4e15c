package traces

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core/policy"
	"accordion/traces/compare"
	"accordion/traces/replay"
	"accordion/traces/workload"
)

// maxSeeds is how often one log is replayed for one column, at most.
const maxSeeds = 1000

// side replays a log side by side with other jobs evolving.
func (f *compareFlags) side(cmd *cobra.Command, path string, policies []policy.Policy) error {
	shares, err := f.evolvingShares(cmd)
	if err != nil {
		return command.Usage(err)
	}
	w, whatIf, err := f.read(cmd, path)
	if err != nil {
		return err
	}
	if policies, err = f.knowing(policies, &w.log.Header); err != nil {
		return err
	}
	cases := f.cases(shares, whatIf)
	each := len(w.Jobs) * len(policies)
	done, over := bar(len(cases)*each, progressbar.OptionSetDescription(w.Name), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
	defer over()
	for i := range cases {
		jobs := w.Workload
		jobs.Jobs = slices.Clone(w.Jobs)
		whatIf.Evolving, whatIf.Seed = cases[i].Share, cases[i].Seed
		whatIf.Apply(&jobs)
		runs, err := compare.Replay(cmd.Context(), jobs, policies, func(n int) {
			if done != nil {
				done(i*each + n)
			}
		})
		if stopped := (*compare.InterruptedError)(nil); errors.As(err, &stopped) {
			over()
			text := w.String() + "; " + f.drawn() + "\n"
			if i > 0 {
				text += compare.Shares(f.names, cases[:i])
			}
			return command.Stop(cmd.OutOrStdout(), text, "%d of %d replays of the log done", i, len(cases))
		}
		if err != nil {
			return fmt.Errorf("comparing policies on %s: %w", w.Name, err)
		}
		for _, run := range runs {
			cases[i].Metrics = append(cases[i].Metrics, run.Metrics)
		}
	}
	over()
	_, err = io.WriteString(cmd.OutOrStdout(), w.String()+"; "+f.drawn()+"\n"+compare.Shares(f.names, cases))
	return err
}

// cases are what is replayed. Where nobody is drawn all seeds are alike.
func (f *compareFlags) cases(shares []float64, x workload.WhatIf) (all []compare.Case) {
	for _, share := range shares {
		seeds := f.seeds
		if share == 0 && x.Moldable == 0 {
			seeds = 1
		}
		for i := range seeds {
			all = append(all, compare.Case{Share: share, Seed: f.seed + uint64(i), Metrics: []replay.Metrics{}})
		}
	}
	return all
}

// drawn says with which seeds.
func (f *compareFlags) drawn() string {
	if f.seeds == 1 {
		return fmt.Sprintf("seed %d", f.seed)
	}
	return fmt.Sprintf("seeds %d to %d", f.seed, f.seed+uint64(f.seeds)-1)
}

// evolvingShares are those of --shares, else that of --evolving.
func (f *compareFlags) evolvingShares(cmd *cobra.Command) ([]float64, error) {
	switch {
	case f.seeds < 1 || f.seeds > maxSeeds:
		return nil, fmt.Errorf("--seeds: %d is not 1 to %d", f.seeds, maxSeeds)
	case f.out != "" || f.figures:
		return nil, errors.New("-o DIR and --figures are of one replay: they do not go with --shares and --seeds")
	case len(f.shares) > 0 && cmd.Flags().Changed("evolving"):
		return nil, errors.New("--shares and --evolving both say how many jobs evolve; give one")
	}
	names := f.shares
	if len(names) == 0 {
		names = []string{f.evolving}
	}
	var all []float64
	for _, name := range names {
		share, err := workload.ParseShare("share of jobs", name)
		if err != nil {
			return nil, fmt.Errorf("--shares: %w", err)
		}
		moldable, err := workload.ParseShare("share of jobs", f.moldable)
		if err == nil && share+moldable > 1 {
			return nil, fmt.Errorf("--shares %s and --moldable %s are more than all jobs", name, f.moldable)
		}
		if slices.Contains(all, share) {
			return nil, fmt.Errorf("--shares names %s twice", name)
		}
		all = append(all, share)
	}
	return all, nil
}
