package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/oar/database"
	"accordion/oar/observe"
	"accordion/oar/server"
	"accordion/oar/tables"
)

// outlives is by how many seconds a companion's walltime is longer than its base's: it is ended with the base, and OAR must not do
// so before.
const outlives core.Time = 60

// layers divides the hosts above the first so many of a job into what companions hold: one companion for all, or one for
// each host where a size of a profile lies in between, at which some of them leave and some stay.
func (s *System) layers(r *observe.Job, above int, hosts []string) [][]string {
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

// companions reads those of a job, over or not.
func (s *System) companions(ctx context.Context, tx *sql.Tx, base int64) ([]*observe.Job, error) {
	ids, err := tables.Companions(ctx, tx, base)
	if err != nil {
		return nil, err
	}
	return s.read.Jobs(ctx, tx, "j.job_id IN ("+database.List(ids)+")")
}

// companion makes a job that holds hosts for its base, to be started at once.
func (s *System) companion(ctx context.Context, tx *sql.Tx, base *observe.Job, hosts []string, lasts core.Time, mark, reservation string, now core.Time) (adapter.Key, error) {
	places, err := s.db.Resources(ctx, tx, hosts)
	if err != nil {
		return adapter.Key{}, err
	}
	j := database.Noop{User: base.User, Project: base.Project, Name: fmt.Sprintf("ep-%d", base.ID), Queue: s.queue, Hosts: len(hosts), Walltime: lasts,
		Base: int64(base.ID), Message: fmt.Sprintf("companion of evolving job %d", base.ID)}
	id, err := s.db.Submit(ctx, tx, j, now)
	if err != nil {
		return adapter.Key{}, err
	}
	row := tables.Row{Job: id, Submitted: now, Mark: mark, Base: int64(base.ID), Released: true, Reservation: reservation}
	if err := s.db.Add(ctx, tx, row); err != nil {
		return adapter.Key{}, err
	}
	return adapter.Key{ID: core.JobID(id), Submitted: now}, s.db.Place(ctx, tx, id, places)
}

// firstOnes are the companions of a job's first step that are in a state of OAR's.
func firstOnes(r *observe.Job, state string) (all []*observe.Job) {
	for _, c := range r.Companions {
		if c.Joined == observe.AtStart && c.OARState == state {
			all = append(all, c)
		}
	}
	return all
}

// beginFirst has the first companions of jobs that run begin at once, where no pass is under way. A pass that began such a job has left them:
// OAR 2.5 begins none before its job runs. The next pass may be ten seconds later, and until then the job, whose script may be on their
// hosts, does not hold these: a queue that comes before ours could have them.
func (s *System) beginFirst(ctx context.Context, shown []*observe.Job) {
	for _, r := range shown {
		if r.OARState != "Running" || len(firstOnes(r, database.StateWaiting)) == 0 {
			continue
		}
		var begun []int64
		err := s.alter(ctx, r.Key, func(tx *sql.Tx, r *observe.Job, now core.Time) error {
			begun = nil
			var ids []int64
			var hosts []string
			for _, c := range firstOnes(r, database.StateWaiting) {
				ids, hosts = append(ids, int64(c.ID)), append(hosts, c.Places...)
			}
			if r.OARState != "Running" || len(hosts) == 0 {
				return nil
			}
			atOnce, err := s.db.MayLaunchWaiting(ctx, tx, ids, hosts, now)
			if err == nil && atOnce {
				err = s.occupied(ctx, tx, hosts)
			}
			if err != nil || !atOnce {
				return err
			}
			begun = ids
			return s.db.Launch(ctx, tx, ids, now)
		})
		if err != nil { // a pass begins them, or nothing does
			if !errors.Is(err, adapter.ErrBusy) && !errors.Is(err, adapter.ErrGone) {
				s.log.Warn("a job's first companions are not begun at once, but by OAR's next pass", "job", r.ID, "error", err)
			}
			continue
		}
		for _, id := range begun {
			s.server.Notify(server.Begins(core.JobID(id)))
		}
	}
}

// keepHealthy divides companions of which some nodes are away for good, so that the job keeps the
// others. These go to a successor, as in a shrink, and the companion ends.
func (s *System) keepHealthy(ctx context.Context, shown []*observe.Job) error {
	away := func(c *observe.Job) bool { return len(c.Away) > 0 }
	for _, r := range shown {
		if !slices.ContainsFunc(r.Companions, away) {
			continue
		}
		err := s.alter(ctx, r.Key, func(tx *sql.Tx, r *observe.Job, now core.Time) error {
			if running(r) != nil || !slices.ContainsFunc(r.Companions, away) {
				return nil
			}
			s.log.Warn("nodes of a job are away, and it keeps the others of their companion", "job", r.ID, "keeps", hostlist.Compact(r.Nodes))
			_, _, err := s.divide(ctx, tx, r, r.Nodes, now)
			return err
		})
		if err != nil && !errors.Is(err, adapter.ErrGone) {
			return fmt.Errorf("keeping the nodes of job %d that are not away: %w", r.ID, err)
		}
		s.server.Notify(server.Ends)
	}
	return nil
}

// lengthen gives the companions of jobs that were made longer (oarwalltime) a walltime with which they outlive them again.
func (s *System) lengthen(ctx context.Context, shown []*observe.Job) error {
	var longer []string
	for _, r := range shown {
		for _, c := range r.Companions {
			if r.State == adapter.Running && c.State == adapter.Running && c.Moldable != 0 && c.Ends() < r.Ends() {
				longer = append(longer, fmt.Sprintf("UPDATE moldable_job_descriptions SET moldable_walltime = %d WHERE moldable_id = %d",
					r.Ends()+outlives-c.Started, c.Moldable))
			}
		}
	}
	if len(longer) == 0 {
		return nil
	}
	return s.db.Change(ctx, func(tx *sql.Tx) error { return database.Run(ctx, tx, "making companions longer", longer...) })
}
