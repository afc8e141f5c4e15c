package job

import (
	"os"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/shim"
)

// Nodes returns the command "accordion nodes".
func Nodes() *cobra.Command {
	c := &cobra.Command{
		Use:   "nodes",
		Short: "In a job: print its present nodes as exports for the shell",
		Long: `Print shell commands that describe the job's present nodes to srun, accordion run, mpiexec and mpirun. They are the commands of
accordion step, but no step ends. This is for scripts that never call accordion step: their jobs are resized at the planned times and
receive a signal.

    trap resized=yes URG
    eval "$(accordion nodes)"
    accordion run ./solve

It reads the hosts file of the job, which the sidecar keeps on the node of the script. If the file does not exist, it asks Slurm. The
exit status is 1 if neither has the answer, and 2 if this is not a job.

With --file it prints only the path of that file. The exit status is 1 until the file exists:

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
