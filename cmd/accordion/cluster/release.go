package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/adapter"
	"accordion/cmd/accordion/command"
)

// ReleaseAll is "accordion release-all".
func ReleaseAll() *cobra.Command {
	c := &cobra.Command{
		Use:   "release-all",
		Short: "Give jobs that wait for a sidecar which is dead back to Slurm",
		Long: `Where the sidecar has the whole partition ([slurm] manage = "all"), rigid jobs wait until it lets them in. This gives all of
them back to Slurm, where no sidecar lives: as what they are, with the rank that the site gives them. While one lives, by its lease
in the batch system, nothing is done. A sidecar that comes back takes those again that still wait.

Run it every 30 seconds on slurmctld's machine, as root: examples/systemd has a timer. So the queue goes on within two minutes
after a sidecar died: its lease ([lease] length, 1m unless the configuration says otherwise) and the timer.

--force does not look at the lease: for a partition that is to be Slurm's again.`,
		Args: command.NoArguments,
	}
	clusters := command.ClustersFlag(c)
	force := c.Flags().Bool("force", false, "give the jobs back though a sidecar may live")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		all, err := clusters.Chosen()
		if err != nil {
			return err
		}
		var failed []error
		for _, one := range all {
			text, err := releaseAll(cmd.Context(), one, *force)
			if err != nil {
				failed = append(failed, err)
			} else if _, err := fmt.Fprintln(cmd.OutOrStdout(), text); err != nil {
				return err
			}
		}
		return errors.Join(failed...)
	}
	return c
}

// releaseAll gives the jobs of one cluster back, and says what it did.
func releaseAll(ctx context.Context, one command.Cluster, force bool) (string, error) {
	c, err := connect(ctx, one.Config, hclog.NewNullLogger())
	if err != nil {
		return "", err
	}
	defer c.close()
	where := ""
	if one.Name != "" {
		where = "cluster " + one.Name + ": "
	}
	if c.handBack == nil {
		return where + "this batch system keeps no jobs for a sidecar", nil
	}
	ctx, cancel := context.WithTimeout(ctx, releaseTakes)
	defer cancel()
	holder, err := c.holder(ctx)
	if err != nil {
		return "", fmt.Errorf("%swhether a sidecar lives is not known: %w", where, err)
	}
	since := "no sidecar has the lease"
	if holder != nil {
		until := adapter.Instant(holder.Until)
		if !force && time.Now().Before(until) {
			return fmt.Sprintf("%s%v lives: nothing is given back", where, holder), nil
		}
		since = fmt.Sprintf("the lease of %v is over since %s", holder, until.Format(time.DateTime))
		if time.Now().Before(until) {
			since = fmt.Sprintf("%v may live, and --force was said", holder)
		}
	}
	n, err := c.handBack(ctx)
	if err != nil {
		return "", fmt.Errorf("%s%w", where, err)
	}
	return fmt.Sprintf("%s%d jobs are given back to the batch system: %s", where, n, since), nil
}

// releaseTakes bounds it: thousands of jobs take some milliseconds each.
const releaseTakes = 100 * time.Second
