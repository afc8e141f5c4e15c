package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/oar/database"
	"accordion/oar/observe"
)

// Expand submits companions of a running job on the nodes. It waits until the companions run and the job's cpuset and key exist on their
// nodes. If this takes too long, Expand ends the companions. The nodes belong to the job only after Merge.
func (s *System) Expand(ctx context.Context, job *adapter.Job, nodes []string, reservation string) (adapter.Key, error) {
	doing := fmt.Sprintf("expanding job %d by %s", job.ID, hostlist.Compact(nodes))
	if len(nodes) == 0 {
		return adapter.Key{}, fmt.Errorf("%s: no nodes", doing)
	}
	var made []adapter.Key
	var whole []string
	err := s.alter(ctx, job.Key, func(tx *sql.Tx, r *observe.Job, now core.Time) (err error) {
		if err := running(r); err != nil {
			return err
		}
		whole = slices.Concat(r.Nodes, nodes)
		if made, err = s.made(ctx, tx, r, nodes, reservation); err != nil || len(made) > 0 {
			return err
		}
		atOnce, err := s.db.MayLaunch(ctx, tx, int64(r.ID), reservation, nodes, now)
		if err == nil {
			err = s.checkFree(ctx, tx, nodes)
		}
		if err != nil {
			return err
		}
		hosts := slices.Clone(nodes)
		hostlist.Sort(hosts)
		for _, layer := range s.layers(r, len(r.Nodes), hosts) {
			one, err := s.companion(ctx, tx, r, layer, max(r.Ends()-now, 0)+outlives, "", reservation, now)
			if err != nil {
				return err
			}
			if err := s.keeper.Note(ctx, tx, int64(r.ID), int64(one.ID), layer); err != nil {
				return err
			}
			made = append(made, one)
		}
		err = s.db.Mark(ctx, tx, numbersOf(made), fmt.Sprintf("%s%d", observe.JoiningMark, made[0].ID))
		if err == nil && atOnce {
			err = s.db.Launch(ctx, tx, numbersOf(made), now)
		}
		return err
	})
	if err == nil {
		err = s.awaitJoined(ctx, job.Key, made, nodes, whole)
	}
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
	}
	return made[0], nil
}

// made finds the companions of an earlier Expand whose result the caller did not get. They were made in the same reservation, on the same
// nodes.
func (s *System) made(ctx context.Context, tx *sql.Tx, base *observe.Job, nodes []string, reservation string) ([]adapter.Key, error) {
	all, err := s.companions(ctx, tx, int64(base.ID))
	if err != nil {
		return nil, err
	}
	keys, hosts := map[string][]adapter.Key{}, map[string][]string{}
	for _, c := range all {
		if c.With != "" && c.MadeIn == reservation && !c.Over() {
			keys[c.With], hosts[c.With] = append(keys[c.With], c.Key), append(hosts[c.With], c.Places...)
		}
	}
	for with, on := range hosts {
		if hostlist.Same(on, nodes) {
			return keys[with], nil
		}
	}
	return nil, nil
}

// checkFree returns an error for the first of the nodes that is not available now.
func (s *System) checkFree(ctx context.Context, from database.Querier, nodes []string) error {
	known, err := s.read.Nodes(ctx, from)
	if err != nil {
		return err
	}
	for _, host := range nodes {
		if n := known[host]; n == nil || !n.Usable {
			why := "no node of OAR's"
			if n != nil {
				why = n.Why
			}
			return fmt.Errorf("%s is %s: %w", host, why, adapter.ErrBusy)
		}
	}
	holders, err := s.read.Jobs(ctx, from, database.IsHolding)
	if err != nil {
		return err
	}
	for _, h := range holders {
		for _, host := range h.Holds {
			if !h.Besteffort() && slices.Contains(nodes, host) {
				return fmt.Errorf("%s is held by job %d: %w", host, h.ID, adapter.ErrBusy)
			}
		}
	}
	return nil
}

// awaitJoined waits until all companions run and their hosts are prepared for the base. `whole` lists all nodes that
// the base then has. If that takes too long, awaitJoined ends the companions.
func (s *System) awaitJoined(ctx context.Context, base adapter.Key, companions []adapter.Key, hosts, whole []string) error {
	err := s.awaitStates(ctx, companions, placed)
	if err == nil { // the companions own the hosts from now on, so prepare the hosts while OAR starts the companions
		var both errgroup.Group
		both.Go(func() error { return s.awaitStates(ctx, companions, runs) })
		both.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, s.timeout)
			defer cancel()
			return s.keeper.Ready(ctx, int64(base.ID), hosts, whole)
		})
		err = both.Wait()
	}
	if err == nil {
		return nil
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.timeout)
	defer cancel()
	for _, c := range companions {
		err = errors.Join(err, s.End(ending, c, ""))
	}
	if r, gone := s.read.Job(ending, s.db.Sql, base); errors.Is(gone, adapter.ErrGone) || gone == nil && running(r) != nil {
		err = fmt.Errorf("%w: job %d has ended (%w)", adapter.ErrGone, base.ID, err)
	}
	return err
}

// Merge adds the nodes of an expander, and of the companions that were made with it, to the job.
func (s *System) Merge(ctx context.Context, job, expander adapter.Key) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *observe.Job, _ core.Time) error {
		if err := running(r); err != nil {
			return err
		}
		e, err := s.read.Job(ctx, tx, expander)
		switch {
		case err != nil:
			return err
		case e.BaseJob != int64(job.ID):
			return fmt.Errorf("job %d is not a companion of this job", expander.ID)
		case e.Joined != "":
			return nil // merged already
		case e.State != adapter.Running:
			return fmt.Errorf("companion %d is %s: %w", expander.ID, e.OARState, adapter.ErrGone)
		}
		return s.db.ReplaceMark(ctx, tx, int64(job.ID), e.MadeIn, e.With, observe.Grown)
	})
	if err != nil {
		return fmt.Errorf("merging %d into job %d: %w", expander.ID, job.ID, err)
	}
	return nil
}
