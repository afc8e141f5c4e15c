package chart

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"accordion/cmd/accordion/command"
	"accordion/core/hostlist"
	"accordion/slurm/sacct"
	"accordion/traces/gantt"
)

// Command returns "accordion gantt".
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "gantt [ACCOUNTING]",
		Short: "Draw Slurm's accounting, with the sidecar's promises, as one HTML page",
		Long: `Draw one HTML page that shows which job held which node at which time. It reads the sidecar's journal, and Slurm's
accounting from a file or standard input. The accounting is the output of

  SLURM_TIME_FORMAT=%s sacct --allusers --duplicates --allocations --parsable2 --noheader \
    --format=` + sacct.Format + ` --starttime=…

It may be compressed by gzip, bzip2 or zstd, and may have a header line. Unreadable lines are skipped, and counted on standard error.
If the accounting has several clusters (a column Cluster), the jobs of --cluster are drawn.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return command.Usage(fmt.Errorf("gantt takes one file with accounting, or none for standard input, not %q", args))
			}
			return nil
		},
	}
	clusters := command.ClustersFlag(c)
	out := c.Flags().StringP("out", "o", "accordion-gantt.html", "the page to write")
	command.Output(c, "out", command.AFile)
	title := c.Flags().String("title", "Accordion on Slurm", "title of the page")
	nodes := c.Flags().String("nodes", "", "the nodes to draw, as a host list: n[1-16] (default: all nodes that a job held)")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		jobs, unread, err := readAccounting(cmd.InOrStdin(), args)
		if err != nil {
			return command.Usage(err)
		}
		command.Warn(cmd, unread.Warnings())
		rows, err := hostlist.Expand(*nodes)
		if *nodes != "" && err != nil {
			return command.Usage(err)
		}
		cluster, err := clusters.One()
		if err != nil {
			return err
		}
		if len(jobs) == 0 && len(args) == 0 {
			return command.Usage(errNoJobs)
		}
		if jobs, err = ofCluster(cmd, jobs, cluster); err != nil {
			return command.Usage(err)
		}
		j, err := cluster.Journal()
		if err != nil {
			return err
		}
		defer j.Close()
		g, err := fromSlurm(jobs, j.Entries(0))
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			return command.Usage(errNoJobs)
		}
		g.Title, g.Note = *title, "What Slurm's accounting says was held, and what the sidecar's journal says was promised. Point at a job to see its steps."
		if *nodes != "" {
			g.Nodes = rows
		}
		if err := g.Save(*out); err != nil {
			return err
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\nThe Gantt chart is in %s.\n", gantt.Summary(g), *out)
		return err
	}
	return c
}

var errNoJobs = errors.New("gantt: the accounting has no jobs; pipe sacct into it, or name a file, as accordion gantt --help shows")

// readAccounting reads the file of the command line, or standard input.
func readAccounting(in io.Reader, args []string) ([]sacct.Job, sacct.Unread, error) {
	name := "standard input"
	if f, ok := in.(*os.File); ok && len(args) == 0 && term.IsTerminal(int(f.Fd())) { // reading a terminal would wait for input without a prompt
		return nil, sacct.Unread{}, errors.New("gantt: give a file of Slurm's accounting, or pipe sacct into it, as accordion gantt --help shows")
	}
	if len(args) == 1 && args[0] != "-" {
		name = args[0]
		f, err := os.Open(name)
		if err != nil {
			return nil, sacct.Unread{}, err
		}
		defer f.Close()
		in = f
	}
	return sacct.ReadHolds(in, name, time.Local, time.Now().Unix())
}

// ofCluster returns the jobs of one cluster, and warns about the other clusters' jobs. Nodes of two clusters may have
// the same name, so one chart cannot show both. If the accounting has only one cluster, it returns all jobs, whatever
// that cluster's name is.
func ofCluster(cmd *cobra.Command, jobs []sacct.Job, c command.Cluster) ([]sacct.Job, error) {
	count := map[string]int{}
	for _, j := range jobs {
		count[j.Cluster]++
	}
	if len(count) < 2 {
		return jobs, nil
	}
	names := slices.Sorted(maps.Keys(count))
	name := c.BatchName()
	if count[name] == 0 {
		return nil, fmt.Errorf("gantt: read the accounting: it is of the clusters %s, and the configuration is of %q; print one of them by sacct --clusters=NAME",
			strings.Join(names, ", "), name)
	}
	command.Warn(cmd, []string{fmt.Sprintf("the accounting is of the clusters %s; %d jobs of others than %s are left out", strings.Join(names, ", "), len(jobs)-count[name], name)})
	return slices.DeleteFunc(jobs, func(j sacct.Job) bool { return j.Cluster != name }), nil
}
