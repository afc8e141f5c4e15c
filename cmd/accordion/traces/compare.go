package traces

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core/policy"
	"accordion/traces/compare"
	"accordion/traces/files"
	"accordion/traces/replay"
)

// Compare returns "accordion compare".
func Compare() *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare [flags] TRACE|-",
		Short: "Replay a workload log under several policies, side by side",
		Long: `Replay a log in the Standard Workload Format under several policies, on all cores, and print one table with the differences to the
first policy. All policies get the same jobs. A policy that does not support evolving or moldable jobs runs them as rigid jobs.

Without --policy it compares easy and conservative. With --evolving, --moldable or --shares it compares easy, easy-evolving and
patient. easy is today's scheduling.

"accordion help policies" describes the policies. "accordion help shapes" describes the jobs of --evolving and --moldable.

With -o DIR it writes report.html, and for each policy a folder with the files of "accordion replay".

With --shares or --seeds it replays the log several times, and prints one table of the differences to the first policy. The table has
all jobs, the jobs with profiles, and the other jobs. The effect at 0% comes from the policy alone, the rest from the profiles.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usage(fmt.Errorf("compare: name one workload log, or - for standard input; there are %d arguments", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.register(c)
	c.Flags().StringSliceVar(&f.names, "policy", rigidPolicies,
		"the policies, separated by commas; the others are compared with the first one (with --evolving, --moldable or --shares: "+
			strings.Join(profilePolicies, ",")+")")
	command.OldFlag(c, "policies", "policy")
	command.CompleteList(c, "policy", policy.Words()...)
	c.Flags().StringVarP(&f.out, "out", "o", "", "folder for the report and the results; it is made if it does not exist")
	command.Output(c, "out", command.AFolder)
	c.Flags().StringSliceVar(&f.shares, "shares", nil, "compare several shares of evolving jobs, such as 0%,10%,30%,100%")
	c.Flags().IntVar(&f.seeds, "seeds", 1, "draw the evolving jobs this many times, beginning with --seed: the table has means with 95 % intervals")
	return c
}

// rigidPolicies are the default policies for an unchanged log. profilePolicies are the default policies for a log in which some jobs evolve
// or are moldable. The first policy of each list stands for today's scheduling, which ignores profiles.
var (
	rigidPolicies     = []string{"easy", "conservative"}
	profilePolicies   = []string{"easy", "easy-evolving", "patient"}
	malleablePolicies = []string{"easy", "patient", "malleable"}
)

type compareFlags struct {
	workloadFlags
	names, shares []string
	seeds         int
	out           string
}

// usualPolicies returns the default policies for a log in which some jobs are not rigid.
func (f *workloadFlags) usualPolicies(cmd *cobra.Command) []string {
	if cmd.Flags().Changed("malleable") {
		return malleablePolicies
	}
	return profilePolicies
}

// run runs the command.
func (f *compareFlags) run(cmd *cobra.Command, path string) error {
	if !cmd.Flags().Changed("policy") && (f.supposes(cmd) || len(f.shares) > 0) {
		f.names = f.usualPolicies(cmd)
	}
	if len(f.names) == 0 {
		return command.Usage(errors.New("compare: --policy names none; give at least one"))
	}
	if f.figures && f.out == "" {
		return command.Usage(errFigures)
	}
	policies, err := f.policies(f.names...)
	if err != nil {
		return err
	}
	if f.seeds != 1 || len(f.shares) > 0 {
		return f.side(cmd, path, policies)
	}
	w, err := f.load(cmd, path)
	if err != nil {
		return err
	}
	if policies, err = f.knowing(policies, &w.Log.Header); err != nil {
		return err
	}
	runs, err := replayed(cmd.Context(), w, policies)
	if stopped := (*compare.InterruptedError)(nil); errors.As(err, &stopped) {
		return f.partial(cmd.OutOrStdout(), w, stopped)
	}
	if err != nil {
		return fmt.Errorf("compare policies on %s: %w", w.Name, err)
	}
	if err := f.save(w, runs); err != nil {
		return err
	}
	_, err = io.WriteString(cmd.OutOrStdout(), w.String()+"\n"+compare.Summary(f.names, runs))
	return err
}

// partial writes the table of the policies whose replays had ended before an interrupt.
func (f *compareFlags) partial(out io.Writer, w *compare.Replayed, stopped *compare.InterruptedError) error {
	var names []string
	var metrics []replay.Metrics
	for i, run := range stopped.Runs {
		if stopped.Done[i] {
			names, metrics = append(names, f.names[i]), append(metrics, run.Metrics)
		}
	}
	text := w.String() + "\n"
	if len(names) > 0 {
		text += compare.Text(names, metrics, stopped.Done[0])
	}
	done, of := stopped.Count()
	return command.Stop(out, text, "%d of %d policies done", done, of)
}

// save writes the report and the files of each policy. If one of them cannot be written, it writes none.
func (f *compareFlags) save(w *compare.Replayed, runs []compare.Run) error {
	if f.out == "" {
		return nil
	}
	var (
		all    []files.File
		placed = make([]*replay.Placement, len(runs))
		err    error
	)
	for i, run := range runs {
		folder := filepath.Join(f.out, strings.NewReplacer(":", "-", "/", "-").Replace(f.names[i]))
		if placed[i], err = replay.Place(w.Workload, run.Result); err != nil {
			return err
		}
		all = append(all, w.Files(folder, run, placed[i])...)
	}
	report, err := w.Report(f.out, runs, placed, commandLine(), f.figures)
	if err != nil {
		return err
	}
	return files.Save(append(all, report...)...)
}
