package traces

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/traces/paper/delegated"
	"accordion/traces/paper/delegated/figures"
	"accordion/traces/paper/delegated/live"
)

func delegatedLiveCommand() *cobra.Command {
	var (
		l            live.Live
		seed         uint64
		shares       []int
		path, folder string
		asJSON       bool
	)
	c := &cobra.Command{
		Use:   "fig12",
		Short: "Launchers as processes: Figure 12",
		Example: `  accordion paper delegated fig12 -o figures
  accordion paper delegated fig12 --points 0,50,100 --pace 100`,
		Long: `Run jobs as real processes, and simulate the same jobs. "accordion serve" runs with embedded clusters of 128 hosts, and one "accordion
launch --application" runs for each of 200 jobs. The jobs are W2 without jobs of more than 7,200 processor-seconds. A cem application has the
work of the job that it replaces, in 100 iterations.

The sidecar counts the traffic of all messages in both directions. It also measures processor time: its own while
launchers run, and the time of each launcher after its welcome message. A point takes one minute of real time at a pace of 10, and ten
minutes at a pace of 1. A launcher that runs longer than its walltime is ended by the sidecar, and counted as failed. This happens more
often at a higher pace and on a busier machine.

All files are in a folder in $TMPDIR. The folder and the processes are removed at the end, also after an interrupt.`,
		Args: command.NoArguments,
	}
	trace := logFlag(c)
	c.Flags().IntVar(&l.Pace, "pace", 10, "seconds of simulated time per second, 1 to 1000")
	c.Flags().IntVar(&l.Clusters, "clusters", delegated.MaxClusters, "number of clusters, 1 to 8")
	c.Flags().IntSliceVar(&shares, "points", []int{0, 20, 50, 80, 100}, "percentages of jobs that cem applications replace, one run each")
	c.Flags().Uint64Var(&seed, "seed", 1, "random seed")
	c.Flags().StringVar(&path, "jobs", "", "run the jobs of this `file` once, instead of the log's jobs")
	c.Flags().StringVarP(&folder, "out", "o", "", "a folder for the figure, one SVG per panel")
	command.Output(c, "out", command.AFolder)
	command.OldFlag(c, "output", "out")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, for programs")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := checkLive(l, shares); err != nil {
			return command.Usage(fmt.Errorf("paper delegated fig12: %w", err))
		}
		var err error
		if l.Program, err = thisProgram(); err != nil {
			return fmt.Errorf("paper delegated fig12: %w", err)
		}
		draw := func(share int) ([]delegated.Job, error) { return readJobs(cmd, path) }
		if path != "" {
			shares = []int{0}
		} else {
			usable, err := usableJobs(*trace)
			if err != nil {
				return err
			}
			draw = func(share int) ([]delegated.Job, error) { return live.Jobs(usable, seed, share) }
		}
		var all figures.Live
		for _, share := range shares {
			jobs, err := draw(share)
			if err != nil {
				return command.Usage(fmt.Errorf("paper delegated fig12: %w", err))
			}
			if path != "" {
				share = cems(jobs)
			}
			var over func()
			l.Done, over = command.ProgressTo(len(jobs), fmt.Sprintf("launchers, %d %% cem", share))
			p, err := l.Point(cmd.Context(), share, jobs)
			over()
			if err != nil {
				return fmt.Errorf("paper delegated fig12: %w", err)
			}
			all = append(all, p)
		}
		if folder != "" {
			if err := saveCharts(folder, all.Charts()); err != nil {
				return fmt.Errorf("paper delegated fig12: %w", err)
			}
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"rows": all, "claims": all.Claims()})
		}
		_, err = fmt.Fprint(cmd.OutOrStdout(), all.Text())
		return err
	}
	return c
}

// checkLive returns an error if the command line is wrong.
func checkLive(l live.Live, shares []int) error {
	switch {
	case l.Pace < 1 || l.Pace > 1000:
		return fmt.Errorf("--pace %d is not 1 to 1000", l.Pace)
	case l.Clusters < 1 || l.Clusters > delegated.MaxClusters:
		return fmt.Errorf("--clusters %d is not 1 to %d", l.Clusters, delegated.MaxClusters)
	case len(shares) == 0 || slices.ContainsFunc(shares, func(s int) bool { return s < 0 || s > 100 }):
		return fmt.Errorf("--points are per cent of the jobs, each 0 to 100")
	}
	return nil
}

// cems returns the percentage of applications of type CEM among the jobs.
func cems(jobs []delegated.Job) int {
	n := 0
	for _, j := range jobs {
		if j.Kind == delegated.CEM {
			n++
		}
	}
	return 100 * n / len(jobs)
}

// thisProgram returns the path of this program, as it was called if possible.
func thisProgram() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return os.Executable()
	}
	return filepath.Abs(path)
}
