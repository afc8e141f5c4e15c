// Package job is the subcommands of users and of their job scripts: step and nodes, run, agent, which MPI launchers start; launch and part.
package job

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core"
	"accordion/shim"
)

// Step is "accordion step".
func Step() *cobra.Command {
	c := &cobra.Command{
		Use:   "step [--keep NODES | --release NODES] [--timeout DURATION]",
		Short: "In a job: end this step, wait for the next one's nodes",
		Long: `Say that the job's present step is over, and wait until the nodes of its next step are there. Written in the job
script between two steps, in the script's own shell (not in a subshell, nor with srun):

    srun ./preprocess
    eval "$(accordion step)"
    srun ./solve

What it prints are commands for the shell (sh, dash, bash, zsh, ksh): exports by which srun, mpirun and your own programs
know the nodes that the job holds now. Their last one has the exit status, so that eval has it too:

    0  the next step begins, whether its size differs or not
    1  refused, or there is no next step; the message says why
    2  the command line is wrong, or this is not a job
    3  the timeout passed before the nodes were there
    4  no sidecar answered

With 3 and 4 the exports describe what the job holds at present, so that a script can go on with that:

    eval "$(accordion step --timeout 10m)" || echo "going on with $SLURM_JOB_NUM_NODES nodes"

Under "set -e" write || and what to do; without it a status other than 0 ends the script.

An application that is early waits for the second at which the next step is planned. When the sidecar is restarted meanwhile,
the call notices, waits up to 2 minutes for it and asks again. Where no sidecar is running at all it gives up after 10 seconds.

Exported are SLURM_NNODES, SLURM_JOB_NUM_NODES, SLURM_NODELIST, SLURM_JOB_NODELIST and, where they were set,
SLURM_JOB_CPUS_PER_NODE, SLURM_NTASKS, SLURM_NPROCS and SLURM_TASKS_PER_NODE: the tasks are scaled, so that each node has as
many as in the first step. SLURM_HOSTFILE is unset when it speaks of other nodes. Under OAR: OAR_NODEFILE and its older names,
a file with a line for each core. Further:

    ACCORDION_HOSTFILE    file with the name of one node a line
    ACCORDION_STEP        the step that the job is in, from 1
    ACCORDION_STEPS       how many it has
    ACCORDION_UNTIL       second since 1970 at which the step ends as planned
    ACCORDION_GENERATION  number of resizes so far

and, for the next call, ACCORDION_JOB and ACCORDION_TASKS. The sidecar is where ACCORDION_SOCKET (path
of its socket) or ACCORDION_ADDRESS (HOST:PORT) says, else where a file accordion.address beside slurm.conf or oar.conf says, else at
the usual socket.`,
		Example: `    eval "$(accordion step --keep n3,n4)"    when the job shrinks, these stay
    eval "$(accordion step --release n[5-6])"    when the job shrinks, these go`,
	}
	keep := c.Flags().String("keep", "", "when the job shrinks, the `nodes` that stay, as n3,n[5-7]")
	release := c.Flags().String("release", "", "when the job shrinks, the `nodes` that go")
	timeout := c.Flags().String("timeout", "", "how long to wait at most, a `duration` such as 90s, 10m or 1h30m (default: as long as it takes)")

	// Whatever goes wrong, what is printed has the status: `eval ""` would go on as if all were well.
	c.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return finish(cmd, shim.Usage(command.WrongFlag(cmd, err))) })
	c.Args = func(cmd *cobra.Command, args []string) error {
		if err := command.NoArguments(cmd, args); err != nil {
			return finish(cmd, shim.Usage(err))
		}
		return nil
	}
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		o := shim.Options{Keep: *keep, Release: *release, Getenv: os.LookupEnv}
		for flag, value := range map[string]string{"keep": *keep, "release": *release} {
			if cmd.Flags().Changed(flag) && value == "" {
				return finish(cmd, shim.Usage(fmt.Errorf("--%s: no nodes are named", flag)))
			}
		}
		if cmd.Flags().Changed("timeout") {
			d, ok := command.Duration(*timeout)
			if !ok || d == 0 {
				return finish(cmd, shim.Usage(fmt.Errorf("--timeout: %s is not a duration above 0: write %s", core.Shown(*timeout), core.DurationForms)))
			}
			o.Timeout = time.Duration(d) * time.Second
		}
		return finish(cmd, shim.Step(cmd.Context(), o))
	}
	return c
}

// finish hands the outcome to the shell (standard output), the user (standard error) and the exit status.
func finish(cmd *cobra.Command, o shim.Outcome) error {
	if _, err := fmt.Fprint(cmd.OutOrStdout(), o.Text); err != nil {
		return fmt.Errorf("step: hand the result to the shell: %w", err)
	}
	if o.Status == shim.StatusResized {
		fmt.Fprintln(cmd.ErrOrStderr(), "accordion:", o.Says)
		return nil
	}
	return command.ExitError{Status: o.Status, Err: errors.New(o.Says)}
}
