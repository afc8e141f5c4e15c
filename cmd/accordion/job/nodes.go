package job

import (
	"os"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/shim"
)

// Nodes is "accordion nodes".
func Nodes() *cobra.Command {
	c := &cobra.Command{
		Use:   "nodes",
		Short: "In a job: what it has now, as exports for the shell",
		Long: `Print commands for the shell by which srun, accordion run, mpiexec and mpirun know what the job has now: those of accordion step, but
without ending a step. For scripts that never ask for their steps: they are resized at the planned seconds, and told by a signal.

    trap resized=yes URG
    eval "$(accordion nodes)"
    accordion run ./solve

It reads the hosts file that the sidecar keeps for such a job, on the node of its script; where there is none Slurm is asked. Status 1:
neither could say; 2: this is no job.

With --file it prints only where that file is; status 1 while there is none:

    until hosts=$(accordion nodes --file); do sleep 1; done 2>/dev/null`,
	}
	file := c.Flags().Bool("file", false, "print the path of the job's hosts file")
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := command.NoArguments(cmd, args); err != nil {
			return finish(cmd, shim.Usage(err))
		}
		return nil
	}
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return finish(cmd, shim.Usage(command.WrongFlag(cmd, err))) })
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if *file {
			return finish(cmd, shim.HostsFile(os.LookupEnv))
		}
		return finish(cmd, shim.Nodes(cmd.Context(), os.LookupEnv))
	}
	return c
}
