package demo

import (
	"errors"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/adapter/web"
	"accordion/cmd/accordion/command"
	"accordion/traces/gantt"
)

// Command returns "accordion demo".
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "Run a small workload of evolving, moldable and rigid jobs, and draw it",
		Long: `Run a small workload on a built-in batch system with the real sidecar. Show it live in the terminal, and draw a Gantt chart of it
as one HTML page. It needs no cluster and changes none.

A workload file has one job per line: WHEN USER NAME WHAT WORK%. WHAT is ep=2x4m,6x6m,3x4m (evolving), mold=2x16m|4x9m (moldable) or
4x9m (rigid). WORK is the real run time, in percent of the requested time.`,
		Args: command.NoArguments,
	}
	speed := c.Flags().Int("speed", 90, "speed of the demo, as a multiple of real time; slower on a busy machine")
	out := c.Flags().StringP("out", "o", "accordion-demo.html", "the page to write")
	command.Output(c, "out", command.AFile)
	nodes := c.Flags().Int("nodes", 16, "nodes of the machine")
	workload := c.Flags().String("workload", "", "a file with a workload (default: the bundled one)")
	journal := c.Flags().String("journal", "", "write the sidecar's journal to this file")
	address := c.Flags().String("web", "", "also show it in a browser, at this address (such as 127.0.0.1:9821)")
	verbose := c.Flags().Bool("log", false, "show the sidecar's log on standard error")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		text := Workload
		if *workload != "" {
			data, err := os.ReadFile(*workload)
			if err != nil {
				return command.Usage(err)
			}
			text = string(data)
		}
		jobs, err := Parse(text)
		if err != nil {
			return command.Usage(err)
		}
		o := Options{Jobs: jobs, Nodes: *nodes, Speed: *speed, Show: cmd.OutOrStdout(), Journal: *journal}
		if err := o.Check(); err != nil {
			return command.Usage(err)
		}
		if *verbose {
			o.Log = hclog.New(&hclog.LoggerOptions{Name: "sidecar", Level: hclog.Debug, Output: cmd.ErrOrStderr()})
		}
		if *address != "" {
			if o.Web, err = web.Listen(*address); err != nil {
				return command.Usage(err)
			}
			defer o.Web.Close()
		}
		g, err := Play(cmd.Context(), o)
		if stopped := (*InterruptedError)(nil); errors.As(err, &stopped) {
			return command.Stop(cmd.OutOrStdout(), "", "%d of %d jobs have ended; %s was not written", stopped.Ended, stopped.Jobs, *out)
		}
		if err != nil {
			return err
		}
		if err := g.Save(*out); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "\n%s\nThe Gantt chart is in %s.\n", gantt.Summary(g), *out)
		return err
	}
	return c
}
