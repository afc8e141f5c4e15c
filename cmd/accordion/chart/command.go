package chart

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"accordion/cmd/accordion/command"
	"accordion/core/hostlist"
	"accordion/slurm/sacct"
)

// Command is "accordion gantt".
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "gantt [ACCOUNTING]",
		Short: "Draw Slurm's accounting, with the sidecar's promises, as one HTML page",
		Long: `Draw which job held which node when, as one HTML page, from Slurm's accounting (a file or standard input) and the
sidecar's journal. The accounting is what this prints:

  SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --parsable2 --noheader \
    --format=` + sacct.Format + ` --starttime=…`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usage(fmt.Errorf("gantt takes one file with accounting, or none for standard input, not %q", args))
			}
			return nil
		},
	}
	clusters := command.ClustersFlag(c)
	out := c.Flags().StringP("out", "o", "accordion-gantt.html", "the page to write")
	title := c.Flags().String("title", "Accordion on Slurm", "title of the page")
	nodes := c.Flags().String("nodes", "", "the rows, as a host list: n[1-16] (default: the nodes that were held)")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		jobs, err := readAccounting(cmd.InOrStdin(), args)
		if err != nil {
			return command.Usage(err)
		}
		rows, err := hostlist.Expand(*nodes)
		if *nodes != "" && err != nil {
			return command.Usage(err)
		}
		cluster, err := clusters.One()
		if err != nil {
			return err
		}
		j, err := cluster.Journal()
		if err != nil {
			return err
		}
		defer j.Close()
		g, err := FromSlurm(jobs, j.Entries(0))
		if err != nil {
			return err
		}
		g.Title, g.Note = *title, "What Slurm's accounting says was held, and what the sidecar's journal says was promised. Point at a job to see its steps."
		if *nodes != "" {
			g.Nodes = rows
		}
		if err := g.Save(*out); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\nThe Gantt chart is in %s.\n", Summary(g), *out)
		return err
	}
	return c
}

func readAccounting(in io.Reader, args []string) ([]sacct.Job, error) {
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	return sacct.Read(in, time.Now().Unix())
}
