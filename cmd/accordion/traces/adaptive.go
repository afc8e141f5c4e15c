package traces

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/traces/paper/adaptive"
	"accordion/traces/swf"
)

func adaptiveCommand() *cobra.Command {
	var (
		e      adaptive.Experiment
		folder string
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "adaptive [fig4|…|fig14|claims]",
		Short: "Adaptive sizing: Figures 4 to 14 and the claims of SCOJO-P (JSSPP 2006)",
		Long: `Run the experiments of Barsanti and Sodan, "Adaptive Job Scheduling Via Predictive Job Resource Allocation" (JSSPP 2006), with
the policies of "accordion replay". The workloads are 10,000 jobs of the model of Lublin and Feitelson on 128 nodes, with the load of
W1 and of the heavier W2. Without a name all figures are made. Our copy of the paper has no numbers for its bars.

claims compares the paper's statements with our results, under two readings: P follows its words, F comes nearest to its figures. If
real logs are available ($ACCORDION_TRACES, else where scripts/fetch-traces puts them), it also compares the policies on them.

The same seed gives the same figures on every machine, except for times. docs/adaptive.md explains the readings of the paper.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !slices.Contains(adaptive.Names, args[0]) {
				return command.Usage(fmt.Errorf("paper adaptive: %q is nothing that it makes; there are %s", strings.Join(args, " "), strings.Join(adaptive.Names, ", ")))
			}
			return nil
		},
		ValidArgs: adaptive.Names,
	}
	c.Flags().IntVar(&e.Seeds, "seeds", 20, "each figure is the mean over this many seeds")
	c.Flags().Uint64Var(&e.Seed, "seed", 1, "the first seed")
	c.Flags().BoolVar(&e.Readings, "readings", false, "claims: also show which readings change the claims, and which do not")
	c.Flags().StringVarP(&folder, "out", "o", "", "a folder for the figures, one SVG each")
	command.Output(c, "out", command.AFolder)
	command.OldFlag(c, "output", "out")
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object, for programs")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		names := args
		if len(args) == 0 {
			names = slices.DeleteFunc(slices.Clone(adaptive.Names), func(n string) bool { return n == adaptive.Claims })
		}
		if err := right(e, names, folder); err != nil {
			return command.Usage(fmt.Errorf("paper adaptive: %w", err))
		}
		if slices.Contains(names, adaptive.Claims) {
			var err error
			if e.Logs, err = realLogs(cmd); err != nil {
				return err
			}
		}
		var data *adaptive.Data
		err := experiment(cmd, e.Work(names...), "workloads", asJSON, func(done func(int)) (err error) {
			e.Done = done
			data, err = e.Run(cmd.Context(), names...)
			return err
		})
		if err != nil {
			return fmt.Errorf("paper adaptive: %w", err)
		}
		if folder != "" {
			if err := saveCharts(folder, data.Charts()); err != nil {
				return fmt.Errorf("paper adaptive: %w", err)
			}
		}
		return printData(cmd.OutOrStdout(), data, e, slices.Contains(names, adaptive.Claims), asJSON)
	}
	return c
}

// right returns an error if the command line is wrong.
func right(e adaptive.Experiment, names []string, folder string) error {
	switch claims := slices.Contains(names, adaptive.Claims); {
	case e.Seeds < 1 || e.Seeds > 1000:
		return fmt.Errorf("--seeds %d is not 1 to 1000", e.Seeds)
	case e.Seed > adaptive.MostSeed:
		return fmt.Errorf("--seed %d is above %d", e.Seed, uint64(adaptive.MostSeed))
	case e.Readings && !claims:
		return errors.New("--readings is for claims")
	case folder != "" && claims:
		return errors.New("-o is for figures: claims are a table")
	}
	return nil
}

// realLogs reads the real logs, and reports on standard error which ones are missing.
func realLogs(cmd *cobra.Command) ([]adaptive.Log, error) {
	folder, err := swf.Folder()
	if err != nil {
		return nil, command.Usage(err)
	}
	all, missing, err := adaptive.ReadLogs(folder)
	if err != nil {
		return nil, command.Usage(err)
	}
	for _, file := range missing {
		fmt.Fprintf(cmd.ErrOrStderr(), "accordion: %s is not in %s: its claims are left out; scripts/fetch-traces gets it\n", file, folder)
	}
	return all, nil
}

// printData prints the results.
func printData(out io.Writer, data *adaptive.Data, e adaptive.Experiment, claims, asJSON bool) error {
	rows, text := data.Rows, data.Text
	if claims {
		rows, text = data.Claims, data.ClaimsText
	}
	if asJSON {
		all := rows()
		if e.Readings {
			all = append(all, data.Readings()...)
		}
		return json.NewEncoder(out).Encode(struct {
			Rows []adaptive.Row `json:"rows"`
		}{all})
	}
	said := text()
	if e.Readings {
		said += "\n" + data.ReadingsText()
	}
	_, err := fmt.Fprintf(out, "%d seeds from %d\n\n%s", e.Seeds, e.Seed, said)
	return err
}
