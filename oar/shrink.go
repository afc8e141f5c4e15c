package oar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/oar/observe"
	"accordion/oar/server"
)

// Shrink reduces a running job to the nodes in `keep`, by ending the companions on the other nodes. If a companion has both nodes to keep
// and other nodes, a new companion (its successor) gets the nodes to keep. The base stays unchanged.
func (s *System) Shrink(ctx context.Context, job adapter.Key, keep []string) error {
	doing := fmt.Sprintf("shrinking job %d to %s", job.ID, hostlist.Compact(keep))
	var leaving, stay []adapter.Key
	err := s.cleanLeaving(ctx, job, keep)
	if err == nil {
		err = s.alter(ctx, job, func(tx *sql.Tx, r *observe.Job, now core.Time) (err error) {
			leaving, stay, err = s.divide(ctx, tx, r, keep, now)
			return err
		})
	}
	if err == nil && len(leaving)+len(stay) > 0 {
		err = s.await(ctx, func(ctx context.Context) ([]string, error) {
			states, err := s.states(ctx, slices.Concat(leaving, stay))
			if err != nil {
				return nil, err
			}
			for _, c := range leaving {
				if state := states[c.ID]; state != "Terminated" && state != "Error" {
					return []string{server.Ends}, nil
				}
			}
			return notificationsFor(stay, states, runs)
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// cleanLeaving cleans the nodes that a running job is about to release, while they still belong to the job. So the job's processes on these
// nodes end before another job can get the nodes.
func (s *System) cleanLeaving(ctx context.Context, job adapter.Key, keep []string) error {
	r, err := s.read.Job(ctx, s.db.Sql, job)
	if err == nil {
		err = keeps(r, keep)
	}
	if err != nil {
		return err
	}
	left := s.db.CpusetsOn(slices.DeleteFunc(slices.Clone(r.Nodes), func(host string) bool { return slices.Contains(keep, host) }))
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.keeper.Cleaned(ctx, int64(job.ID), left)
}

// keeps returns an error unless a running job can be reduced to the nodes in `keep`. They must belong to the job, and include all nodes of
// its base.
func keeps(r *observe.Job, keep []string) error {
	if err := running(r); err != nil {
		return err
	}
	for _, host := range keep {
		if !slices.Contains(r.Nodes, host) {
			return fmt.Errorf("it does not hold %s (it holds %s)", host, hostlist.Compact(r.Nodes))
		}
	}
	for _, host := range r.Holds {
		if !slices.Contains(keep, host) {
			return fmt.Errorf("%s belongs to its base and must be kept", host)
		}
	}
	return nil
}

// divide asks OAR to end those companions of a running job that have nodes outside `keep`. If such companions also
// have nodes in `keep`, divide makes a successor for these nodes. It returns the companions that must end, and the
// companions that must run.
func (s *System) divide(ctx context.Context, tx *sql.Tx, r *observe.Job, keep []string, now core.Time) (leaving, stay []adapter.Key, err error) {
	if err := keeps(r, keep); err != nil {
		return nil, nil, err
	}
	covered := slices.Clone(r.Holds)
	var fragged []int64
	var split []string
	for _, c := range r.Companions {
		held := c.Holds
		if c.State == adapter.Pending {
			held = c.Places
		}
		stays := slices.DeleteFunc(slices.Clone(held), func(host string) bool { return !slices.Contains(keep, host) })
		switch {
		case len(stays) == len(held):
			covered = append(covered, held...)
			if c.State == adapter.Pending {
				stay = append(stay, c.Key)
			}
		default:
			split = append(split, stays...)
			leaving, fragged = append(leaving, c.Key), append(fragged, int64(c.ID))
		}
	}
	// An earlier call that was interrupted may have made the successor already.
	split = slices.DeleteFunc(split, func(host string) bool { return slices.Contains(covered, host) })
	if len(split) > 0 {
		one, err := s.companion(ctx, tx, r, split, max(r.Ends()-now, 0)+outlives, observe.Grown, r.MadeIn, now)
		if err == nil {
			err = s.keeper.Pass(ctx, tx, int64(r.ID), int64(one.ID), split)
		}
		if err != nil {
			return nil, nil, err
		}
		stay = append(stay, one)
	}
	return leaving, stay, s.db.Frag(ctx, tx, now, fragged...)
}
