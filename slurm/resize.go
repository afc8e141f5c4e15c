package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core/hostlist"
)

// Expand allocates the nodes beside the running job, at once or not at all, in the name of the job's owner. They are the
// job's only after Merge: by a merge or as a companion's (see Growth). Queueing the allocation instead would make it seconds late, and a restart
// of slurmctld would make it useless.
func (s *System) Expand(ctx context.Context, job *adapter.Job, nodes []string, reservation string) (adapter.Key, error) {
	doing := fmt.Sprintf("expanding job %d by %s", job.ID, hostlist.Compact(nodes))
	if len(nodes) == 0 {
		return adapter.Key{}, fmt.Errorf("%s: no nodes", doing)
	}
	parent, err := s.running(ctx, job.Key)
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
	}
	t, err := s.terms(ctx, parent, parent.Nodes)
	if err == nil && t.way.growth == Overlap {
		err = s.closed(ctx, parent.Nodes)
	}
	if err == nil && t.way.growth != Companions {
		err = s.trapped(ctx)
	}
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
	}
	first := adapter.Key{}
	for _, share := range t.shares(nodes) {
		r, err := s.allocate(ctx, t.site, t.beside(parent, share, reservation))
		if err != nil {
			if first.ID != 0 {
				err = errors.Join(err, s.endBeside(ctx, parent, reservation))
			}
			return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
		}
		if first.ID == 0 {
			first = r.Key
		}
	}
	return first, nil
}

// closed says which of a job's own nodes is drained: Slurm gives it to no second allocation, as an overlap needs them.
func (s *System) closed(ctx context.Context, nodes []string) error {
	in, err := s.ground(ctx)
	if err != nil {
		return err
	}
	for _, n := range in.nodes {
		if !n.Usable && strings.Contains(n.Why, "DRAIN") && slices.Contains(nodes, n.Name) {
			return fmt.Errorf("%w: %s is %s, and a growth by overlap takes a second allocation of each of its nodes", adapter.ErrFrozen, n.Name, n.Why)
		}
	}
	return nil
}

// Merge makes the nodes of an expander the job's and checks that they arrived.
func (s *System) Merge(ctx context.Context, job, expander adapter.Key) error {
	doing := fmt.Sprintf("merging %d into job %d", expander.ID, job.ID)
	e, err := s.lookup(ctx, expander)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if e.role() == companion {
		err = s.joinAll(ctx, job, e)
	} else {
		err = s.mergeAll(ctx, job, e)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Shrink leaves a running job with the nodes to keep, and checks it. The node that runs the script must be among them:
// Slurm cannot take it away. What still runs on the others is ended.
func (s *System) Shrink(ctx context.Context, job adapter.Key, keep []string) error {
	doing := fmt.Sprintf("shrinking job %d to %s", job.ID, hostlist.Compact(keep))
	r, joined, err := s.together(ctx, job)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	all := holdings(r, joined)
	for _, n := range keep {
		if !slices.Contains(all, n) {
			return fmt.Errorf("%s: it does not hold %s (it holds %s)", doing, n, hostlist.Compact(all))
		}
	}
	if !slices.Contains(keep, r.batchHost) && slices.Contains(r.Nodes, r.batchHost) {
		return fmt.Errorf("%s: %s runs its script and must be kept", doing, r.batchHost)
	}
	for _, part := range append(joined, r) {
		if err := s.cut(ctx, part, within(part.Nodes, toSet(keep))); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	if r, joined, err = s.together(ctx, job); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if all = holdings(r, joined); !same(keep, all) {
		return fmt.Errorf("%s: Slurm left it %s", doing, hostlist.Compact(all))
	}
	return nil
}

// cut leaves one allocation with the nodes to keep; a companion that keeps none is ended.
func (s *System) cut(ctx context.Context, r *record, keep []string) error {
	switch {
	case same(keep, r.Nodes):
		return nil
	case len(keep) == 0:
		return s.quench(ctx, r.Key)
	}
	if err := s.trapped(ctx); err != nil {
		return err
	}
	return s.update(ctx, r.Key, "NodeList="+hostlist.Compact(keep))
}

// same says whether two lists hold the same nodes.
func same(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// trapped says why a resize would go wrong now. Since 21.08.8 and until 24.05, a resize without slurmdbd leaves the job
// in a state in which every later update of it fails.
func (s *System) trapped(ctx context.Context) error {
	c, err := s.recent(ctx)
	if err != nil {
		return err
	}
	if why := c.trap(ctx); why != "" {
		return fmt.Errorf("%w: %s", adapter.ErrTrap, why)
	}
	return nil
}

// mergeAll moves an expander's nodes into its parent: by one merge, or where two are needed (Overlap) by both. It may be
// repeated. Slurm says yes to a merge into a finished job, and then nobody holds the nodes until it is reconfigured. So the parent must run
// just before; where it ends in the same instant, the nodes are set free here (see Mend).
func (s *System) mergeAll(ctx context.Context, job adapter.Key, e *record) error {
	if err := s.trapped(ctx); err != nil {
		return err
	}
	merged := e.State == adapter.Done && e.Why == "COMPLETED" // one that was cancelled is CANCELLED
	before, err := s.running(ctx, job)
	switch {
	case merged && errors.Is(err, adapter.ErrGone):
		return fmt.Errorf("it was merged, and has ended: %w", errors.Join(err, s.Mend(ctx, nil)))
	case err != nil:
		return err
	case merged:
		return nil
	case e.State != adapter.Running:
		return fmt.Errorf("the expander is %s: %w", e.Why, adapter.ErrGone)
	}
	t, err := s.terms(ctx, before, before.Nodes)
	if err != nil {
		return err
	}
	if t.way.growth == Overlap {
		err = s.mergeOver(ctx, t, before, e)
	} else {
		err = s.merge(ctx, t.site, e)
	}
	if err != nil {
		return err
	}
	after, err := s.running(ctx, job)
	if errors.Is(err, adapter.ErrGone) {
		return fmt.Errorf("it ended meanwhile: %w", errors.Join(err, s.Mend(ctx, slices.Concat(before.Nodes, e.Nodes))))
	}
	if err != nil {
		return err
	}
	for _, n := range slices.Concat(before.Nodes, e.Nodes) {
		if !slices.Contains(after.Nodes, n) {
			return fmt.Errorf("the job has %s now, without %s", hostlist.Compact(after.Nodes), n)
		}
	}
	return s.settled(ctx, t.site, after.Nodes)
}
