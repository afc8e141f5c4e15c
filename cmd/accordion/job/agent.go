package job

import (
	"fmt"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/shim/agent"
)

// Agent returns the command "accordion agent".
func Agent() *cobra.Command {
	return &cobra.Command{
		Use:   "agent [options of ssh] HOST COMMAND",
		Short: "In a job: replaces ssh for mpiexec and mpirun",
		Long: `Run a command on a node of the job, in whichever of the job's allocations the node is. MPI launchers start it instead of ssh. You do
not need to call it by hand: in a job with companions, accordion step exports the variables that make mpiexec (MPICH) and mpirun
(Open MPI) use it.

The command gets all cores, memory and devices that the job has on the node. It may run next to other job steps; the launcher binds
its ranks. The user's login shell runs the command, in the environment of the caller without the variables that describe another
node.

The node is looked up in ACCORDION_ALLOCATIONS, then in the hosts file of a job that never calls accordion step, then in the job
itself.

The options of ssh are accepted. Only -l (which must be the job's user) and -n have an effect. The exit status is the command's. If
the command cannot be started, the status is 255 and a message names the host and the cause.`,
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
