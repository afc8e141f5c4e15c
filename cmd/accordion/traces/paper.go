package traces

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/traces/files"
	"accordion/traces/paper/chart"

	"accordion/traces/paper"
)

// mostTests bounds the memory for the results of all tests to some hundreds of MiB.
const mostTests = 100_000

// Paper returns "accordion paper".
func Paper() *cobra.Command {
	c := &cobra.Command{
		Use:   "paper NAME",
		Short: "Run a paper's experiment, and print our figures next to the published ones",
		Long: `Run the experiment of a paper with the schedulers of this program, and print our figures next to the published ones.

  evolving   Klein and Perez, "Towards Scheduling Evolving Applications" (CoreGRID 2011; report RR-7205), Tables 1 and 2
  delegated  Klein and Perez, "Untying RMS from Application Scheduling" (RR-7389, 2010), Figures 7 to 12 and the claims
  adaptive   Barsanti and Sodan, "Adaptive Job Scheduling Via Predictive Job Resource Allocation" (JSSPP 2006), Figures 4 to 14 and the claims`,
		RunE: func(*cobra.Command, []string) error {
			return command.Usage(errors.New("paper: give the name of an experiment: evolving, delegated or adaptive"))
		},
	}
	for _, experiment := range experiments {
		c.AddCommand(experiment())
	}
	return c
}

// experiments are the subcommands of "accordion paper". delegated.go adds its own.
var experiments = []func() *cobra.Command{evolvingCommand, adaptiveCommand}

func evolvingCommand() *cobra.Command {
	var (
		e      paper.Evolving
		asJSON bool
		search bool
		evals  int
	)
	c := &cobra.Command{
		Use:   "evolving",
		Short: "Evolving applications: Tables 1 and 2 of CoreGRID 2011 and RR-7205",
		Long: `Print Tables 1 and 2 of Klein and Perez, "Towards Scheduling Evolving Applications" (CoreGRID 2011, also RR-7205). The tables have min,
avg and max of each figure, with ours above the published ones. Algorithms without published figures are our own.

Every algorithm schedules the papers' random tests: 15 to 20 applications on 100 nodes, each with 1 to 10 steps of 500 to 3600 s and 1
to 75 nodes. ε is a number above 0 that rounds to 0.

With --search, also search for better orders in the first 50 tests, with the smallest makespan ("accordion schedule --order search").

The same seed gives the same figures on every machine, except for the schedulers' own time.`,
		Args: command.NoArguments,
	}
	c.Flags().IntVar(&e.Tests, "tests", 1000, "number of random tests")
	c.Flags().Uint64Var(&e.Seed, "seed", paper.Seed, "random seed of the tests")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, for programs")
	c.Flags().BoolVar(&search, "search", false, "also search for better orders in the first 50 tests")
	c.Flags().IntVar(&evals, "evals", 20000, "how many orders --search tries per test and algorithm")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if e.Tests < 1 || e.Tests > mostTests {
			return command.Usage(fmt.Errorf("paper evolving: --tests %d is not 1 to %d", e.Tests, mostTests))
		}
		if evals < 1 {
			return command.Usage(fmt.Errorf("paper evolving: --evals %d is not at least 1", evals))
		}
		if search {
			e.Search = evals
		} else if cmd.Flags().Changed("evals") {
			return command.Usage(fmt.Errorf("paper evolving: --evals is for --search"))
		}
		var rows []paper.Row
		err := experiment(cmd, e.Work(), "tests", asJSON, func(done func(int)) (err error) {
			e.Done = done
			rows, err = e.Run(cmd.Context())
			return err
		})
		if err != nil {
			return fmt.Errorf("paper evolving: %w", err)
		}
		if asJSON {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(struct {
				Rows []paper.Row `json:"rows"`
			}{rows})
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d tests, seed %d\n%s", e.Tests, e.Seed, strings.TrimLeft(paper.Text(rows), "\n"))
		return err
	}
	return c
}

// experiment runs an experiment with a progress bar. After an interrupt it writes how many parts of the work were done, unless standard output is
// JSON.
func experiment(cmd *cobra.Command, work int, parts string, asJSON bool, run func(done func(int)) error) error {
	draw, over := command.ProgressTo(work, parts)
	done := 0
	err := run(func(n int) {
		if done = n; draw != nil {
			draw(n)
		}
	})
	over()
	if err == nil || cmd.Context().Err() == nil {
		return err
	}
	out := cmd.OutOrStdout()
	if asJSON {
		out = io.Discard
	}
	return command.Stop(out, "", "%d of %d %s done", done, work, parts)
}

// saveCharts writes figures into a folder.
func saveCharts(folder string, charts []chart.Chart) error {
	var all []files.File
	for _, c := range charts {
		all = append(all, files.File{Path: filepath.Join(folder, c.File), Folder: true, Write: c.Write})
	}
	return files.Save(all...)
}
