package main

import (
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/cmd/accordion/chart"
	"accordion/cmd/accordion/demo"
)

func init() { subcommands = append(subcommands, demoCommand) }

func demoCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "demo",
		Short: "Play a small workload of evolving, moldable and rigid jobs, and draw it",
		Long: `Play a small workload on a batch system inside the process, with the real sidecar beside it, live in the terminal, and
draw a Gantt chart of it as one HTML page. Nothing outside is needed or touched.

A workload has a job a line: WHEN USER NAME WHAT WORK%, where WHAT is ep=2x4m,6x6m,3x4m (evolving), mold=2x16m|4x9m
(moldable) or 4x9m (rigid), and WORK how long it really takes, in percent of what it asks for.`,
		Args: noArguments,
	}
	speed := c.Flags().Int("speed", 90, "how many times as fast as the wall clock")
	out := c.Flags().StringP("out", "o", "accordion-demo.html", "the page to write")
	nodes := c.Flags().Int("nodes", 16, "nodes of the machine")
	workload := c.Flags().String("workload", "", "file with another workload than the bundled one")
	journal := c.Flags().String("journal", "", "keep the sidecar's journal in this file")
	verbose := c.Flags().Bool("log", false, "show the sidecar's log on standard error")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		text := demo.Workload
		if *workload != "" {
			data, err := os.ReadFile(*workload)
			if err != nil {
				return usage(err)
			}
			text = string(data)
		}
		jobs, err := demo.Parse(text)
		if err != nil {
			return usage(err)
		}
		o := demo.Options{Jobs: jobs, Nodes: *nodes, Speed: *speed, Show: cmd.OutOrStdout(), Journal: *journal}
		if err := o.Check(); err != nil {
			return usage(err)
		}
		if *verbose {
			o.Log = hclog.New(&hclog.LoggerOptions{Name: "sidecar", Level: hclog.Debug, Output: cmd.ErrOrStderr()})
		}
		g, err := demo.Play(cmd.Context(), o)
		if err != nil {
			return err
		}
		if err := chart.Save(*out, g); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "\n%s\nThe Gantt chart is in %s.\n", chart.Summary(g), *out)
		return err
	}
	return c
}
