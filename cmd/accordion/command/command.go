// Package command has what the subcommands share: exit statuses of errors, the flags for the configuration, and
// completion, help and error messages.
package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"accordion/adapter/config"
)

// ExitError is an error with an exit status, such as 2 when the input or the command line is wrong. If Err is nil, nothing is printed.
type ExitError struct {
	Status int
	Err    error
}

func (e ExitError) Error() string { return fmt.Sprint(e.Err) }
func (e ExitError) Unwrap() error { return e.Err }

// Usage marks an error as the user's mistake, with exit status 2.
func Usage(err error) error { return ExitError{Status: 2, Err: err} }

// Warn writes warnings to standard error, one on each line.
func Warn(cmd *cobra.Command, warnings []string) {
	for _, line := range warnings {
		fmt.Fprintln(cmd.ErrOrStderr(), "accordion: warning:", line)
	}
}

// statusInterrupted is the exit status after Ctrl-C, as in shells.
const statusInterrupted = 130

// Interrupted marks an error as the error of an interrupted command, with exit status 130.
func Interrupted(err error) error { return ExitError{Status: statusInterrupted, Err: err} }

// Stop prints the partial result of an interrupted command. It returns an error with exit status 130 that says how far the command came.
func Stop(out io.Writer, text, format string, values ...any) error {
	done := fmt.Errorf("interrupted: "+format, values...)
	if _, err := fmt.Fprintln(out, text+done.Error()); err != nil {
		return err
	}
	return Interrupted(done)
}

// NoArguments refuses arguments, as a usage error.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usage(fmt.Errorf("%s takes no arguments, but there is %q", cmd.CommandPath(), args[0]))
	}
	return nil
}

// OneFile requires exactly one argument, a file. Anything else is a usage error.
func OneFile(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return Usage(fmt.Errorf("%s: give one FILE, or - for standard input; there are %d arguments", cmd.Name(), len(args)))
	}
	return nil
}

// OldFlag makes a command accept an older name of a flag, which help does not show.
func OldFlag(c *cobra.Command, old, name string) {
	before := c.Flags().GetNormalizeFunc()
	c.Flags().SetNormalizeFunc(func(f *pflag.FlagSet, typed string) pflag.NormalizedName {
		if typed == old {
			typed = name
		}
		return before(f, typed)
	})
}

// Complete completes a flag's value with one of the words.
func Complete(c *cobra.Command, flag string, words ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag
	}
}

// CompleteList completes a flag's value, a list of the words separated by commas.
func CompleteList(c *cobra.Command, flag string, words ...string) {
	complete := func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		said := strings.Split(before, ",")
		var all []string
		for _, word := range words {
			if !slices.Contains(said, word) {
				all = append(all, before+word)
			}
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	if err := c.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag
	}
}

// configVariable is the environment variable with the path of the configuration, used if --config is absent.
const configVariable = "ACCORDION_CONFIG"

// Config is the flag --config.
type Config struct{ flag *string }

// ConfigFlag adds --config to a command.
func ConfigFlag(cmd *cobra.Command) Config {
	return Config{cmd.Flags().String("config", "", "the sidecar's configuration (default $"+configVariable+", else "+config.DefaultPath+")")}
}

// Path returns the path of the configuration, from the flag or from the environment variable.
func (c Config) Path() string {
	for _, path := range []string{*c.flag, os.Getenv(configVariable)} {
		if path != "" {
			return path
		}
	}
	return config.DefaultPath
}

// errNotSetUp is the error on a host where nothing is configured.
var errNotSetUp = errors.New("this host has no Accordion: there is no " + config.DefaultPath +
	"; run this on the sidecar's host, which your administrator knows, or name its configuration with --config (to set one up: accordion setup)")

// Shown loads the configuration for a command that shows what a sidecar does. If there is none, the command runs on
// the wrong host.
func (c Config) Shown() (config.Clusters, error) {
	if path := c.Path(); path == config.DefaultPath {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return config.Clusters{}, Usage(errNotSetUp)
		}
	}
	return c.Load()
}

// Load reads the configuration, and the configurations of the clusters that it lists. Its errors are usage errors.
func (c Config) Load() (config.Clusters, error) {
	conf, err := config.LoadClusters(c.Path())
	if err != nil {
		return conf, Usage(err)
	}
	return conf, nil
}
