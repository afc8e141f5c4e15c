package cluster

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"accordion/adapter/config"
	"accordion/cmd/accordion/command"
)

// Config returns the command "accordion config".
func Config() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show a commented configuration, or check one",
		RunE: func(*cobra.Command, []string) error {
			return command.Usage(errors.New("config: use accordion config example or accordion config check"))
		},
	}
	example := &cobra.Command{
		Use:   "example",
		Short: "Print a configuration with every key, its meaning and its default value",
		Args:  command.NoArguments,
	}
	several := example.Flags().Bool("several", false, "print a configuration for several clusters")
	example.RunE = func(cmd *cobra.Command, _ []string) error {
		text := config.Example
		if *several {
			text = config.ExampleList
		}
		_, err := fmt.Fprint(cmd.OutOrStdout(), text)
		return err
	}
	c.AddCommand(example)
	check := &cobra.Command{
		Use:   "check",
		Short: "Check the configuration, and all configurations that it lists",
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
