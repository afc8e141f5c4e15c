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

// externStep is the number of the extern step (PrologFlags=Contain). Slurm puts the processes into this step that
// pam_slurm_adopt and X11 start on a job's nodes. All releases accept this number, but not all accept the name.
const externStep = 4294967292

// PollInterval is the pause between two checks of a change that Slurm makes soon and does not report.
const PollInterval = 20 * time.Millisecond

// merge moves one expander into its parent, in a second of its own. Slurm refuses the merge while the expander has
// a step, for example the extern step, which Slurm itself starts on each node (PrologFlags=Contain). merge first
// calls endSteps to end that step, which is possible only after the node's prolog. That call also ends the steps of
// the expanders in `next`, which are merged afterwards. merge waits while the expander's nodes boot, because after
// a merge Slurm would never wake these nodes.
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

// firstRepeat is the pause before merge tries again to end a step that still runs. The step may not have started on
// its node at the first try. The pause doubles each time. So a step that never ends, as after a kill of slurmctld,
// does not use up the client programs of a minute.
const firstRepeat = 200 * time.Millisecond

// endSteps ends the steps that Slurm itself starts on the nodes of expanders. It returns no error if the first
// expander has no steps left.
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

// awaitEpilogs waits until the epilogs of merged expanders have ended on their nodes. Slurm runs an epilog after a
// merged expander as after every job, and an epilog may end all programs of the job's user.
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

// mergeOver merges two expanders. The first covers all nodes of the new size, and its merge gives the job the cores
// of the new nodes. The second was allocated earlier and covers only the new nodes. Its merge gives the job the
// memory of these nodes. Until then it keeps other jobs from the new nodes. If the second merge fails, the first
// merge is undone.
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
	// This merge is the last action, because programs may start as soon as it is done, even if the sidecar is
	// killed then.
	if err := s.merge(ctx, t.Site, job, e); err != nil {
		// Without the second merge the job would have the nodes, but almost no memory on them.
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

// announceJob makes slurmctld announce the job to the nodes of an expander. With PrologFlags=Alloc a node waits for
// a message that a job begins there, and a merge sends no such message. After 20 s the node gives up, ends the job
// and is drained (23.02 and later). A node that was in the job once has received the message. So announceJob adds
// the nodes to the job for a second, and then shrinks the job again. Meanwhile the expander keeps the nodes. In the
// second in which a job releases a node, the node refuses new steps of that job. The next change of size comes
// after that second.
func (s *Resizer) announceJob(ctx context.Context, t growth.Terms, job, e *output.Record) error {
	if err := s.mergeOne(ctx, t, job, e, e.Nodes); err != nil {
		return err
	}
	if err := s.keep(ctx, job, job.Nodes); err != nil {
		return err
	}
	return s.awaitCleanedUp(ctx, e.Nodes)
}

// Undo removes nodes from a job that has them only because of the first of two merges.
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

// widenReservation extends a reservation to nodes that a job of the reservation's user holds. Without the flag
// IGNORE_JOBS Slurm refuses nodes that a job holds. The flag must be set before that, by a separate update.
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
