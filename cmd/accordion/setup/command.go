// Package setup has the command "accordion setup", which prepares a cluster for the sidecar.
//
//	slurm.go  next to Slurm; oar.go: on OAR's server
//	own.go    the files that setup writes, and may remove
//	ask.go    questions, on a terminal
package setup

import (
	"errors"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/cluster"
	"accordion/cmd/accordion/command"
)

// Command returns the command "accordion setup".
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "setup",
		Short: "Install the sidecar on a Slurm or OAR server, or remove it",
		RunE: func(*cobra.Command, []string) error {
			return command.Usage(errors.New("setup: use accordion setup slurm or accordion setup oar"))
		},
	}
	c.AddCommand(slurmCommand(), oarCommand())
	return c
}

// preflight runs the checks of "accordion preflight" on the cluster of a configuration. It returns an error if the cluster is not ready.
func preflight(cmd *cobra.Command, config string) error {
	c := cluster.Preflight()
	c.SetArgs([]string{"--config", config})
	c.SetOut(cmd.OutOrStdout())
	c.SetErr(cmd.ErrOrStderr())
	c.SilenceErrors, c.SilenceUsage = true, true
	return c.ExecuteContext(cmd.Context())
}
