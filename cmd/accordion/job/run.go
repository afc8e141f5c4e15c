package job

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"syscall"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/shim/allocation"
	"accordion/shim/launch"
	"accordion/shim/srun"
)

// Run returns the command "accordion run".
func Run() *cobra.Command {
	return &cobra.Command{
		Use:   "run [options of srun] [--] PROGRAM [ARGUMENTS]",
		Short: "In a job: start a program on all its nodes, companions included",
		Long: `Start a program like srun, on all nodes of the job. If the job grows by companions, which are further allocations (listed in
ACCORDION_ALLOCATIONS), a single srun cannot reach all nodes. accordion run then starts one srun for each allocation. In any other job
it does the same as srun.

    eval "$(accordion step)"
    accordion run ./solve                     on all nodes, with the job's tasks per node
    accordion run -l -n 10 --gpus-per-task=1 ./solve

The options are srun's. Options about nodes and tasks (-N, -n, --ntasks-per-node, -w, -x, -r) count over all nodes, beginning with the
job's own allocation. The same holds for the numbers before lines (-l), for %t, %n and %N in file names (-o, -e, -i), and for a task number given
to these options. All other options are passed to each srun. Options that cannot work over several allocations are
refused: --multi-prog, --pty, --gpus (use --gpus-per-node or --gpus-per-task), --bcast, --jobid, --het-group, --mpi other than none,
and a few more.

Each task finds its place among all tasks in

    ACCORDION_PROCID, ACCORDION_NTASKS     its number, from 0, and the number of tasks
    ACCORDION_NODEID, ACCORDION_NNODES     the number of its node, from 0, and the number of nodes

The SLURM_* variables describe only the allocation of the task. Tasks are numbered allocation by allocation. Start MPI programs with
mpiexec or mpirun: after accordion step they span all allocations, while srun connects only the tasks of one.

As with srun, standard input goes to every task, and output comes in whole lines. The exit status is the highest of all tasks, and
128 plus the number for a signal. Signals reach every srun: one ^C shows the status, two within a second end the program. If the tasks
of one allocation cannot be started, or a task fails under -K, the other tasks are ended.`,
		Example: `    accordion run -N1 -w n7 hostname              on one node, in whichever allocation it is
    accordion run -o out.%t ./solve               one file per task, numbered over all nodes`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			return runProgram(args)
		},
	}
}

// runProgram ends the process, or returns why it did not start a program.
func runProgram(args []string) error {
	list, err := allocation.Find(os.LookupEnv)
	if err != nil {
		return command.ExitError{Status: 1, Err: fmt.Errorf("run: %w", err)}
	}
	if len(list) < 2 {
		return becomeSrun(args)
	}
	line, err := srun.Parse(args, srun.Help)
	if err != nil {
		return command.Usage(fmt.Errorf("run: %w", err))
	}
	if launch.IsQuery(line) {
		return becomeSrun(args)
	}
	world := launch.World{Allocations: list, Getenv: os.LookupEnv, ReadFile: os.ReadFile}
	if u, err := user.Current(); err == nil {
		world.User = u.Username
	}
	if len(line.Program) > 0 {
		line.Program[0] = launch.Resolve(line.Program[0])
	}
	plan, err := launch.Decide(world, line)
	if err != nil {
		return command.Usage(fmt.Errorf("run: %w", err))
	}
	status := launch.Start(plan, os.Environ(), launch.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	if status == 0 {
		return nil
	}
	return command.ExitError{Status: status}
}

// becomeSrun replaces this process with srun.
func becomeSrun(args []string) error {
	path, err := exec.LookPath("srun")
	if err != nil {
		return command.ExitError{Status: 1, Err: errors.New("run: srun is not in PATH: accordion run is for jobs of Slurm")}
	}
	err = syscall.Exec(path, append([]string{"srun"}, args...), os.Environ())
	return command.ExitError{Status: 1, Err: fmt.Errorf("run: %s: %w", path, err)}
}
