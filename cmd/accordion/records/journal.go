package records

import (
	"bufio"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/journal"
	"accordion/cmd/accordion/command"
)

// Journal is "accordion journal".
func Journal() *cobra.Command {
	c := &cobra.Command{
		Use:   "journal",
		Short: "Show what the sidecar did and what happened: every intent, outcome and event, in order",
		Long: `Show every intent of the sidecar with its outcome, and every event of a managed job, in order.

With --json each line is one object: id, at (RFC 3339, UTC), kind (intent or event), job, submitted (Unix seconds; names
the job together with its number), verb, args, text, and for an intent that is over outcome and took_ms.

With --follow new entries are shown as they come; an intent that was shown without its outcome is shown once more when it
has one.`,
		Args: command.NoArguments,
	}
	file := command.ConfigFlag(c)
	asJSON := c.Flags().Bool("json", false, "print one JSON object a line, for programs")
	job := c.Flags().Int64("job", 0, "only this job's entries")
	since := c.Flags().Int64("since", 0, "only entries with an id above this one")
	follow := c.Flags().Bool("follow", false, "go on with new entries as they come, until interrupted")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if *job < 0 || *since < 0 {
			return command.Usage(fmt.Errorf("journal: --job and --since take numbers from 1"))
		}
		j, err := file.Journal()
		if err != nil {
			return err
		}
		defer j.Close()
		var entries iter.Seq2[journal.Entry, error]
		switch {
		case *follow:
			entries = j.Follow(cmd.Context(), *since, *job, 200*time.Millisecond)
		case *job != 0:
			entries = j.JobEntries(*job, *since)
		default:
			entries = j.Entries(*since)
		}
		return writeEntries(cmd, entries, *asJSON, *follow)
	}
	return c
}

// writeEntries writes one line an entry; at once, when somebody follows.
func writeEntries(cmd *cobra.Command, entries iter.Seq2[journal.Entry, error], asJSON, atOnce bool) error {
	w := bufio.NewWriter(cmd.OutOrStdout())
	for e, err := range entries {
		if err != nil {
			w.Flush()
			return err
		}
		if asJSON {
			err = json.NewEncoder(w).Encode(e)
		} else {
			_, err = fmt.Fprintln(w, e.Line(time.Local))
		}
		if err == nil && atOnce {
			err = w.Flush()
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
