package resize

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core/hostlist"
	"accordion/slurm/growth"
	"accordion/slurm/output"
)

// Expand allocates the nodes for the running job, immediately or not at all, as the job's owner. The nodes become
// the job's only in Merge, which merges them or makes them a companion (growth.Terms). Expand does not queue the
// allocation, because a queued allocation would come seconds late, and a restart of slurmctld would make it
// useless.
func (s *Resizer) Expand(ctx context.Context, job *adapter.Job, nodes []string, reservation string) (adapter.Key, error) {
	doing := fmt.Sprintf("expanding job %d by %s", job.ID, hostlist.Compact(nodes))
	if len(nodes) == 0 {
		return adapter.Key{}, fmt.Errorf("%s: no nodes", doing)
	}
	parent, err := s.Jobs.Running(ctx, job.Key)
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
	}
	if parent.Suspended { // Slurm's own message would only say that the expander's dependency is wrong
		return adapter.Key{}, fmt.Errorf("%s: %w: it is suspended, and grows when it is resumed", doing, adapter.ErrFrozen)
	}
	t, err := s.Terms(ctx, parent, parent.Nodes)
	if err == nil && t.Way.Growth == growth.Overlap {
		err = s.drainedNode(ctx, parent.Nodes)
	}
	if err == nil && t.Way.Growth != growth.Companions {
		err = s.Trapped(ctx)
	}
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
	}
	first := adapter.Key{}
	for _, share := range t.Shares(nodes) {
		r, err := s.allocate(ctx, t.Site, t.Allocation(parent, share, reservation))
		if err != nil {
			if first.ID != 0 {
				err = errors.Join(err, s.cancelPending(ctx, parent, reservation))
			}
			return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
		}
		if first.ID == 0 {
			first = r.Key
		}
	}
	return first, nil
}

// drainedNode returns an error that names a drained node of the job, if there is one. A growth by overlap needs a
// second allocation on all nodes of the job, and Slurm makes no allocation on a drained node.
func (s *Resizer) drainedNode(ctx context.Context, nodes []string) error {
	in, err := s.Ground(ctx)
	if err != nil {
		return err
	}
	for _, n := range in.Nodes {
		if !n.Usable && strings.Contains(n.Why, "DRAIN") && slices.Contains(nodes, n.Name) {
			return fmt.Errorf("%w: %s is %s, and a growth by overlap takes a second allocation of each of its nodes", adapter.ErrFrozen, n.Name, n.Why)
		}
	}
	return nil
}

// Merge moves the nodes of an expander into the job, and checks that the job has them.
func (s *Resizer) Merge(ctx context.Context, job, expander adapter.Key) error {
	doing := fmt.Sprintf("merging %d into job %d", expander.ID, job.ID)
	e, err := s.Jobs.Find(ctx, expander)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if e.Role() == output.Companion {
		err = s.joinAll(ctx, job, e)
	} else {
		err = s.mergeAll(ctx, job, e)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Shrink reduces a running job to the nodes in `keep`, and checks the result. `keep` must include the node that
// runs the script, because Slurm cannot remove that node. Programs on the removed nodes are ended.
func (s *Resizer) Shrink(ctx context.Context, job adapter.Key, keep []string) error {
	doing := fmt.Sprintf("shrinking job %d to %s", job.ID, hostlist.Compact(keep))
	r, joined, err := s.Together(ctx, job)
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	all := output.NodesWithCompanions(r, joined)
	for _, n := range keep {
		if !slices.Contains(all, n) {
			return fmt.Errorf("%s: it does not hold %s (it holds %s)", doing, n, hostlist.Compact(all))
		}
	}
	if !slices.Contains(keep, r.BatchHost) && slices.Contains(r.Nodes, r.BatchHost) {
		return fmt.Errorf("%s: %s runs its script and must be kept", doing, r.BatchHost)
	}
	for _, part := range append(joined, r) {
		if err := s.shrinkPart(ctx, part, hostlist.Within(part.Nodes, hostlist.Set(keep))); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	if r, joined, err = s.Together(ctx, job); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	if all = output.NodesWithCompanions(r, joined); !hostlist.Same(keep, all) {
		return fmt.Errorf("%s: Slurm left it %s", doing, hostlist.Compact(all))
	}
	return nil
}

// shrinkPart reduces one allocation, of the job or a companion, to the nodes in `keep`. It ends a companion that
// keeps no node.
func (s *Resizer) shrinkPart(ctx context.Context, r *output.Record, keep []string) error {
	switch {
	case hostlist.Same(keep, r.Nodes):
		return nil
	case len(keep) == 0:
		return s.CancelCompanion(ctx, r.Key)
	}
	if err := s.Trapped(ctx); err != nil {
		return err
	}
	return s.keep(ctx, r, keep)
}

// mergeAll moves an expander's nodes into its parent, by one merge or by the two merges of an overlap. It may be
// repeated. Slurm accepts a merge into a finished job, but then no job holds the nodes until Slurm is reconfigured.
// Therefore the parent must run just before the merge. If the parent ends at the same moment, mergeAll frees the
// nodes (see System.Mend).
func (s *Resizer) mergeAll(ctx context.Context, job adapter.Key, e *output.Record) error {
	if err := s.Trapped(ctx); err != nil {
		return err
	}
	merged := e.State == adapter.Done && e.Why == "COMPLETED" // the state of a canceled expander is CANCELLED
	before, err := s.Jobs.Running(ctx, job)
	switch {
	case merged && errors.Is(err, adapter.ErrGone):
		return fmt.Errorf("it was merged, and has ended: %w", errors.Join(err, s.Lost(ctx, nil)))
	case err != nil:
		return err
	case merged:
		return nil
	case e.State != adapter.Running:
		return fmt.Errorf("the expander is %s: %w", e.Why, adapter.ErrGone)
	}
	t, err := s.Terms(ctx, before, before.Nodes)
	if err != nil {
		return err
	}
	if t.Way.Growth == growth.Overlap {
		err = s.mergeOver(ctx, t, before, e)
	} else {
		err = s.merge(ctx, t.Site, before, e)
	}
	if err != nil {
		return err
	}
	after, err := s.Jobs.Running(ctx, job)
	if errors.Is(err, adapter.ErrGone) {
		return fmt.Errorf("it ended meanwhile: %w", errors.Join(err, s.Lost(ctx, slices.Concat(before.Nodes, e.Nodes))))
	}
	if err != nil {
		return err
	}
	for _, n := range slices.Concat(before.Nodes, e.Nodes) {
		if !slices.Contains(after.Nodes, n) {
			return fmt.Errorf("the job has %s now, without %s", hostlist.Compact(after.Nodes), n)
		}
	}
	return s.awaitEpilogs(ctx, t.Site, after.Nodes)
}
