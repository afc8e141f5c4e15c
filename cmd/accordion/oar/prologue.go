package oar

import (
	"fmt"

	"github.com/spf13/cobra"

	"accordion/oar/hooks"
)

func prologueCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prologue JOB USER NODEFILE [WALLTIME]",
		Short: "On a node, before a job begins: put the nodes of its first step into its node file",
		Long: `OAR knows of an evolving job's smallest size only, and writes those nodes into the file OAR_NODEFILE before the job's command
begins. Where the first step is larger, the others are added by this. In the oar.conf of the server:

  PROLOGUE_EXEC_FILE="/usr/bin/accordion oar prologue"

OAR runs it on the first node of every job, with these arguments. Where a site has a prologue of its own, that may call this as
its last line, with its own arguments. The exit status is 0 though it fails: a failed prologue ends the job.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 3 {
				fmt.Fprintf(cmd.ErrOrStderr(), "accordion: oar prologue: want JOB USER NODEFILE [WALLTIME], as OAR gives them; there are %d arguments\n", len(args))
				return nil
			}
			if err := hooks.Prologue(args[2]); err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "accordion: job %s: %v\n", args[0], err)
			}
			return nil
		},
	}
}
