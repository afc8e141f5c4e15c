package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/readers"
	"accordion/cmd/accordion/command"
)

// Limits returns the command "accordion limits".
func Limits() *cobra.Command {
	c := &cobra.Command{
		Use:   "limits",
		Short: "Reset the counter of a user's limit",
		RunE: func(*cobra.Command, []string) error {
			return command.Usage(errors.New("limits: use accordion limits reset USER"))
		},
	}
	c.AddCommand(resetCommand())
	return c
}

func resetCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "reset USER",
		Short: "Reset the count of a user's reserved but unused node-time",
		Long: `Reset the used and unused node-time that is counted for a user, in all accounts. The limit [limits] unused then counts from zero for
that user. For jobs that start from now on, later steps are reserved in advance again. Run it as root on the sidecar's host, while
the sidecar runs. "accordion queue --usage" shows the counts.`,
		Example: `  accordion limits reset ann
  accordion limits reset ann --cluster b`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return command.Usage(fmt.Errorf("%s takes one user's name, such as: accordion limits reset ann", cmd.CommandPath()))
			}
			return nil
		},
	}
	clusters := command.ClustersFlag(c)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := clusters.Chosen()
		if err != nil {
			return err
		}
		return command.Each(cmd, all, func(one command.Cluster) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), time.Minute)
			defer cancel()
			had, err := readers.Reset(ctx, one.Session.Socket, args[0])
			if err != nil {
				return err
			}
			text := "nothing was counted for " + args[0]
			if had {
				text = "what jobs of " + args[0] + " left unused is forgotten"
			}
			if one.Name != "" {
				text = "cluster " + one.Name + ": " + text
			}
			fmt.Fprintln(cmd.OutOrStdout(), text)
			return nil
		})
	}
	return c
}
