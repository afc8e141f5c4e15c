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
	"accordion/oar/server"
)

// outlives is by how many seconds a companion's walltime is longer than its base's: it is ended with the base, and OAR must not do
// so before.
const outlives core.Time = 60

// layers divides the hosts above the first so many of a job into what companions hold: one companion for all, or one for
// each host where a size of a profile lies in between, at which some of them leave and some stay.
func (s *System) layers(r *record, above int, hosts []string) [][]string {
	if len(hosts) == 0 {
		return nil
	}
	eps, _ := profiles(r) // read before; without any, one companion does
	for _, ep := range eps {
		for _, step := range ep {
			if step.Nodes > above && step.Nodes < above+len(hosts) {
				return slices.Collect(slices.Chunk(hosts, 1))
			}
		}
	}
	return [][]string{hosts}
}

// companion makes a job that holds hosts for its base, to be started at once.
func (s *System) companion(ctx context.Context, tx *sql.Tx, base *record, hosts []string, lasts core.Time, mark, reservation string, now core.Time) (adapter.Key, error) {
	places, err := s.db.Resources(ctx, tx, hosts)
	if err != nil {
		return adapter.Key{}, err
	}
	j := database.Noop{User: base.User, Project: base.project, Name: fmt.Sprintf("ep-%d", base.ID), Queue: s.queue, Hosts: len(hosts), Walltime: lasts,
		Base: int64(base.ID), Message: fmt.Sprintf("companion of evolving job %d", base.ID)}
	id, err := s.db.Submit(ctx, tx, j, now)
	if err != nil {
		return adapter.Key{}, err
	}
	query := fmt.Sprintf("INSERT INTO accordion_jobs (job_id, submitted, mark, base, released, reservation) VALUES (%d, %d, '%s', %d, 1, %s)",
		id, now, mark, base.ID, s.db.Arg(1))
	if _, err := tx.ExecContext(ctx, query, reservation); err != nil {
		return adapter.Key{}, err
	}
	return adapter.Key{ID: core.JobID(id), Submitted: now}, s.db.Place(ctx, tx, id, places)
}

// running says what is wrong with a job that should run.
func running(r *record) error {
	if r.State != adapter.Running || r.base != 0 {
		return fmt.Errorf("job %d is %s, not running: %w", r.ID, r.state, adapter.ErrGone)
	}
	return nil
}

// Expand makes companions of a running job on the nodes and waits until they run, and until the job's cpuset and key are there. They are
// not the job's until Merge. Where that is not so in time they are ended again.
func (s *System) Expand(ctx context.Context, job *adapter.Job, nodes []string, reservation string) (adapter.Key, error) {
	doing := fmt.Sprintf("expanding job %d by %s", job.ID, hostlist.Compact(nodes))
	if len(nodes) == 0 {
		return adapter.Key{}, fmt.Errorf("%s: no nodes", doing)
	}
	var made []adapter.Key
	var whole []string
	err := s.alter(ctx, job.Key, func(tx *sql.Tx, r *record, now core.Time) (err error) {
		if err := running(r); err != nil {
			return err
		}
		whole = slices.Concat(r.Nodes, nodes)
		if made, err = s.made(ctx, tx, r, nodes, reservation); err != nil || len(made) > 0 {
			return err
		}
		atOnce, err := s.mayLaunch(ctx, tx, reservation, nodes, now)
		if err == nil {
			err = s.occupied(ctx, tx, nodes)
		}
		if err != nil {
			return err
		}
		hosts := slices.Clone(nodes)
		hostlist.Sort(hosts)
		for _, layer := range s.layers(r, len(r.Nodes), hosts) {
			one, err := s.companion(ctx, tx, r, layer, max(r.ends()-now, 0)+outlives, "", reservation, now)
			if err != nil {
				return err
			}
			if err := s.keeper.Note(ctx, tx, int64(r.ID), int64(one.ID), layer); err != nil {
				return err
			}
			made = append(made, one)
		}
		err = database.Run(ctx, tx, "marking the companions", fmt.Sprintf("UPDATE accordion_jobs SET mark = '%s%d' WHERE job_id IN (%s)", coming, made[0].ID, database.List(numbersOf(made))))
		if err == nil && atOnce {
			err = s.launch(ctx, tx, made, now)
		}
		return err
	})
	if err == nil {
		err = s.joins(ctx, job.Key, made, nodes, whole)
	}
	if err != nil {
		return adapter.Key{}, fmt.Errorf("%s: %w", doing, err)
	}
	return made[0], nil
}

// made finds the companions that an Expand made whose answer was lost: of the same reservation, on the same nodes.
func (s *System) made(ctx context.Context, tx *sql.Tx, base *record, nodes []string, reservation string) ([]adapter.Key, error) {
	ids, err := companionsOf(ctx, tx, int64(base.ID))
	if err != nil {
		return nil, err
	}
	all, err := s.records(ctx, tx, "j.job_id IN ("+database.List(ids)+")")
	if err != nil {
		return nil, err
	}
	keys, hosts := map[string][]adapter.Key{}, map[string][]string{}
	for _, c := range all {
		if c.with != "" && c.group == reservation && !c.over() {
			keys[c.with], hosts[c.with] = append(keys[c.with], c.Key), append(hosts[c.with], c.places...)
		}
	}
	for with, on := range hosts {
		if sameHosts(on, nodes) {
			return keys[with], nil
		}
	}
	return nil, nil
}

// numbersOf are the numbers of jobs.
func numbersOf(jobs []adapter.Key) []int64 {
	ids := make([]int64, len(jobs))
	for i, j := range jobs {
		ids[i] = int64(j.ID)
	}
	return ids
}

func sameHosts(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// occupied says which of the nodes cannot be had now.
func (s *System) occupied(ctx context.Context, from database.Querier, nodes []string) error {
	known, err := s.nodes(ctx, from)
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
	holders, err := s.records(ctx, from, isHolding)
	if err != nil {
		return err
	}
	for _, h := range holders {
		for _, host := range h.holds {
			if !h.besteffort() && slices.Contains(nodes, host) {
				return fmt.Errorf("%s is held by job %d: %w", host, h.ID, adapter.ErrBusy)
			}
		}
	}
	return nil
}

// joins waits until all of some companions run, and their hosts are ready for their base, which has whole nodes then. When that is not
// so in time they are ended again.
func (s *System) joins(ctx context.Context, base adapter.Key, companions []adapter.Key, hosts, whole []string) error {
	err := s.become(ctx, companions, placed)
	if err == nil { // their hosts are theirs: while OAR brings them to run, these are made ready
		var both errgroup.Group
		both.Go(func() error { return s.become(ctx, companions, runs) })
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
	if r, gone := s.lookup(ending, s.db.Sql, base); errors.Is(gone, adapter.ErrGone) || gone == nil && running(r) != nil {
		err = fmt.Errorf("%w: job %d is over (%w)", adapter.ErrGone, base.ID, err)
	}
	return err
}

// Merge makes the nodes of an expander, and of the companions that were made with it, the job's.
func (s *System) Merge(ctx context.Context, job, expander adapter.Key) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, _ core.Time) error {
		if err := running(r); err != nil {
			return err
		}
		e, err := s.lookup(ctx, tx, expander)
		switch {
		case err != nil:
			return err
		case e.base != int64(job.ID):
			return fmt.Errorf("job %d is no companion of its", expander.ID)
		case e.mark != "":
			return nil // merged
		case e.State != adapter.Running:
			return fmt.Errorf("companion %d is %s: %w", expander.ID, e.state, adapter.ErrGone)
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("UPDATE accordion_jobs SET mark = '%s' WHERE base = %d AND mark = %s AND reservation = %s", grown, job.ID, s.db.Arg(1), s.db.Arg(2)), e.with, e.group)
		return err
	})
	if err != nil {
		return fmt.Errorf("merging %d into job %d: %w", expander.ID, job.ID, err)
	}
	return nil
}

// Shrink leaves a running job with the nodes to keep: the companions on the others end. Of one that holds some of both the
// nodes to keep go to a successor in the same pass of OAR's. The base stays as it is.
func (s *System) Shrink(ctx context.Context, job adapter.Key, keep []string) error {
	doing := fmt.Sprintf("shrinking job %d to %s", job.ID, hostlist.Compact(keep))
	var leave, stay []adapter.Key
	err := s.leave(ctx, job, keep)
	if err == nil {
		err = s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) (err error) {
			leave, stay, err = s.divide(ctx, tx, r, keep, now)
			return err
		})
	}
	if err == nil && len(leave)+len(stay) > 0 {
		err = s.await(ctx, func(ctx context.Context) ([]string, error) {
			states, err := s.states(ctx, slices.Concat(leave, stay))
			if err != nil {
				return nil, err
			}
			for _, c := range leave {
				if state := states[c.ID]; state != "Terminated" && state != "Error" {
					return []string{server.Ends}, nil
				}
			}
			return startUp(stay, states, runs)
		})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// leave cleans the nodes that a running job is to give back, while they are still its own: what runs there is ended before another job can
// have them.
func (s *System) leave(ctx context.Context, job adapter.Key, keep []string) error {
	r, err := s.lookup(ctx, s.db.Sql, job)
	if err == nil {
		err = keeps(r, keep)
	}
	if err != nil {
		return err
	}
	where, args := s.keeper.On(slices.DeleteFunc(slices.Clone(r.Nodes), func(host string) bool { return slices.Contains(keep, host) }))
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.keeper.Cleaned(ctx, int64(job.ID), where, args...)
}

// keeps says what is wrong with the nodes that a running job is to keep: they must be its own, and its base's among them.
func keeps(r *record, keep []string) error {
	if err := running(r); err != nil {
		return err
	}
	for _, host := range keep {
		if !slices.Contains(r.Nodes, host) {
			return fmt.Errorf("it does not hold %s (it holds %s)", host, hostlist.Compact(r.Nodes))
		}
	}
	for _, host := range r.holds {
		if !slices.Contains(keep, host) {
			return fmt.Errorf("%s belongs to its base and must be kept", host)
		}
	}
	return nil
}

// divide asks OAR to end the companions of a running job that are not wholly on nodes to keep, and makes their successors.
// It gives those that must end, and those that must run.
func (s *System) divide(ctx context.Context, tx *sql.Tx, r *record, keep []string, now core.Time) (leave, stay []adapter.Key, err error) {
	if err := keeps(r, keep); err != nil {
		return nil, nil, err
	}
	covered := slices.Clone(r.holds)
	var fragged []int64
	var split []string
	for _, c := range r.joined {
		held := c.holds
		if c.State == adapter.Pending {
			held = c.places
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
			leave, fragged = append(leave, c.Key), append(fragged, int64(c.ID))
		}
	}
	// A successor that an earlier call made, which died before it was done, is there already.
	split = slices.DeleteFunc(split, func(host string) bool { return slices.Contains(covered, host) })
	if len(split) > 0 {
		one, err := s.companion(ctx, tx, r, split, max(r.ends()-now, 0)+outlives, grown, r.group, now)
		if err == nil {
			err = s.keeper.Pass(ctx, tx, int64(r.ID), int64(one.ID), split)
		}
		if err != nil {
			return nil, nil, err
		}
		stay = append(stay, one)
	}
	return leave, stay, s.db.Frag(ctx, tx, now, fragged...)
}
