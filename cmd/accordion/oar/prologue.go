package oar

import (
	"fmt"

	"github.com/spf13/cobra"

	"accordion/oar/cpuset"
)

func prologueCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prologue JOB USER NODEFILE [WALLTIME]",
		Short: "On a node, before a job: write the nodes of its first step to its node file",
		Long: `OAR knows only the smallest size of an evolving job, and writes that many nodes to the file OAR_NODEFILE before the job's command
begins. If the first step is larger, this command adds the other nodes. To use it, write in the server's oar.conf:

  PROLOGUE_EXEC_FILE="/usr/bin/accordion oar prologue"

OAR runs it on the first node of every job, with these arguments. If your site has its own prologue, call this command as its last
line, with the same arguments. The exit status is 0 even after an error, because a failed prologue ends the job.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 3 {
				fmt.Fprintf(cmd.ErrOrStderr(), "accordion: oar prologue: want JOB USER NODEFILE [WALLTIME], as OAR gives them; there are %d arguments\n", len(args))
				return nil
			}
			if err := cpuset.Prologue(args[2]); err != nil {
				fmt.Fprintf(cmd.ErrOrStderr(), "accordion: job %s: %v\n", args[0], err)
			}
			return nil
		},
	}
}
