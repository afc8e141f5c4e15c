package status

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/adapter"
	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/cmd/accordion/cluster"
	"accordion/cmd/accordion/command"
	"accordion/cmd/accordion/live"
)

// Watch returns the command "accordion watch".
func Watch() *cobra.Command {
	c := &cobra.Command{
		Use:   "watch",
		Short: "Watch the nodes and the queue, live",
		Long: `Draw which job holds which node, which jobs run and which wait, every second. If the output is not a terminal, print one line per
change. It only reads the batch system and the sidecar's journal.

If the configuration lists several clusters, they are drawn one below the other, or each line begins with the cluster's name.
--cluster selects one. If a cluster does not answer, a message says so, and the other clusters are not affected.`,
		Args: command.NoArguments,
	}
	clusters := command.ClustersFlag(c)
	every := c.Flags().Duration("every", time.Second, "how often the batch system is read")
	column := c.Flags().Duration("column", 10*time.Second, "time that one column of the picture covers")
	untilIdle := c.Flags().Bool("until-idle", false, "exit when no job is left")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if *every < 100*time.Millisecond || *column < time.Second {
			return command.Usage(fmt.Errorf("watch: --every takes 100ms or more, --column 1s or more"))
		}
		all, err := clusters.Chosen()
		if err != nil {
			return err
		}
		if len(all) > 1 {
			return watchAll(cmd.Context(), all, cmd.OutOrStdout(), *column, *every, *untilIdle)
		}
		c, err := cluster.Connect(cmd.Context(), all[0].Config, hclog.NewNullLogger())
		if err != nil {
			return err
		}
		defer c.Close()
		j, err := all[0].Journal()
		if err != nil {
			return err
		}
		defer j.Close()
		screen := live.New(cmd.OutOrStdout(), live.Options{Title: c.Pool, Begin: time.Now(), Column: *column})
		defer screen.Close()
		return watch(cmd.Context(), screen, c.System, j, *every, *untilIdle)
	}
	return c
}

// watch shows the batch system until ctx ends, which is not an error, or until no job is left.
func watch(ctx context.Context, screen *live.Screen, system adapter.BatchSystem, j journal.Reader, every time.Duration, untilIdle bool) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		snapshot, err := system.Observe(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		report, err := status.Read(j)
		if err != nil {
			return err
		}
		if err := screen.Show(snapshot, report.Status); err != nil {
			return err
		}
		if untilIdle && idle(snapshot) {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// idle reports whether no job is left.
func idle(s *adapter.Snapshot) bool {
	return !slices.ContainsFunc(s.Jobs, func(j adapter.Job) bool { return j.State != adapter.Done })
}
