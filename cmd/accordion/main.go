// Command accordion is the only program of the project: the sidecar for Slurm and OAR, the commands in a job, and the
// schedulers on the command line. Each folder has a group of subcommands. This package combines them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/advise"
	"accordion/cmd/accordion/chart"
	"accordion/cmd/accordion/cluster"
	"accordion/cmd/accordion/command"
	"accordion/cmd/accordion/demo"
	"accordion/cmd/accordion/job"
	"accordion/cmd/accordion/oar"
	"accordion/cmd/accordion/schedule"
	"accordion/cmd/accordion/serve"
	"accordion/cmd/accordion/setup"
	"accordion/cmd/accordion/status"
	"accordion/cmd/accordion/traces"
	oarsetup "accordion/oar/setup"
	"accordion/shim/agent"
)

func main() { os.Exit(run()) }

// run does what main does and returns the exit status, so that testscript can call it.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if filepath.Base(os.Args[0]) == oarsetup.SchedulerName {
		return oar.RunScheduler(ctx)
	}
	root := accordion()
	if filepath.Base(os.Args[0]) == agent.Name {
		root.SetArgs(append([]string{"agent"}, os.Args[1:]...))
	}
	return execute(ctx, root)
}

// execute runs a command line, writes its error as one line, and returns the exit status.
func execute(ctx context.Context, root *cobra.Command) int {
	cmd, err := root.ExecuteContextC(ctx)
	if err = command.Hinted(cmd, err); err == nil {
		return 0
	}
	coded := command.ExitError{Status: 1, Err: err}
	if !errors.As(err, &coded) && ctx.Err() != nil {
		errors.As(command.Interrupted(errors.New("interrupted")), &coded)
	}
	if coded.Err != nil {
		fmt.Fprintln(root.ErrOrStderr(), "accordion:", coded.Err)
	}
	return coded.Status
}

// accordion returns the command of the program, with its subcommands.
func accordion() *cobra.Command {
	root := &cobra.Command{
		Use:           "accordion",
		Short:         "Jobs that grow and shrink, on ordinary Slurm and OAR clusters",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	for _, g := range []struct {
		who      string
		commands []*cobra.Command
	}{
		{"users", append(job.ForUsers(), status.Status(), status.Queue(), status.Explain(), status.Watch(), advise.Command(), schedule.EP())},
		{"job scripts", job.ForScripts()},
		{"administrators", []*cobra.Command{serve.Command(), cluster.Preflight(), status.Journal(), cluster.Audit(), chart.Command(), setup.Command(), cluster.Config(), cluster.ReleaseAll(), status.Limits(), oar.Command()}},
		{"researchers", []*cobra.Command{traces.Replay(), traces.Compare(), traces.Paper(), traces.Trace(), schedule.Command(), demo.Command()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.who, Title: "For " + g.who + ":"})
		for _, c := range g.commands {
			c.GroupID = g.who
			root.AddCommand(c)
		}
	}
	root.AddCommand(command.Man())
	command.AddVersion(root)
	root.AddCommand(traces.Topics()...)
	addHelp(root)
	command.Guide(root)
	return root
}
