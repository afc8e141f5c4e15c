package job

import (
	"fmt"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/shim/agent"
)

// Agent is "accordion agent".
func Agent() *cobra.Command {
	return &cobra.Command{
		Use:   "agent [options of ssh] HOST COMMAND",
		Short: "In a job: what mpiexec and mpirun start in place of ssh",
		Long: `Run a command on a node of the job, whichever of the job's allocations has it: what an MPI launcher starts in place of ssh. The
command has all cores, all memory and all devices of the node that are the job's, and may run beside other steps; the launcher binds its
ranks. It is carried out by the user's login shell, in the environment of the caller, of which what speaks of another node is left out.

In a job with companions, accordion step exports what makes mpiexec (MPICH) and mpirun (Open MPI) use it; nobody needs to call it by
hand. The node is looked for in ACCORDION_ALLOCATIONS, then in the hosts file of a job that never calls accordion step, then in the job
itself.

Options are those of ssh. They mean nothing here but -l (which must be the job's user) and -n. The exit status is the command's; 255, and
a line that says which host and why, when it could not be started.`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			return runAgent(cmd, args)
		},
	}
}

func runAgent(cmd *cobra.Command, args []string) error {
	call, err := agent.Parse(args)
	if err != nil {
		return command.ExitError{Status: agent.Unreachable, Err: fmt.Errorf("agent: %w", err)}
	}
	w := agent.World{
		Environment: os.Environ(), Getenv: os.LookupEnv, Shell: agent.LoginShell(cmd.Context(), os.Getuid(), os.LookupEnv),
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
	}
	if u, err := user.Current(); err == nil {
		w.User = u.Username
	}
	if status := agent.Run(cmd.Context(), call, w); status != 0 {
		return command.ExitError{Status: status}
	}
	return nil
}
