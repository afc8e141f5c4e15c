// Command accordion is the one program of the project: a sidecar for Slurm and OAR, the shim inside a job, the
// schedulers on the command line. This folder holds a thin file for each subcommand and no logic.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"accordion/oar/setup"
	"accordion/shim/agent"
)

func main() { os.Exit(run()) }

// run is main with its exit status, so that testscript can call it.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if filepath.Base(os.Args[0]) == setup.SchedulerName {
		return runScheduler(ctx)
	}
	root := command()
	if filepath.Base(os.Args[0]) == agent.Name {
		root.SetArgs(append([]string{"agent"}, os.Args[1:]...))
	}
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var coded exitError
	if errors.As(err, &coded) {
		if coded.err != nil {
			fmt.Fprintln(os.Stderr, "accordion:", coded.err)
		}
		return coded.status
	}
	fmt.Fprintln(os.Stderr, "accordion:", err)
	return 1
}

// exitError carries the exit status: 2 when the input or the command line is wrong. Without err nothing is printed.
type exitError struct {
	status int
	err    error
}

func (e exitError) Error() string { return fmt.Sprint(e.err) }
func (e exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's: exit status 2.
func usage(err error) error { return exitError{status: 2, err: err} }

// subcommands is filled by each subcommand's file.
var subcommands []func() *cobra.Command

func command() *cobra.Command {
	root := &cobra.Command{
		Use:           "accordion",
		Version:       version(),
		Short:         "Jobs that grow and shrink, on ordinary Slurm and OAR clusters",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	for _, sub := range subcommands {
		root.AddCommand(sub())
	}
	return root
}
