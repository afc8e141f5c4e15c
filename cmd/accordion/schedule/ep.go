package schedule

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/core/evolve"
	"accordion/traces/advise"
)

// EP is "accordion ep".
func EP() *cobra.Command {
	c := &cobra.Command{Use: "ep", Short: "Evolution profiles as users write them"}
	var nodes int
	check := &cobra.Command{
		Use:   "check [flags] PROFILE",
		Short: "Draw a profile, or tell every mistake in it",
		Long: `Draw a profile, such as 5x500s,10x1h, say what it holds, and how much more the job would hold as a rigid one. Of a wrong one every mistake is
told, with its column.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usage(fmt.Errorf("ep check: give one profile, such as 5x500s,10x1h; there are %d arguments", len(args)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if nodes < 1 || nodes > core.MaxNodes {
				return command.Usage(fmt.Errorf("ep check: --nodes %d is not from 1 to %d", nodes, core.MaxNodes))
			}
			ep, mistakes := advise.Check(args[0], nodes)
			for i, err := range mistakes {
				if i == len(mistakes)-1 {
					return command.Usage(err)
				}
				fmt.Fprintln(cmd.ErrOrStderr(), "accordion:", err)
			}
			return drawn(cmd.OutOrStdout(), ep)
		},
	}
	check.Flags().IntVar(&nodes, "nodes", core.MaxNodes, "of the machine: no step has more")
	c.AddCommand(check)
	return c
}

// drawn writes the picture and what it comes to.
func drawn(w io.Writer, ep core.EP) error {
	rigid := int64(ep.Peak()) * ep.Total()
	_, err := fmt.Fprintf(w, "%s\n%s: %d steps, %s, at most %d nodes.\nIt holds %.2f node-hours. A rigid job would hold %.2f, %.0f %% of it unused.\n", advise.Draw(ep, 60, 12),
		evolve.Format(ep), len(ep), core.FormatDuration(ep.Total()), ep.Peak(), float64(ep.Area())/3600, float64(rigid)/3600, 100*float64(rigid-ep.Area())/float64(rigid))
	return err
}
