package cluster

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"accordion/adapter/config"
	"accordion/cmd/accordion/command"
)

// Config is "accordion config".
func Config() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show a commented configuration, or check one",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return command.Usage(errors.New("config: say which: accordion config example, or accordion config check"))
		},
	}
	c.AddCommand(&cobra.Command{
		Use:   "example",
		Short: "Print a configuration with every key, its meaning and its default",
		Args:  command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), config.Example)
			return err
		},
	})
	check := &cobra.Command{
		Use:   "check",
		Short: "Read the configuration and say whether it is right",
		Args:  command.NoArguments,
	}
	file := command.ConfigFlag(check)
	check.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := file.Load(); err != nil {
			return err
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), file.Path(), "is right")
		return err
	}
	c.AddCommand(check)
	return c
}
