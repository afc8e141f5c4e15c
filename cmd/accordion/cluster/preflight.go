package cluster

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/adapter"
	"accordion/cmd/accordion/command"
	"accordion/core/policy"
)

// Preflight returns the command "accordion preflight".
func Preflight() *cobra.Command {
	c := &cobra.Command{
		Use:   "preflight",
		Short: "Check whether this cluster is ready for the sidecar, and show what to change",
		Long: `Check everything in the cluster that the sidecar depends on, and show what is wrong and how to correct it. Nothing is
changed. Lines begin with fail (the sidecar would not start: exit status 1), warn, note or ok.

With --try, it submits test jobs, one for each way in which jobs can grow here. Each job starts, grows, runs a bound step on each
node, and shrinks. This takes at most two minutes on two idle nodes. Run it as root, while no sidecar serves the cluster.

If the configuration lists several clusters, it checks all of them, each under a line with its name (with --json as the key cluster).
--cluster selects one; --try needs it.`,
		Args: command.NoArguments,
	}
	clusters := command.ClustersFlag(c)
	asJSON := c.Flags().Bool("json", false, "print JSON for programs: one object per finding")
	try := c.Flags().Bool("try", false, "run test jobs that start, grow and shrink, and show what this cluster can do (Slurm)")
	as := c.Flags().String("as", os.Getenv("SUDO_USER"), "the user who submits the test jobs of --try")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if *try {
			one, err := clusters.One()
			if err != nil {
				return err
			}
			return preflightRun{cmd, *asJSON}.cluster(one, func(c *Cluster) error { return c.tryOut(cmd, one.Config, *as, *asJSON) })
		}
		all, err := clusters.Chosen()
		if err != nil {
			return err
		}
		return command.Each(cmd, all, func(one command.Cluster) error { return preflightRun{cmd, *asJSON}.cluster(one, nil) })
	}
	return c
}

// preflightRun checks clusters for preflight.
type preflightRun struct {
	cmd    *cobra.Command
	asJSON bool
}

// cluster checks one cluster and prints the findings. If `try` is not nil and nothing failed, it calls `try`.
func (l preflightRun) cluster(one command.Cluster, try func(*Cluster) error) error {
	conf, out := one.Config, l.cmd.OutOrStdout()
	if one.Name != "" && !l.asJSON {
		if _, err := fmt.Fprintf(out, "cluster %s\n", one.Name); err != nil {
			return err
		}
	}
	system, err := Connect(l.cmd.Context(), conf, hclog.NewNullLogger())
	if err != nil {
		return err
	}
	defer system.Close()
	planner, err := system.Planner(conf.Plan)
	if err != nil {
		return err
	}
	found := system.Preflight(l.cmd.Context())
	if err := l.write(one.Name, found); err != nil {
		return err
	}
	switch {
	case adapter.Failures(found) > 0:
		return command.ExitError{Status: 1} // the printed findings contain the reasons
	case try != nil:
		return try(system)
	case l.asJSON:
		return nil
	}
	_, err = fmt.Fprintf(out, "ok    fit for the sidecar: %s; sizes of moldable jobs: %s\n", system.Pool, policy.SizesOf(planner))
	return err
}

// words are the names of the severities in the output.
var words = map[adapter.Severity]string{adapter.Fatal: "fail", adapter.Unanswered: "fail", adapter.Warning: "warn", adapter.Note: "note"}

// write prints each finding on one or two lines.
func (l preflightRun) write(cluster string, found []adapter.Finding) error {
	for _, f := range found {
		var err error
		if l.asJSON {
			line := map[string]string{"severity": words[f.Severity], "what": f.What, "fix": f.Fix}
			if cluster != "" {
				line["cluster"] = cluster
			}
			err = json.NewEncoder(l.cmd.OutOrStdout()).Encode(line)
		} else if _, err = fmt.Fprintf(l.cmd.OutOrStdout(), "%s  %s\n", words[f.Severity], f.What); err == nil && f.Fix != "" {
			_, err = fmt.Fprintf(l.cmd.OutOrStdout(), "      do: %s\n", f.Fix)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
