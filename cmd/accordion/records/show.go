package records

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"accordion/adapter/journal"
	"accordion/adapter/status"
	"accordion/cmd/accordion/command"
)

// text writes what was read, for people.
type text func(w io.Writer, now time.Time, zone *time.Location) error

// reader reads what is shown of one cluster; name is what the list calls it, "" where there is none.
type reader func(j *journal.Journal, name string, args []string) (any, text, error)

// showing is a command that shows what it reads of each cluster's journal.
type showing struct {
	out     io.Writer
	asJSON  bool
	read    reader
	args    []string
	shown   int
	unknown []error // clusters that do not know the job
}

// shows completes a command that shows what it reads of each cluster's journal, for people or for programs.
func shows(c *cobra.Command, read reader) *cobra.Command {
	c.Long += `

Where the configuration lists several clusters they come one after the other; --cluster shows one of them.`
	clusters := command.ClustersFlag(c)
	asJSON := c.Flags().Bool("json", false, "print one JSON object a cluster, a line each, for programs")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		all, err := clusters.Chosen()
		if err != nil {
			return err
		}
		s := &showing{out: cmd.OutOrStdout(), asJSON: *asJSON, read: read, args: args}
		if err := command.Each(cmd, all, s.show); err != nil || s.shown > 0 {
			return err
		}
		return errors.Join(s.unknown...)
	}
	return c
}

// show shows one cluster. That it does not know the job is no mistake as long as another one does.
func (s *showing) show(c command.Cluster) error {
	j, err := c.Journal()
	if err != nil {
		return err
	}
	defer j.Close()
	report, text, err := s.read(j, c.Name, s.args)
	if unknown := (*status.UnknownJob)(nil); errors.As(err, &unknown) {
		s.unknown = append(s.unknown, err)
		return nil
	}
	if err != nil {
		return err
	}
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
