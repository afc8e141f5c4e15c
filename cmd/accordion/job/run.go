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

// Run is "accordion run".
func Run() *cobra.Command {
	return &cobra.Command{
		Use:   "run [options of srun] [--] PROGRAM [ARGUMENTS]",
		Short: "In a job: start a program on all its nodes, those of its companions too",
		Long: `Start a program as srun does, on all nodes that the job has. Where the job grows by companions, allocations beside its own
(ACCORDION_ALLOCATIONS names them), no srun reaches all of them: accordion run starts one for each. In any other job it is srun.

    eval "$(accordion step)"
    accordion run ./solve                     as many tasks a node as the job asked for, on all nodes
    accordion run -l -n 10 --gpus-per-task=1 ./solve

Options are those of srun, written as for srun. What they say of nodes and tasks (-N, -n, --ntasks-per-node, -w, -x, -r) counts over
all nodes, the job's own first; so do the numbers before lines (-l), the %t, %n and %N in file names (-o, -e, -i), and the number of a
single task there. The others are handed to each srun. Those that cannot work over several allocations are refused: --multi-prog, --pty,
--gpus (say --gpus-per-node or --gpus-per-task), --bcast, --jobid, --het-group, --mpi other than none, and a few more.

Each task knows its place in the whole by

    ACCORDION_PROCID, ACCORDION_NTASKS     its number, from 0, and how many tasks there are
    ACCORDION_NODEID, ACCORDION_NNODES     the number of its node, from 0, and how many nodes there are

while SLURM_* speak of the allocation that it is in. Tasks are numbered allocation by allocation. MPI programs are started with mpiexec or
mpirun, which accordion step makes span all allocations: srun connects the tasks of one only.

Standard input goes to every task, as with srun; output comes out by whole lines. The exit status is srun's: the highest of all tasks,
128 and its number for a signal. Signals reach every srun: one ^C asks how it goes, two within a second end the program. When the tasks
of one allocation cannot be started, or a task fails under -K, the others are ended.`,
		Example: `    accordion run -N1 -w n7 hostname              on one node, whichever allocation it is of
    accordion run -o out.%t ./solve               a file for each task, numbered over all`,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			return runProgram(args)
		},
	}
}

// runProgram ends the process, or says why it did not start anything.
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
	if launch.Asks(line) {
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

// becomeSrun replaces this process by srun.
func becomeSrun(args []string) error {
	path, err := exec.LookPath("srun")
	if err != nil {
		return command.ExitError{Status: 1, Err: errors.New("run: srun is not in PATH: accordion run is for jobs of Slurm")}
	}
	err = syscall.Exec(path, append([]string{"srun"}, args...), os.Environ())
	return command.ExitError{Status: 1, Err: fmt.Errorf("run: %s: %w", path, err)}
}
