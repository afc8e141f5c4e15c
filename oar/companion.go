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

// outlives is the number of seconds by which a companion's walltime exceeds that of its base. Accordion ends a companion together with its
// base, and OAR must not end the companion earlier.
const outlives core.Time = 60

// layers divides the additional hosts of a job, above its first `above` nodes, into companions. One companion holds
// all these hosts, unless a step of a profile has a size between `above` and the full size. In that case some of the
// hosts leave at that step and others stay, so each host gets its own companion.
func (s *System) layers(r *observe.Job, above int, hosts []string) [][]string {
	if len(hosts) == 0 {
		return nil
	}
	eps, _ := profiles(r) // no error, because the profiles were parsed before; without profiles, one companion is enough
	for _, ep := range eps {
		for _, step := range ep {
			if step.Nodes > above && step.Nodes < above+len(hosts) {
				return slices.Collect(slices.Chunk(hosts, 1))
			}
		}
	}
	return [][]string{hosts}
}

// companions reads the companions of a job, including those that have ended.
func (s *System) companions(ctx context.Context, tx *sql.Tx, base int64) ([]*observe.Job, error) {
	ids, err := tables.Companions(ctx, tx, base)
	if err != nil {
		return nil, err
	}
	return s.read.Jobs(ctx, tx, "j.job_id IN ("+database.List(ids)+")")
}

// companion submits a released job that holds the hosts for its base.
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

// firstCompanions returns the companions that were made for the job's first step and are in the given OAR state.
func firstCompanions(r *observe.Job, state string) (all []*observe.Job) {
	for _, c := range r.Companions {
		if c.Joined == observe.AtStart && c.OARState == state {
			all = append(all, c)
		}
	}
	return all
}

// launchFirstCompanions launches the companions of a job's first step that still wait although the job runs, unless a pass is under way.
// OAR 2.5 launches no companion before its base runs, so the pass that launched the base has left the companions waiting. The next pass may
// come ten seconds later. Meanwhile the job's script may already use these hosts, and a queue that OAR plans before ours could take them.
func (s *System) launchFirstCompanions(ctx context.Context, shown []*observe.Job) {
	for _, r := range shown {
		if r.OARState != "Running" || len(firstCompanions(r, database.StateWaiting)) == 0 {
			continue
		}
		var begun []int64
		err := s.alter(ctx, r.Key, func(tx *sql.Tx, r *observe.Job, now core.Time) error {
			begun = nil
			var ids []int64
			var hosts []string
			for _, c := range firstCompanions(r, database.StateWaiting) {
				ids, hosts = append(ids, int64(c.ID)), append(hosts, c.Places...)
			}
			if r.OARState != "Running" || len(hosts) == 0 {
				return nil
			}
			atOnce, err := s.db.MayLaunchWaiting(ctx, tx, ids, hosts, now)
			if err == nil && atOnce {
				err = s.checkFree(ctx, tx, hosts)
			}
			if err != nil || !atOnce {
				return err
			}
			begun = ids
			return s.db.Launch(ctx, tx, ids, now)
		})
		if err != nil { // the next pass launches them
			if !errors.Is(err, adapter.ErrBusy) && !errors.Is(err, adapter.ErrGone) {
				s.log.Warn("a job's first companions could not be launched at once: OAR's next pass begins them", "job", r.ID, "error", err)
			}
			continue
		}
		for _, id := range begun {
			s.server.Notify(server.Begins(core.JobID(id)))
		}
	}
}

// keepHealthy splits companions some of whose nodes are permanently lost, so that the job keeps the other nodes. As in a shrink, a
// successor gets the other nodes and the companion ends.
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
			s.log.Warn("nodes of a job are absent: it keeps the other nodes of their companion", "job", r.ID, "keeps", hostlist.Compact(r.Nodes))
			_, _, err := s.divide(ctx, tx, r, r.Nodes, now)
			return err
		})
		if err != nil && !errors.Is(err, adapter.ErrGone) {
			return fmt.Errorf("keeping the present nodes of job %d: %w", r.ID, err)
		}
		s.server.Notify(server.Ends)
	}
	return nil
}

// lengthen extends the walltimes of companions whose base got a longer walltime (oarwalltime), so that companions outlive the base again.
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
