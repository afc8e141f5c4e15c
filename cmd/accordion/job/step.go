// Package job has the subcommands that run in a job or start one. Job scripts call step, nodes and run. MPI launchers
// call agent. launch and part are for applications of delegated scheduling.
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

// The commands of each group in `accordion help`. launch.go and part.go add their commands. The program also builds
// without these two files, but then has no delegated scheduling.
var (
	forScripts = []func() *cobra.Command{Step, Nodes, Run, Agent}
	forUsers   []func() *cobra.Command
)

// ForScripts returns the commands that job scripts and MPI launchers call.
func ForScripts() []*cobra.Command { return made(forScripts) }

// ForUsers returns the commands that users call.
func ForUsers() []*cobra.Command { return made(forUsers) }

func made(commands []func() *cobra.Command) []*cobra.Command {
	var all []*cobra.Command
	for _, command := range commands {
		all = append(all, command())
	}
	return all
}

// Step returns the command "accordion step".
func Step() *cobra.Command {
	c := &cobra.Command{
		Use:   "step [--keep NODES | --release NODES] [--timeout DURATION]",
		Short: "In a job: end this step, and wait for the nodes of the next one",
		Long: `End the job's present step, and wait until the next step has its nodes. Write this in the job script between two
steps, in the script's own shell (not in a subshell or with srun):

    srun ./preprocess
    eval "$(accordion step)"
    srun ./solve

The output is commands for the shell (sh, dash, bash, zsh, ksh). They export the job's present nodes to srun, mpirun and your own
programs. eval returns the same exit status as accordion step:

    0  the next step begins, with the same or another number of nodes
    1  refused, or there is no next step; the message says why
    2  the command line is wrong, or this is not a job
    3  the timeout passed before the nodes were available
    4  no sidecar answered

With 3 and 4 the exports describe the job's present nodes, so that a script can continue with them:

    eval "$(accordion step --timeout 10m)" || echo "going on with $SLURM_JOB_NUM_NODES nodes"

Under "set -e", add || and a command. Otherwise every exit status but 0 ends the script.

If a step ends early, the next one begins at once, unless that would delay other jobs. In that case the call waits, at most until the
planned time. If the sidecar is restarted meanwhile, the call waits up to 2 minutes for the sidecar and asks again. If no sidecar is
running, it gives up after 10 seconds.

The exported variables are SLURM_NNODES, SLURM_JOB_NUM_NODES, SLURM_NODELIST, SLURM_JOB_NODELIST and, if they were set before,
SLURM_JOB_CPUS_PER_NODE, SLURM_NTASKS, SLURM_NPROCS and SLURM_TASKS_PER_NODE. The number of tasks is scaled, so that each node has as
many as in the first step. SLURM_HOSTFILE is unset if it names other nodes. Under OAR the variables are OAR_NODEFILE and its older
names, for a file with one line per core. In addition there are

    ACCORDION_HOSTFILE    a file with one node name per line
    ACCORDION_STEP        number of the present step, from 1
    ACCORDION_STEPS       number of steps
    ACCORDION_UNTIL       planned end of the step, in seconds since 1970
    ACCORDION_GENERATION  number of resizes so far

and, for the next call, ACCORDION_JOB and ACCORDION_TASKS. The call finds the sidecar by ACCORDION_SOCKET (path of its socket) or
ACCORDION_ADDRESS (HOST:PORT). Without these, it reads the file accordion.address next to slurm.conf or oar.conf. Without that file, it
uses the default socket.`,
		Example: `    eval "$(accordion step --keep n3,n4)"    if the job shrinks, these nodes stay
    eval "$(accordion step --release n[5-6])"    if the job shrinks, these nodes are released`,
	}
	keep := c.Flags().String("keep", "", "if the job shrinks, the `nodes` that stay, such as n3,n[5-7]")
	release := c.Flags().String("release", "", "if the job shrinks, the `nodes` that are released")
	timeout := c.Flags().String("timeout", "", "how long to wait at most, a `duration` such as 90s, 10m or 1h30m (default: no limit)")

	// After any error, the printed text is a command that returns the exit status. With an empty text, eval would continue as if nothing
	// had happened.
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

// finish prints the outcome for the shell (standard output) and the user (standard error), and returns the exit
// status.
func finish(cmd *cobra.Command, o shim.Outcome) error {
	if _, err := fmt.Fprint(cmd.OutOrStdout(), o.Text); err != nil {
		return fmt.Errorf("step: write the result: %w", err)
	}
	if o.Status == shim.StatusResized {
		fmt.Fprintln(cmd.ErrOrStderr(), "accordion:", o.Message)
		return nil
	}
	return command.ExitError{Status: o.Status, Err: errors.New(o.Message)}
}
