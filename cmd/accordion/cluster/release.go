package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"accordion/adapter"
	"accordion/adapter/config"
	"accordion/adapter/release"
	"accordion/cmd/accordion/command"
)

// ReleaseAll returns the command "accordion release-all".
func ReleaseAll() *cobra.Command {
	c := &cobra.Command{
		Use:   "release-all",
		Short: "Delete what a dead sidecar has left in the batch system",
		Long: `If no sidecar runs, delete the reservations that the last one left, for waiting jobs and for ended jobs. A reservation for a later step
of a running job stays until two minutes after that step was to begin, or until the job ends. So the job gets its promised nodes if a
sidecar comes back in time.

If the sidecar manages the whole partition ([slurm] manage = "all"), rigid jobs also wait for it. This command returns them to Slurm
as ordinary jobs, with the priority that the site gives them.

Nothing is done while a sidecar holds the lease in the batch system. A sidecar that comes back reserves again, and again manages the
jobs that still wait.

Run it every 30 seconds with --after-lease on the batch system's host, as root. The package's timer accordion-release.timer does so, and
starts with accordion.service. A cluster is then an ordinary one within two minutes after its sidecar died: up to one minute for the
lease ([lease] length), and the rest for the timer.`,
		Example: `  accordion release-all
  accordion release-all --after-lease`,
		Args: command.NoArguments,
	}
	clusters := command.ClustersFlag(c)
	force := c.Flags().Bool("force", false, "return the jobs to Slurm even if a sidecar may still run; use it when you remove Accordion from a partition")
	after := c.Flags().Bool("after-lease", false, "after a normal shutdown, keep the reservations for the length of a lease, so that a restarted sidecar finds them")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		all, err := clusters.Chosen()
		if err != nil {
			return err
		}
		var failed []error
		for _, one := range all {
			text, err := releaseAll(cmd.Context(), one, *force, *after, releaseTakes)
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

// releaseAll releases the reservations of one cluster, with `within` as its time limit, and describes what it did.
func releaseAll(ctx context.Context, one command.Cluster, force, after bool, within time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	c, err := Connect(ctx, one.Config, hclog.NewNullLogger())
	if err != nil {
		return "", err
	}
	defer c.Close()
	where := ""
	if one.Name != "" {
		where = "cluster " + one.Name + ": "
	}
	if c.stopped == nil {
		return where + "this batch system keeps nothing for a sidecar", nil
	}
	text, err := c.release(ctx, force, after)
	if err != nil {
		return "", fmt.Errorf("%s%w", where, err)
	}
	return where + text, nil
}

// release deletes the reservations on the cluster if no sidecar runs.
func (c *Cluster) release(ctx context.Context, force, after bool) (string, error) {
	holder, lives, err := c.lives(ctx)
	if err != nil {
		return "", err
	}
	since := "no sidecar has the lease"
	switch {
	case lives && !force:
		return fmt.Sprintf("%v lives: nothing is given back", holder), nil
	case lives:
		since = fmt.Sprintf("%v may live, and --force was said", holder)
	case holder != nil:
		since = fmt.Sprintf("the lease of %v is over since %s", holder, adapter.Instant(holder.Until).Format(time.DateTime))
	}
	var did []string
	var failed []error
	if c.handBack != nil {
		n, err := c.handBack(ctx)
		did, failed = append(did, fmt.Sprintf("%d jobs are given back to the batch system", n)), append(failed, err)
	}
	words, err := c.deleteReservations(ctx, lives, after)
	did, failed = append(did, words), append(failed, err)
	return fmt.Sprintf("%s: %s", strings.Join(did, ", "), since), errors.Join(failed...)
}

// lives returns the last holder of the lease, if any, and reports whether the lease is still valid. It reads the batch system's clock
// before the lease, so that a renewal between the two reads counts.
func (c *Cluster) lives(ctx context.Context) (*adapter.Holder, bool, error) {
	now, err1 := c.stopped.Now(ctx)
	holder, err2 := c.stopped.Holder(ctx)
	if err := errors.Join(err1, err2); err != nil {
		return nil, false, fmt.Errorf("check whether a sidecar runs: %w", err)
	}
	return holder, holder != nil && now < holder.Until, nil
}

// deleteReservations deletes the reservations that protect no promise, and describes what it did. A running sidecar
// needs its own reservations.
func (c *Cluster) deleteReservations(ctx context.Context, lives, after bool) (string, error) {
	if lives {
		return "no reservation is deleted", nil
	}
	now, err := c.stopped.Now(ctx)
	if err != nil {
		return "", err
	}
	if after {
		until, err := c.stopped.KeptUntil(ctx)
		if err != nil {
			return "", err
		}
		if now < until {
			return fmt.Sprintf("reservations stay until %s for a sidecar that is started again", adapter.Instant(until).Format(time.TimeOnly)), nil
		}
	}
	deleted, err := release.All(ctx, c.stopped, release.Options{Now: now, Dead: func(ctx context.Context) (bool, error) {
		_, lives, err := c.lives(ctx)
		return !lives, err
	}})
	return deletedWords(deleted), err
}

func deletedWords(deleted []string) string {
	words := fmt.Sprintf("%d reservations are deleted", len(deleted))
	if len(deleted) > 0 {
		words += " (" + strings.Join(deleted, " ") + ")"
	}
	return words
}

// Forsake deletes all reservations in a Slurm cluster from which the sidecar is removed. It returns one line of text
// for each action. It returns an error if a sidecar runs.
func Forsake(ctx context.Context, conf config.Config) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, releaseTakes)
	defer cancel()
	c, err := Connect(ctx, conf, hclog.NewNullLogger())
	if err != nil {
		return nil, err
	}
	defer c.Close()
	holder, lives, err := c.lives(ctx)
	if err != nil {
		return nil, err
	}
	lock, err := OnlyOne(ctx, c, "setup slurm --remove")
	if err != nil {
		return nil, err
	}
	defer lock.Release()
	if lives && !c.leaseIsOurs(holder, conf.Journal.Path) {
		return nil, fmt.Errorf("%v lives, or died a moment ago: systemctl disable --now accordion.service there, or wait until %s, and this again",
			holder, adapter.Instant(holder.Until).Format(time.TimeOnly))
	}
	n, err1 := c.handBack(ctx)
	deleted, err2 := release.All(ctx, c.stopped, release.Options{Removed: true}) // called even if the previous call failed
	more, used, err3 := c.dismantle(ctx)
	var did []string
	if n > 0 {
		did = append(did, fmt.Sprintf("%d jobs that waited for the sidecar are given back to Slurm", n))
	}
	for _, name := range append(deleted, more...) {
		did = append(did, "removed reservation "+name)
	}
	for _, name := range used {
		did = append(did, fmt.Sprintf("left    reservation %s, in which jobs wait (squeue -t PD -O jobid,username,reservation): cancel them, or scontrol update JobId= ReservationName=; then scontrol delete ReservationName=%[1]s", name))
	}
	return did, errors.Join(err1, err2, err3)
}

// leaseIsOurs reports whether the lease belongs to a sidecar on this host with this journal. If no sidecar holds this
// host's lock (OnlyOne), that sidecar has ended, even if its lease is still valid. It was killed, or could not release
// the lease when it stopped.
func (c *Cluster) leaseIsOurs(holder *adapter.Holder, journal string) bool {
	ours, err := c.LeaseFor(journal, time.Second)
	return err == nil && ours.Leaser != nil && holder.ID == ours.Claim.ID
}

// releaseTakes limits the time of a release. Each job takes some milliseconds, and there may be thousands of jobs.
const releaseTakes = 100 * time.Second
