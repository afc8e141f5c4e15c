package resize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/adapter"
	"accordion/core/hostlist"
	"accordion/slurm/client"
	"accordion/slurm/cluster"
	"accordion/slurm/growth"
	"accordion/slurm/output"
)

// externStep is the number of the step in which Slurm keeps what pam_slurm_adopt and X11 bring to a job's nodes
// (PrologFlags=Contain). All releases know this number; not all know the name.
const externStep = 4294967292

// PollInterval is the pause between two checks of what Slurm does within moments and does not report.
const PollInterval = 20 * time.Millisecond

// merge moves one expander into its parent, in a second of its own. Slurm refuses the merge while the expander has a
// step, such as the one that Slurm itself starts on each node (PrologFlags=Contain). merge ends that step first,
// which is possible only after the node's prolog. It waits while the expander's nodes boot: after a merge they would
// never be woken. Steps of expanders that are merged next are ended in the same call.
func (s *Resizer) merge(ctx context.Context, site growth.Site, job, e *output.Record, next ...*output.Record) error {
	for again, wait := (time.Time{}), firstRepeat; ; {
		r, err := s.Jobs.Find(ctx, e.Key)
		switch {
		case err != nil:
			return err
		case r.State == adapter.Done && r.Why == "COMPLETED":
			return nil
		case r.State != adapter.Running:
			return fmt.Errorf("the expander is %s: %w", r.Why, adapter.ErrGone)
		}
		preparing := r.Configuring || site.Prologs && r.Why == "Prolog"
		if !preparing {
			if err = s.resize(ctx, job, e.Key, hasSteps, "NumNodes=0"); err == nil || !hasSteps(err) {
				return err
			}
			if now := time.Now(); !now.Before(again) {
				if err = s.endSteps(ctx, append(next, e)); err != nil {
					return err
				}
				again, wait = now.Add(wait), 2*wait
			}
		}
		if err := Pause(ctx, PollInterval); err != nil {
			return fmt.Errorf("waiting until the expander's nodes are ready: %w", err)
		}
	}
}

// hasSteps reports whether Slurm refused a merge because the expander has a step.
func hasSteps(err error) bool { return client.Refused(err, client.StepExists) }

// firstRepeat is the pause after which a step that still runs is ended again: its node may not have had it yet. The
// pause doubles each time. A step that never ends, as after a kill of slurmctld, must not use up the client programs
// of a minute.
const firstRepeat = 200 * time.Millisecond

// endSteps ends the steps that Slurm itself starts on the nodes of expanders. The first expander may have none left.
func (s *Resizer) endSteps(ctx context.Context, expanders []*output.Record) error {
	var steps []string
	for _, e := range expanders {
		steps = append(steps, fmt.Sprintf("%d.%d", e.ID, externStep))
	}
	_, err := s.Run.Run(ctx, client.Call{Program: "scancel", Args: steps})
	if err != nil && !cluster.Over(err) {
		return fmt.Errorf("ending the steps %s, which Slurm created: %w", strings.Join(steps, " "), err)
	}
	return nil
}

// Pause waits for d. It returns an error if ctx ends first.
func Pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// awaitEpilogs waits until the epilog of merged expanders has left the nodes. Slurm runs it there, as after every
// job, and an epilog may end all programs of its user.
func (s *Resizer) awaitEpilogs(ctx context.Context, site growth.Site, nodes []string) error {
	if !site.Epilogs {
		return nil
	}
	return s.awaitCleanedUp(ctx, nodes)
}

// awaitCleanedUp waits until no job is being cleaned up on the nodes.
func (s *Resizer) awaitCleanedUp(ctx context.Context, nodes []string) error {
	for {
		out, err := s.Run.Run(ctx, client.Call{Program: "scontrol", Args: []string{"--oneliner", "--all", "show", "node", hostlist.Compact(nodes)}})
		if err != nil {
			return fmt.Errorf("looking for epilogs on %s: %w", hostlist.Compact(nodes), err)
		}
		busy := slices.ContainsFunc(strings.Split(out.Stdout, "\n"), func(line string) bool {
			return slices.Contains(strings.Split(output.Field(line, "State"), "+"), "COMPLETING")
		})
		if !busy {
			return nil
		}
		if err := Pause(ctx, PollInterval); err != nil {
			return fmt.Errorf("waiting for epilogs on %s: %w", hostlist.Compact(nodes), err)
		}
	}
}

// mergeOver merges two expanders. The first covers all nodes of the new size and gives the new nodes their cores. The
// second, which was made earlier, covers the new nodes alone and gives them their memory. Until its merge it keeps
// the new nodes for the sidecar. A failure in between is undone.
func (s *Resizer) mergeOver(ctx context.Context, t growth.Terms, job, e *output.Record) error {
	if len(hostlist.Within(e.Nodes, hostlist.Set(job.Nodes))) == 0 {
		if err := s.widenReservation(ctx, e.Reservation, slices.Concat(job.Nodes, e.Nodes)); err != nil {
			return err
		}
		if t.Site.NeedsIntroduction {
			if err := s.announceJob(ctx, t, job, e); err != nil {
				return err
			}
		}
		if err := s.mergeOne(ctx, t, job, e, slices.Concat(job.Nodes, e.Nodes)); err != nil {
			return err
		}
	}
	// The last merge comes after everything else: as soon as it is done programs may start, also after a kill of the
	// sidecar.
	if err := s.merge(ctx, t.Site, job, e); err != nil {
		// Without the second merge the job would have the nodes, but hardly any memory on them.
		return fmt.Errorf("%w (%w)", adapter.ErrGone, errors.Join(err, s.Undo(ctx, job.Key, e.Nodes)))
	}
	return nil
}

// mergeOne allocates an expander with the least memory on the nodes, and merges it.
func (s *Resizer) mergeOne(ctx context.Context, t growth.Terms, job, e *output.Record, nodes []string) error {
	over, err := s.allocate(ctx, t.Site, t.Cover(job, e, nodes))
	if err != nil {
		return err
	}
	if err := s.merge(ctx, t.Site, job, over, e); err != nil {
		return errors.Join(err, s.Cancel(ctx, over.Key))
	}
	return nil
}

// announceJob makes the nodes of an expander learn of the job. With PrologFlags=Alloc a node waits for a message that
// a job begins on it, and a merge sends none. After 20 s it gives up, ends the job and is drained (23.02 and later).
// A node that the job has released knows the job. So the job gets the nodes for a second while the expander keeps
// them. A node refuses what a job starts in the second in which the job released the node; the next change of size
// comes later than that.
func (s *Resizer) announceJob(ctx context.Context, t growth.Terms, job, e *output.Record) error {
	if err := s.mergeOne(ctx, t, job, e, e.Nodes); err != nil {
		return err
	}
	if err := s.keep(ctx, job, job.Nodes); err != nil {
		return err
	}
	return s.awaitCleanedUp(ctx, e.Nodes)
}

// Undo removes from a job the nodes that only the first of two expanders gave it.
func (s *Resizer) Undo(ctx context.Context, job adapter.Key, nodes []string) error {
	r, err := s.Jobs.Running(ctx, job)
	if err != nil {
		return err
	}
	half := hostlist.Set(nodes)
	keep := slices.DeleteFunc(slices.Clone(r.Nodes), func(n string) bool { return half[n] })
	if len(keep) == len(r.Nodes) || len(keep) == 0 {
		return nil
	}
	return s.keep(ctx, r, keep)
}

// widenReservation extends a reservation over nodes that a job of its user holds. Slurm checks for holders until the
// flag is set, and accepts one change in an update.
func (s *Resizer) widenReservation(ctx context.Context, reservation string, nodes []string) error {
	nodes = slices.Clone(nodes)
	hostlist.Sort(nodes)
	for _, change := range []string{"Flags+=IGNORE_JOBS", "Nodes=" + hostlist.Compact(nodes)} {
		if err := s.Run.Scontrol(ctx, "update", "reservation", "ReservationName="+reservation, change); err != nil {
			return fmt.Errorf("reservation %s: %s: %w", reservation, change, err)
		}
	}
	return nil
}
