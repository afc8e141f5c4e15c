package traces

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/schollz/progressbar/v3"
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
		Long: `Run jobs as processes: "accordion serve" over embedded clusters of 128 hosts and an "accordion launch --application" for each of 200
jobs, beside the simulation of the same jobs. The jobs are W2's, those of the log with more than 7,200 processor-seconds left out; a cem
application has the work of the job that it replaces, in 100 iterations.

Traffic is that of all messages both ways, counted by the sidecar. Processor time is the sidecar's from before the first launcher to after
the last, and the launchers' from their welcomes on. At a pace of 10 a point takes a minute by the clock, at a pace of 1 ten of them. A
launcher whose run is longer by the clock than its walltime is ended by the sidecar, and counted as failed: the higher the pace, and the
busier the machine, the more.

All is in a folder of its own in $TMPDIR, which is taken away at the end, and so are the processes, also after an interrupt.`,
		Args: command.NoArguments,
	}
	trace := logFlag(c)
	c.Flags().IntVar(&l.Pace, "pace", 10, "seconds of the clusters' clock a second, 1 to 1000")
	c.Flags().IntVar(&l.Clusters, "clusters", delegated.MaxClusters, "how many clusters there are, 1 to 8")
	c.Flags().IntSliceVar(&shares, "points", []int{0, 20, 50, 80, 100}, "per cent of the jobs that cem applications replace: a run each")
	c.Flags().Uint64Var(&seed, "seed", 1, "of what is drawn")
	c.Flags().StringVar(&path, "jobs", "", "one run of the jobs of this `file` in place of the log's")
	c.Flags().StringVarP(&folder, "out", "o", "", "a folder for the figure: an SVG a panel")
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
			l.Done, over = bar(len(jobs), progressbar.OptionSetDescription(fmt.Sprintf("launchers, %d %% cem", share)))
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

// cems is how many per cent of the jobs are cem applications.
func cems(jobs []delegated.Job) int {
	n := 0
	for _, j := range jobs {
		if j.Kind == delegated.CEM {
			n++
		}
	}
	return 100 * n / len(jobs)
}

// thisProgram is the path by which this program was called.
func thisProgram() (string, error) {
	path, err := exec.LookPath(os.Args[0])
	if err != nil {
		return os.Executable()
	}
	return filepath.Abs(path)
}
