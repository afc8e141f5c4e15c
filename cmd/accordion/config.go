package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"accordion/adapter/config"
)

func init() { subcommands = append(subcommands, configCommand) }

func configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show a commented configuration, or check one",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return usage(errors.New("config: say which: accordion config example, or accordion config check"))
		},
	}
	c.AddCommand(&cobra.Command{
		Use:   "example",
		Short: "Print a configuration with every key, its meaning and its default",
		Args:  noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), config.Example)
			return err
		},
	})
	check := &cobra.Command{
		Use:   "check",
		Short: "Read the configuration and say whether it is right",
		Args:  noArguments,
	}
	file := configFlag(check)
	check.RunE = func(cmd *cobra.Command, _ []string) error {
		path := *file
		if _, err := loadConfig(path); err != nil {
			return err
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), configPath(path), "is right")
		return err
	}
	c.AddCommand(check)
	return c
}

// configVariable names the configuration where --config does not.
const configVariable = "ACCORDION_CONFIG"

func configFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("config", "", "the sidecar's configuration (default $"+configVariable+", else "+config.DefaultPath+")")
}

func configPath(flag string) string {
	for _, path := range []string{flag, os.Getenv(configVariable)} {
		if path != "" {
			return path
		}
	}
	return config.DefaultPath
}

// loadConfig reads the configuration that the flag or the environment names. Mistakes in it are the caller's.
func loadConfig(flag string) (config.Config, error) {
	c, err := config.Load(configPath(flag))
	if err != nil {
		return c, usage(err)
	}
	return c, nil
}

// noArguments refuses arguments as a mistake of the command line.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("%s takes no arguments, but there is %q", cmd.CommandPath(), args[0]))
	}
	return nil
}
