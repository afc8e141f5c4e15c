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
	"accordion/traces/workload"
)

// maxSeeds is the maximum number of replays for one column.
const maxSeeds = 1000

// side replays a log once for each share of evolving jobs and each seed, and prints the differences.
func (f *compareFlags) side(cmd *cobra.Command, path string, policies []policy.Policy) error {
	shares, err := f.evolvingShares(cmd)
	if err != nil {
		return command.Usage(err)
	}
	w, whatIf, err := f.read(cmd, path)
	if err != nil {
		return err
	}
	if policies, err = f.knowing(policies, &w.Log.Header); err != nil {
		return err
	}
	cases := compare.Cases(shares, f.seed, f.seeds, whatIf)
	progress, over := command.ProgressTo(len(cases)*len(w.Jobs)*len(policies), w.Name, progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true))
	replayed, err := compare.ReplayCases(cmd.Context(), w.Workload, policies, whatIf, cases, progress)
	over()
	text := w.String() + "; " + f.drawn() + "\n"
	if replayed > 0 {
		text += compare.Shares(f.names, cases[:replayed])
	}
	if stopped := (*compare.InterruptedError)(nil); errors.As(err, &stopped) {
		return command.Stop(cmd.OutOrStdout(), text, "%d of %d replays of the log done", replayed, len(cases))
	}
	if err != nil {
		return fmt.Errorf("compare policies on %s: %w", w.Name, err)
	}
	_, err = io.WriteString(cmd.OutOrStdout(), text)
	return err
}

// drawn describes the seeds for the output.
func (f *compareFlags) drawn() string {
	if f.seeds == 1 {
		return fmt.Sprintf("seed %d", f.seed)
	}
	return fmt.Sprintf("seeds %d to %d", f.seed, f.seed+uint64(f.seeds)-1)
}

// evolvingShares parses --shares, or --evolving if --shares is not given.
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
