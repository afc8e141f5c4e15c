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
	"accordion/oar/cpuset"
	"accordion/oar/database"
	"accordion/oar/server"
)

// Attach ties a waiting job to a reservation, on whose nodes Release starts it.
func (s *System) Attach(ctx context.Context, job adapter.Key, reservation string) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, _ core.Time) error {
		if err := pending(r); err != nil {
			return err
		}
		if !r.known {
			return fmt.Errorf("it was not adopted: %w", adapter.ErrGone)
		}
		all, err := s.reservations(ctx, tx, reservation)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return fmt.Errorf("there is no reservation %s", reservation)
		}
		query := fmt.Sprintf("UPDATE accordion_jobs SET reservation = %s WHERE job_id = %d", s.db.Arg(1), job.ID)
		_, err = tx.ExecContext(ctx, query, reservation)
		return err
	})
	if err != nil {
		return fmt.Errorf("attaching job %d: %w", job.ID, err)
	}
	return nil
}

// Release lets an adopted job start on the nodes of the reservation that it is attached to: the base on as many of them as
// its least step has, companions on the others, on which its cpuset and key are made before. ErrBusy: that is not so in time.
func (s *System) Release(ctx context.Context, job adapter.Key) error {
	var before errgroup.Group
	before.Go(func() error { s.foretell(ctx, job); return nil })
	before.Go(func() error { return s.prepare(ctx, job) })
	if err := before.Wait(); err != nil {
		return fmt.Errorf("releasing job %d: %w", job.ID, err)
	}
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) error {
		switch {
		case r.State == adapter.Running, r.released && r.State == adapter.Pending:
			return nil
		case r.state == database.StateHold:
			return fmt.Errorf("its user holds it (oarhold): %w", adapter.ErrBusy)
		case pending(r) != nil:
			return pending(r)
		case !r.known:
			return fmt.Errorf("it was not adopted: %w", adapter.ErrGone)
		}
		all, err := s.reservations(ctx, tx, r.Reservation)
		if err != nil {
			return err
		}
		if r.Reservation == "" || len(all) == 0 {
			return fmt.Errorf("it is not attached to a reservation (%q)", r.Reservation)
		}
		return s.release(ctx, tx, r, all[0].Nodes, now)
	})
	if err != nil {
		return fmt.Errorf("releasing job %d: %w", job.ID, err)
	}
	s.server.Poke(server.Starts)
	return nil
}

func (s *System) release(ctx context.Context, tx *sql.Tx, r *record, hosts []string, now core.Time) error {
	base, err := baseOf(r, len(hosts))
	if err != nil {
		return err
	}
	places, err := s.db.Resources(ctx, tx, hosts[:base])
	if err != nil {
		return err
	}
	if err := s.db.Place(ctx, tx, int64(r.ID), places); err != nil {
		return err
	}
	lasts := r.Limit + outlives
	for _, layer := range s.layers(r, base, hosts[base:]) {
		one, err := s.companion(ctx, tx, r, layer, lasts, atStart, r.Reservation, now)
		if err == nil {
			err = s.keeper.Pass(ctx, tx, int64(r.ID), int64(one.ID), layer)
		}
		if err != nil {
			return err
		}
	}
	return database.Run(ctx, tx, "releasing", fmt.Sprintf("UPDATE accordion_jobs SET released = 1 WHERE job_id = %d", r.ID))
}

// prepare has a job's cpuset and key made on the nodes above its base on which it is to begin: its script may go there at once, and OAR makes
// them on the base's only. A node on which another job is still, as one that OAR ends when this one begins, is for Detach.
func (s *System) prepare(ctx context.Context, job adapter.Key) error {
	if !s.keeper.Used() {
		return nil
	}
	r, err := s.lookup(ctx, s.db.Sql, job)
	if err != nil || pending(r) != nil || r.released || r.Reservation == "" {
		return nil // Release says it
	}
	all, err := s.reservations(ctx, s.db.Sql, r.Reservation)
	if err != nil || len(all) == 0 {
		return err
	}
	whole := all[0].Nodes
	base, err := baseOf(r, len(whole))
	if err != nil || base == len(whole) {
		return err
	}
	above := whole[base:]
	if err := s.keeper.Expect(ctx, int64(r.ID), above); err != nil {
		return err
	}
	holders, err := s.records(ctx, s.db.Sql, isHolding)
	if err != nil {
		return err
	}
	free := slices.DeleteFunc(slices.Clone(above), func(host string) bool {
		return slices.ContainsFunc(holders, func(h *record) bool { return slices.Contains(h.holds, host) })
	})
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.keeper.Ready(ctx, int64(r.ID), free, whole)
}

// Hold takes a released job back that has not started, without its companions and its reservation.
func (s *System) Hold(ctx context.Context, job adapter.Key) error {
	var base []string // of a job that was to begin above it
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) error {
		var waits []int64
		base = nil
		for _, c := range r.joined {
			if c.mark == atStart && c.State == adapter.Pending {
				waits = append(waits, int64(c.ID))
			}
		}
		if err := s.db.Frag(ctx, tx, now, waits...); err != nil {
			return err
		}
		if pending(r) != nil {
			return nil // it starts: on its base, if its companions could not
		}
		if !r.known {
			return fmt.Errorf("it was not adopted: %w", adapter.ErrGone)
		}
		if len(waits) > 0 {
			base = r.places
		}
		withdrawn := append(slices.Clone(waits), int64(job.ID))
		choices, err := database.Numbers(ctx, tx, "SELECT moldable_id FROM moldable_job_descriptions WHERE moldable_job_id", withdrawn)
		if err != nil {
			return err
		}
		return database.Run(ctx, tx, "holding",
			fmt.Sprintf("UPDATE accordion_jobs SET released = 0, reservation = '' WHERE job_id = %d", job.ID),
			fmt.Sprintf("UPDATE accordion_jobs SET released = 0 WHERE job_id IN (%s)", database.List(waits)),
			fmt.Sprintf("DELETE FROM accordion_places WHERE job_id IN (%s)", database.List(withdrawn)),
			fmt.Sprintf("DELETE FROM gantt_jobs_resources WHERE moldable_job_id IN (%s)", database.List(choices)),
			fmt.Sprintf("DELETE FROM gantt_jobs_predictions WHERE moldable_job_id IN (%s)", database.List(choices)))
	})
	s.server.Poke(server.Ends)
	if err == nil {
		var r *record
		if r, err = s.lookup(ctx, s.db.Sql, job); err == nil {
			err = pending(r)
		}
	}
	if err != nil {
		return fmt.Errorf("holding job %d: %w", job.ID, err)
	}
	if len(base) > 0 {
		s.retract(ctx, job, base)
	}
	return nil
}

// Detach unties a running job from the reservation that it began in, which would not end it anyway. Where nobody has put all nodes of
// the first step into the job's node file before it began (see Prologue), they are there from now on.
func (s *System) Detach(ctx context.Context, job adapter.Key) error {
	r, err := s.lookup(ctx, s.db.Sql, job)
	if err == nil {
		err = running(r)
	}
	if err == nil && r.Reservation != "" {
		if len(r.Nodes) > len(r.holds) {
			if err := s.keeper.Ready(ctx, int64(job.ID), r.Nodes[len(r.holds):], r.Nodes); err != nil {
				s.log.Warn("a job cannot reach all of its nodes", "job", job.ID, "error", err)
			}
			if err := s.publishNodes(ctx, r.holds[0], &r.Job); err != nil {
				s.log.Warn("a job's node file has the nodes of its base only", "job", job.ID, "error", err)
			}
		}
		_, err = s.db.Sql.ExecContext(ctx, fmt.Sprintf("UPDATE accordion_jobs SET reservation = '' WHERE job_id = %d", job.ID))
	}
	if err != nil {
		return fmt.Errorf("detaching job %d: %w", job.ID, err)
	}
	return nil
}

// End ends a job with its companions, or companions that were made together; companions when their nodes are clean. A running
// job's standard error first gets the reason.
func (s *System) End(ctx context.Context, job adapter.Key, why string) error {
	var told *record
	var base int64
	var companions []*record
	err := s.alter(ctx, job, func(tx *sql.Tx, r *record, now core.Time) (err error) {
		if companions, err = s.together(ctx, tx, r); err != nil {
			return err
		}
		if base = r.base; base != 0 {
			return nil
		}
		base = int64(r.ID)
		if r.State == adapter.Running {
			told = r
		}
		if r.over() {
			return nil
		}
		return s.db.Frag(ctx, tx, now, base)
	})
	if errors.Is(err, adapter.ErrGone) {
		return nil
	}
	if err == nil && len(companions) > 0 {
		s.server.Poke(server.Ends)
		err = s.endCompanions(ctx, base, companions)
	}
	if err != nil {
		return fmt.Errorf("ending job %d: %w", job.ID, err)
	}
	if told != nil && why != "" {
		// As far as possible: the job must end all the same.
		if err := s.say(ctx, told, "accordion ends this job: "+why); err != nil {
			s.log.Debug("a job cannot be told why it ends", "job", job.ID, "error", err)
		}
	}
	s.server.Poke(server.Ends)
	return nil
}

// endCompanions asks OAR to end companions when what their job has on their nodes is ended, so that no other job meets it.
func (s *System) endCompanions(ctx context.Context, base int64, all []*record) error {
	companions := make([]int64, len(all))
	for i, c := range all {
		companions[i] = int64(c.ID)
	}
	if slices.ContainsFunc(all, func(c *record) bool { return c.mark == atStart && c.State == adapter.Pending }) {
		s.neverBegan(ctx, base)
	}
	waits, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := s.keeper.Cleaned(waits, base, cpuset.Of(companions...)); err != nil {
		return err
	}
	return s.db.Change(ctx, func(tx *sql.Tx) error {
		now, err := s.db.Second(ctx, tx)
		if err != nil {
			return err
		}
		return s.db.Frag(ctx, tx, now, companions...)
	})
}

// neverBegan takes back what was left for the prologue of a job that ends before it began.
func (s *System) neverBegan(ctx context.Context, job int64) {
	found, err := s.records(ctx, s.db.Sql, fmt.Sprintf("j.job_id = %d", job))
	if err != nil {
		s.log.Warn("whether a job has begun cannot be read: what was left for its prologue stays", "job", job, "error", err)
	}
	for _, r := range found {
		if r.State != adapter.Running && len(r.places) > 0 {
			s.retract(ctx, r.Key, r.places)
		}
	}
}

// together are the companions that end with a job: all of its, or those that were made with one and are not merged, itself among them.
func (s *System) together(ctx context.Context, tx *sql.Tx, r *record) ([]*record, error) {
	base := int64(r.ID)
	if r.base != 0 {
		base = r.base
	}
	ids, err := companionsOf(ctx, tx, base)
	if err != nil {
		return nil, err
	}
	companions, err := s.records(ctx, tx, "j.job_id IN ("+database.List(ids)+")")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(companions, func(c *record) bool {
		return c.over() || c.ID != r.ID && r.base != 0 && (r.mark != "" || c.mark != "" || c.with != r.with || c.group != r.group)
	}), nil
}

// Nudge asks OAR to plan: it has no nodes that it forgets, but it may not have heard of what is to start.
func (s *System) Nudge(context.Context, []string) error {
	s.server.Poke(server.Starts)
	return nil
}
