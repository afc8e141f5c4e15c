package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/adapter"
	"accordion/adapter/audit"
	"accordion/adapter/journal"
	"accordion/cmd/accordion/command"
	"accordion/core"
)

// Audit returns the command "accordion audit".
func Audit() *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Check that journal, batch system and accounting agree",
		Long: `Check the sidecar's journal, the batch system and its accounting (sacct, or OAR's tables) against each other:

  no node was in two jobs
  promises were kept, or the journal has the cause
  nothing is left of ended jobs: reservations, companions, expanders, marks, records, hosts files
  accounting and journal agree about the nodes that were held, within 1 % or 2 s per change
  every action has an intent before it, and none came after the lease was lost

Each finding is one line: its kind, the job, the node, the time, what is wrong, and what to do. docs/audit.md has a table of the kinds.
Without findings, one line shows what was checked. Run it as root on the sidecar's host. It changes nothing, and the sidecar may run
at the same time.

Exit status: 0 clean, 1 findings or a failure, 2 a wrong command line.`,
		Example: `  accordion audit
  accordion audit --since 7d --watch 1m`,
		Args: command.NoArguments,
	}
	clusters := command.ClustersFlag(c)
	since := c.Flags().String("since", "1d", "how far back to check: a duration (2h, 7d), or a local time (2026-01-31, 2026-01-31T12:00)")
	watch := c.Flags().String("watch", "0s", "first watch for this long, once a second, which job holds which node")
	settle := c.Flags().String("settle", "30s", "how long to wait for what may disappear by itself, such as a reservation that is being deleted")
	asJSON := c.Flags().Bool("json", false, "print JSON for programs: one object per cluster, one per line")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		from, err := instant(*since, time.Now())
		if err != nil {
			return command.Usage(fmt.Errorf("audit: --since: %w", err))
		}
		spans := map[string]time.Duration{}
		for flag, text := range map[string]string{"watch": *watch, "settle": *settle} {
			d, ok := core.ParseDuration(text)
			if !ok {
				return command.Usage(fmt.Errorf("audit: --%s %s is not a duration: write %s", flag, core.Shown(text), core.DurationForms))
			}
			spans[flag] = time.Duration(d) * time.Second
		}
		all, err := clusters.Chosen()
		if err != nil {
			return err
		}
		return command.Each(cmd, all, func(one command.Cluster) error {
			report, why, err := auditOne(cmd.Context(), one, from, spans["watch"], spans["settle"])
			if err != nil {
				return err
			}
			if err := writeAudit(cmd.OutOrStdout(), one.Name, from, report, why, *asJSON); err != nil {
				return err
			}
			if len(report.Findings) > 0 {
				return command.ExitError{Status: 1}
			}
			return nil
		})
	}
	return c
}

// instant parses a time: either a duration before `now`, such as 1h, or a local time.
func instant(text string, now time.Time) (core.Time, error) {
	if d, ok := core.ParseDuration(text); ok && d > 0 {
		return now.Unix() - d, nil
	}
	for _, form := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", time.DateTime, time.RFC3339} {
		if at, err := time.ParseInLocation(form, text, time.Local); err == nil && at.Unix() >= 0 {
			if at.After(now) {
				return 0, fmt.Errorf("%s is in the future", text)
			}
			return at.Unix(), nil
		}
	}
	return 0, fmt.Errorf("%s is neither a duration nor a time: write 2h, 7d, 2026-01-31 or 2026-01-31T12:00", core.Shown(text))
}

// auditOne audits one cluster.
func auditOne(ctx context.Context, one command.Cluster, from core.Time, watch, settle time.Duration) (audit.Report, string, error) {
	none := audit.Report{}
	j, err := journal.OpenReadOnly(one.Config.Journal.Path)
	if err != nil {
		return none, "", err
	}
	defer j.Close()
	c, err := Connect(ctx, one.Config, hclog.NewNullLogger())
	if err != nil {
		return none, "", err
	}
	defer c.Close()
	system, ok := c.System.(adapter.Auditor)
	if !ok {
		return none, "", errors.New("audit: this batch system has no accounting that other programs can read")
	}
	return audit.Audit(ctx, audit.Source{Journal: j, System: system, Lease: c.stopped, Clock: ClockOf(one.Config), Watch: watch, Settle: settle,
		Prompt: audit.DefaultPrompt + one.Config.Plan.Interval.Seconds() - 1}, from)
}

// audited is the report that --json prints.
type audited struct {
	Cluster     string          `json:"cluster,omitempty"`
	Since       core.Time       `json:"since"`
	Jobs        int             `json:"jobs"`
	Managed     int             `json:"managed"`
	Actions     int             `json:"actions"`
	Seconds     core.Time       `json:"seconds"`
	NodeSeconds core.Time       `json:"node_seconds"`
	Unjudged    int             `json:"unjudged"`
	Unread      int             `json:"unread"`
	WhyUnread   string          `json:"why_unread,omitempty"`
	Findings    []audit.Finding `json:"findings"`
}

// writeAudit writes one line for each finding. If there is none, it writes a line about what was checked.
func writeAudit(w io.Writer, cluster string, from core.Time, r audit.Report, why string, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(audited{Cluster: cluster, Since: from, Jobs: r.Jobs, Managed: r.Managed, Actions: r.Actions, Seconds: r.Seconds,
			NodeSeconds: r.NodeSeconds, Unjudged: r.Unjudged, Unread: r.Unread, WhyUnread: why, Findings: append([]audit.Finding{}, r.Findings...)})
	}
	var b strings.Builder
	before := ""
	if cluster != "" {
		before = cluster + " "
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s%s\n", before, f.Line(time.Local))
	}
	if len(r.Findings) == 0 {
		fmt.Fprintf(&b, "%s%s\n", before, r.Summary())
	}
	if r.Unread > 0 {
		rows := "rows"
		if r.Unread == 1 {
			rows = "row"
		}
		fmt.Fprintf(&b, "%snot read: %d %s; the first: %s\n", before, r.Unread, rows, core.Printable(why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}
