package status

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/journal"
	"accordion/cmd/accordion/command"
	"accordion/core"
)

// Journal returns the command "accordion journal".
func Journal() *cobra.Command {
	c := &cobra.Command{
		Use:   "journal",
		Short: "Show every action of the sidecar and every event, in order",
		Long: `Show every intent of the sidecar with its outcome, and every event of a managed job, in order.

With --json each line is one object with id, at (RFC 3339, UTC), kind (intent or event), job, submitted, verb, args and text. A
finished intent also has outcome and took_ms. The job number and submitted (Unix seconds) together identify a job.

With --follow new entries are shown as they come. An intent is shown again when its outcome is known.

If the configuration lists several clusters, the entries of all clusters are shown in the order of their times, with the cluster's
name (with --json as the key cluster). --cluster selects one. Each cluster's journal numbers its own entries.`,
		Args: command.NoArguments,
	}
	clusters := command.ClustersFlag(c)
	asJSON := c.Flags().Bool("json", false, "print JSON for programs: one object per line")
	var pick selection
	c.Flags().Int64Var(&pick.job, "job", 0, "only this job's entries")
	offers(c, "job", offerJobs(clusters))
	since := c.Flags().String("since", "", "only entries since this long ago, such as 1h or 7d; or with an id above this number, such as 4711")
	c.Flags().BoolVar(&pick.follow, "follow", false, "also show new entries as they come, until interrupted")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if pick.job < 0 {
			return command.Usage(errors.New("journal: --job takes a job's number, such as 4711"))
		}
		if err := pick.begin(*since, time.Now()); err != nil {
			return command.Usage(fmt.Errorf("journal: --since: %w", err))
		}
		all, err := clusters.Chosen()
		if err != nil {
			return err
		}
		if len(all) > 1 && pick.since != 0 {
			return command.Usage(errors.New("journal: --since takes an id of one cluster's journal: say with --cluster whose, or give a duration, such as 1h"))
		}
		return showJournals(cmd, all, pick, format{json: *asJSON, column: len(all) > 1, atOnce: pick.follow})
	}
	return c
}

// begin sets the first entry, from an ID or from a duration before now.
func (s *selection) begin(since string, now time.Time) error {
	if since == "" {
		return nil
	}
	if id, err := strconv.ParseInt(since, 10, 64); err == nil && id >= 0 {
		s.since = id
		return nil
	}
	ago, ok := command.Duration(since)
	if !ok {
		return fmt.Errorf("%s is neither how long ago, such as 1h or 7d, nor an entry's id, such as 4711", core.Shown(since))
	}
	s.from = now.Add(-time.Duration(ago) * time.Second)
	return nil
}

// showJournals shows the selected entries of the clusters' journals. It first reports the journals that cannot be
// read.
func showJournals(cmd *cobra.Command, all []command.Cluster, pick selection, f format) error {
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	var journals []journal.Reader
	defer func() {
		for _, j := range journals {
			j.Close()
		}
	}()
	var logs []log
	unread := command.Each(cmd, all, func(c command.Cluster) error {
		j, err := c.Journal()
		if err != nil {
			return err
		}
		journals, logs = append(journals, j), append(logs, named(c.Name, pick.of(ctx, j)))
		return nil
	})
	if len(logs) == 0 {
		return unread
	}
	merged := inOrder(logs)
	if pick.follow {
		merged = asTheyCome(ctx, stop, logs)
	}
	if err := f.write(cmd.OutOrStdout(), merged); err != nil {
		return err
	}
	return unread
}

// format is how entries are written.
type format struct {
	json   bool
	column bool // begin lines with the cluster's name
	atOnce bool // write each entry immediately
}

// write writes one line for each entry.
func (f format) write(to io.Writer, entries log) error {
	w := bufio.NewWriter(to)
	for e, err := range entries {
		if err != nil {
			w.Flush()
			return err
		}
		if f.json {
			err = json.NewEncoder(w).Encode(e)
		} else if f.column {
			_, err = fmt.Fprintln(w, e.Cluster, e.Line(time.Local))
		} else {
			_, err = fmt.Fprintln(w, e.Line(time.Local))
		}
		if err == nil && f.atOnce {
			err = w.Flush()
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
