package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/cmd/accordion/command"
)

// text writes a report for people.
type text func(w io.Writer, now time.Time, zone *time.Location) error

// reader reads the report of one cluster.
type reader func(j journal.Reader, c command.Cluster, args []string) (any, text, error)

// showing is a running command that shows a report of each cluster's journal.
type showing struct {
	out     io.Writer
	asJSON  bool
	read    reader
	args    []string
	shown   int
	unknown []error // errors of clusters that do not know the job
}

// beside shows applications, which belong to no single cluster, together with the reports of the clusters.
type beside struct {
	instead func(s *showing, all []command.Cluster) (shown bool, err error) // shows a report instead of the clusters' reports; nil if there is none
	after   func(s *showing, all []command.Cluster) error                   // shows a report after the clusters' reports; nil if there is none
}

// shows completes a command that shows a report of each cluster's journal, as text or JSON.
func shows(c *cobra.Command, read reader, other beside, words offered) *cobra.Command {
	c.Long += `

If the configuration lists several clusters, all are shown one after the other. --cluster selects one.`
	clusters := command.ClustersFlag(c)
	c.ValidArgsFunction = cobra.NoFileCompletions
	if words.arguments != nil {
		c.ValidArgsFunction = words.arguments(clusters)
	}
	for flag, offer := range words.flags {
		offers(c, flag, offer(clusters))
	}
	asJSON := c.Flags().Bool("json", false, "print JSON for programs: one object per cluster, one per line")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := clusters.Chosen()
		if err != nil {
			return err
		}
		s := &showing{out: cmd.OutOrStdout(), asJSON: *asJSON, read: read, args: args}
		if other.instead != nil {
			if shown, err := other.instead(s, all); shown || err != nil {
				return err
			}
		}
		err = command.Each(cmd, all, s.show)
		if other.after != nil {
			if last := other.after(s, all); err == nil {
				err = last
			} else if last != nil {
				fmt.Fprintln(cmd.ErrOrStderr(), "accordion:", last)
			}
		}
		if err != nil || s.shown > 0 {
			return err
		}
		return errors.Join(s.unknown...)
	}
	return c
}

// show shows the report of one cluster. If a cluster does not know the job, that is an error only if no other cluster knows it.
func (s *showing) show(c command.Cluster) error {
	j, err := c.Journal()
	if err != nil {
		return err
	}
	defer j.Close()
	report, text, err := s.read(j, c, s.args)
	if unknown := (*status.UnknownJob)(nil); errors.As(err, &unknown) {
		s.unknown = append(s.unknown, err)
		return nil
	}
	if err != nil {
		return err
	}
	return s.print(report, text)
}

// print writes one report as text or JSON.
func (s *showing) print(report any, text text) error {
	s.shown++
	if s.asJSON {
		return json.NewEncoder(s.out).Encode(report)
	}
	if s.shown > 1 {
		if _, err := io.WriteString(s.out, "\n"); err != nil {
			return err
		}
	}
	return text(s.out, time.Now(), time.Local)
}
