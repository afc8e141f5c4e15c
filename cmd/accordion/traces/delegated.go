package traces

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core"

	"accordion/traces/paper/delegated"
	"accordion/traces/paper/delegated/figures"
	"accordion/traces/swf"
)

func init() { experiments = append(experiments, delegatedCommand) }

// atlas is the log of RR-7389's experiments.
const atlas = "LLNL-Atlas-2006-2.1-cln.swf.gz"

// logFlag adds the flag --trace, for the path of that log, to a command.
func logFlag(c *cobra.Command) *string {
	return c.Flags().String("trace", "", "the log (default: "+atlas+" in $ACCORDION_TRACES, else where scripts/fetch-traces puts it)")
}

// usableJobs returns the usable jobs of the log at `path`. If `path` is "", it reads the log in the folder of logs.
func usableJobs(path string) ([]swf.Record, error) {
	if path == "" {
		folder, err := swf.Folder()
		if err != nil {
			return nil, command.Usage(fmt.Errorf("%w; name the log with --trace", err))
		}
		path = filepath.Join(folder, atlas)
	}
	log, err := swf.ReadFile(path, swf.Options{})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, command.Usage(fmt.Errorf("the log %s does not exist; fetch it with scripts/fetch-traces atlas, or name one with --trace", path))
	}
	if err != nil {
		return nil, command.Usage(err)
	}
	usable := delegated.Usable(log)
	if len(usable) < delegated.Jobs {
		return nil, command.Usage(fmt.Errorf("the log %s has %d jobs with a run time and a number of processors: %d are needed", path, len(usable), delegated.Jobs))
	}
	return usable, nil
}

// made lists the names that "paper delegated" accepts: the figures, and "claims".
var made = append(slices.Clone(figures.Names), "claims")

func delegatedCommand() *cobra.Command {
	var (
		e           figures.Experiment
		sizes       string
		sensitivity bool
		folder      string
		asJSON      bool
	)
	c := &cobra.Command{
		Use:   "delegated [" + strings.Join(made, "|") + "]",
		Short: "Delegated scheduling: Figures 7 to 12 and the claims of RR-7389",
		Example: `  accordion paper delegated fig9 -o figures
  accordion paper delegated claims`,
		Long: `Run the experiments of Klein and Perez, "Untying RMS from Application Scheduling" (RR-7389, 2010), section 6. The batch system
shows each application a view of the free nodes, and the application's launcher answers with a request. Without a name all figures are
made but Figure 10, which takes minutes. claims compares each statement of the paper with our results. fig12 is a separate command,
because it runs processes.

The log is LLNL-Atlas-2006-2.1-cln (scripts/fetch-traces atlas). The same seed gives the same figures on every machine, except
for times. docs/delegated.md explains the readings of the paper, and the gaps in its algorithms.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !slices.Contains(made, args[0]) {
				return command.Usage(fmt.Errorf("paper delegated: %q is nothing that it makes; there are %s, fig12, jobs and run", strings.Join(args, " "), strings.Join(made, ", ")))
			}
			return nil
		},
		ValidArgs: made,
	}
	trace := logFlag(c)
	c.Flags().IntVar(&e.Seeds, "seeds", 5, "each figure is the mean over this many seeds")
	c.Flags().Uint64Var(&e.Seed, "seed", 1, "the first seed")
	c.Flags().StringVar(&sizes, "sizes", "cut", "how to treat jobs larger than a cluster: cut, skip, or nodes (count eight processors as one host)")
	c.Flags().BoolVar(&e.All, "all", false, "fig9: put the cem application of W1 in each place from 1 to 200")
	c.Flags().BoolVar(&sensitivity, "sensitivity", false, "also make the figures under other readings of the cem application")
	c.Flags().IntVar(&e.Draws, "draws", 0, "number of draws of fig10 (default 200); with claims: also check the claims about fig10")
	c.Flags().StringVarP(&folder, "out", "o", "", "a folder for the figures, one SVG per panel")
	command.Output(c, "out", command.AFolder)
	command.OldFlag(c, "output", "out")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, for programs")
	command.Complete(c, "sizes", "cut", "skip", "nodes")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		names, err := chosen(&e, args, sizes, sensitivity, cmd.Flags().Changed("draws"))
		if err != nil {
			return command.Usage(fmt.Errorf("paper delegated: %w", err))
		}
		if e.Usable, err = usableJobs(*trace); err != nil {
			return err
		}
		var data *figures.Data
		err = experiment(cmd, e.Work(names...), "runs", asJSON, func(done func(int)) (err error) {
			e.Done = done
			data, err = e.Run(cmd.Context(), names...)
			return err
		})
		if err != nil {
			return fmt.Errorf("paper delegated: %w", err)
		}
		if folder != "" {
			if err := saveCharts(folder, data.Charts()); err != nil {
				return fmt.Errorf("paper delegated: %w", err)
			}
		}
		return show(cmd.OutOrStdout(), data, e, slices.Contains(args, "claims"), sensitivity, asJSON)
	}
	c.AddCommand(delegatedJobsCommand(), delegatedRunCommand(), delegatedLiveCommand())
	return c
}

// chosen returns the figures to compute, and sets the fields of `e` from the command line. It returns an error if the
// command line is wrong.
func chosen(e *figures.Experiment, args []string, sizes string, sensitivity, draws bool) ([]string, error) {
	i := slices.Index([]string{"cut", "skip", "nodes"}, sizes)
	names := figures.Quick
	claims := slices.Contains(args, "claims")
	switch {
	case i < 0:
		return nil, fmt.Errorf("--sizes %q is none of cut, skip, nodes", sizes)
	case e.Seeds < 1 || e.Seeds > 1000:
		return nil, fmt.Errorf("--seeds %d is not 1 to 1000", e.Seeds)
	case draws && (e.Draws < 1 || e.Draws > 100_000):
		return nil, fmt.Errorf("--draws %d is not 1 to 100000", e.Draws)
	case draws && !claims && !slices.Contains(args, "fig10"):
		return nil, fmt.Errorf("--draws is for fig10 and claims")
	case e.All && len(args) > 0 && args[0] != "fig9":
		return nil, fmt.Errorf("--all is for fig9")
	}
	switch {
	case claims && draws:
		names = figures.Names
	case len(args) > 0 && !claims:
		names = args
	}
	if e.Draws == 0 {
		e.Draws = 200
	}
	e.Sizes = delegated.Sizes(i)
	switch {
	case sensitivity:
		e.Readings = min(3, e.Seeds)
	case claims:
		e.Readings = 1
	}
	return names, nil
}

func show(out io.Writer, data *figures.Data, e figures.Experiment, claims, sensitivity, asJSON bool) error {
	if asJSON {
		var rows any = data.Rows()
		if claims {
			rows = data.Claims()
		}
		all := map[string]any{"rows": rows}
		if sensitivity {
			all["sensitivity"] = data.Sensitivity()
		}
		return json.NewEncoder(out).Encode(all)
	}
	text := data.Text()
	if claims {
		text = data.ClaimsText()
	}
	if sensitivity {
		text += "\n" + data.SensitivityText()
	}
	_, err := fmt.Fprintf(out, "%s\n\n%s", e.Heading(), text)
	return err
}

func delegatedJobsCommand() *cobra.Command {
	var w delegated.Workload
	var at int
	c := &cobra.Command{
		Use:   "jobs W0|W1|W2",
		Short: "Print the jobs of one run, for \"paper delegated run\"",
		Example: `  accordion paper delegated jobs W1 >jobs.txt
  accordion paper delegated jobs W2 --cem 50 | accordion paper delegated run --jobs -`,
		Long: `Print the jobs of one run, one per line. W0: 200 jobs of the log, a share of them moldable. W1: the same with one cem application
added. W2: the same with a share of the jobs replaced by cem applications.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains([]string{"W0", "W1", "W2"}, args[0]) {
				return command.Usage(fmt.Errorf("paper delegated jobs: give one of W0, W1, W2"))
			}
			return nil
		},
		ValidArgs: []string{"W0", "W1", "W2"},
	}
	trace := logFlag(c)
	c.Flags().Uint64Var(&w.Seed, "seed", 1, "random seed")
	c.Flags().IntVar(&w.Moldable, "moldable", 20, "percentage of moldable jobs")
	c.Flags().IntVar(&w.CEM, "cem", 20, "W2: percentage of jobs that cem applications replace")
	c.Flags().IntVar(&at, "at", 40, "W1: the place of the cem application, from 1")
	c.Flags().IntVar(&w.From, "offset", 0, "how many usable jobs to skip at the beginning of the log")
	c.Flags().Int64Var(&w.Delay, "delay", 0, "seconds until cem applications answer")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		w.Model = delegated.Standard
		switch args[0] {
		case "W0":
			w.CEM = 0
		case "W1":
			w.CEM = 0
			if w.At = at; at < 1 {
				return command.Usage(fmt.Errorf("paper delegated jobs: --at %d is not at least 1", at))
			}
		}
		if w.From < 0 || w.Delay < 0 || w.Delay > core.MaxTotal {
			return command.Usage(fmt.Errorf("paper delegated jobs: --offset and --delay are 0 or more, a delay at most %d s", core.MaxTotal))
		}
		usable, err := usableJobs(*trace)
		if err != nil {
			return err
		}
		jobs, err := w.Jobs(usable)
		if err != nil {
			return command.Usage(fmt.Errorf("paper delegated jobs: %w", err))
		}
		return delegated.Write(cmd.OutOrStdout(), jobs)
	}
	return c
}

func delegatedRunCommand() *cobra.Command {
	var (
		s            delegated.Setup
		path         string
		fair, timing time.Duration
		asJSON       bool
	)
	c := &cobra.Command{
		Use:   "run --jobs FILE|-",
		Short: "Run the jobs of a file, and print every counter",
		Example: `  accordion paper delegated run --jobs jobs.txt
  accordion paper delegated run --jobs jobs.txt --clusters 4 --json`,
		Long: `Run the jobs of a file, and print every counter. operations_rms counts the basic operations of the paper.
Without --json, the jobs also run on our indexed data structure, and operations_indexed counts its steps.`,
		Args: command.NoArguments,
	}
	c.Flags().StringVar(&path, "jobs", "", "a file written by \"paper delegated jobs\"; - is standard input")
	c.Flags().IntVar(&s.Clusters, "clusters", 1, "number of clusters of 128 hosts, 1 to 8; cluster n is (n-1) tenths faster than the first one")
	c.Flags().DurationVar(&fair, "fair-start", 5*time.Second, "how long the hosts of an ended application stay occupied")
	c.Flags().DurationVar(&timing, "timer", time.Second, "shortest time between two passes")
	c.Flags().StringVar(&s.RMS, "rms", delegated.Delegated, "the batch system: delegated, or oar, which gets every configuration")
	c.Flags().BoolVar(&s.EarlyGhosts, "early-ghosts", false, "an experiment of ours: ghosts end in the first pass without a new request")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, in one line")
	command.Complete(c, "rms", delegated.Delegated, delegated.OAR)
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if path == "" {
			return command.Usage(fmt.Errorf("paper delegated run: give a file by --jobs; - is standard input"))
		}
		for name, d := range map[string]time.Duration{"fair-start": fair, "timer": timing} {
			if d < 0 || d%time.Second != 0 || d > time.Duration(core.MaxTotal)*time.Second {
				return command.Usage(fmt.Errorf("paper delegated run: --%s %v is not a whole number of seconds, 0s to %ds", name, d, core.MaxTotal))
			}
		}
		s.FairStart, s.Timer, s.Plain = core.Time(fair/time.Second), core.Time(timing/time.Second), true
		jobs, err := readJobs(cmd, path)
		if err != nil {
			return command.Usage(fmt.Errorf("paper delegated run: %w", err))
		}
		counters, err := s.Run(jobs)
		if err != nil {
			return command.Usage(fmt.Errorf("paper delegated run: %w", err))
		}
		out := json.NewEncoder(cmd.OutOrStdout())
		if !asJSON {
			out.SetIndent("", "  ")
			s.Plain = false
			indexed, err := s.Run(jobs)
			if err == nil {
				counters, err = counters.Beside(indexed)
			}
			if err != nil {
				return fmt.Errorf("paper delegated run: %w", err)
			}
		}
		return out.Encode(counters)
	}
	return c
}

func readJobs(cmd *cobra.Command, path string) ([]delegated.Job, error) {
	if path == "-" {
		return delegated.Read(cmd.InOrStdin(), "standard input")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return delegated.Read(file, path)
}
