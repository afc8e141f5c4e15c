package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/observe"
	"accordion/oar/server"
)

// Attach ties a waiting job to a reservation, on whose nodes Release starts it.
func (s *System) Attach(ctx context.Context, job adapter.Key, reservation string) error {
	err := s.alter(ctx, job, func(tx *sql.Tx, r *observe.Job, _ core.Time) error {
		if err := pending(r); err != nil {
			return err
		}
		if !r.Adopted {
			return fmt.Errorf("it was not adopted: %w", adapter.ErrGone)
		}
		all, err := s.read.Reservations(ctx, tx, reservation)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return fmt.Errorf("there is no reservation %s", reservation)
		}
		return s.db.Tie(ctx, tx, int64(job.ID), reservation)
	})
	if err != nil {
		return fmt.Errorf("attaching job %d: %w", job.ID, err)
	}
	return nil
}

// Release lets an adopted job start on the nodes of the reservation that it is attached to: the base on as many of them as
// its least step has, companions on the others, on which its cpuset and key are made before. ErrBusy: that is not so in time.
// OAR begins them at once where no pass can be in the way, else in its next passes.
func (s *System) Release(ctx context.Context, job adapter.Key) error {
	foretold := "" // the node on which the job's prologue finds something from now on
	var before errgroup.Group
	before.Go(func() error { foretold = s.leaveForPrologue(ctx, job); return nil })
	before.Go(func() error { return s.prepare(ctx, job) })
	err := before.Wait()
	if err == nil {
		err = s.begin(ctx, job)
	}
	if err != nil {
		if foretold != "" { // it may begin elsewhere next time
			s.retract(context.WithoutCancel(ctx), job, foretold)
		}
		return fmt.Errorf("releasing job %d: %w", job.ID, err)
	}
	return nil
}

// begin releases a job for which everything is prepared, and tells OAR.
func (s *System) begin(ctx context.Context, job adapter.Key) error {
	var words []string
	err := s.alter(ctx, job, func(tx *sql.Tx, r *observe.Job, now core.Time) error {
		words = []string{server.Starts}
		switch {
		case r.State == adapter.Running, r.Released && r.State == adapter.Pending:
			return nil
		case r.OARState == database.StateHold:
			return fmt.Errorf("its user holds it (oarhold): %w", adapter.ErrBusy)
		case pending(r) != nil:
			return pending(r)
		case !r.Adopted:
			return fmt.Errorf("it was not adopted: %w", adapter.ErrGone)
		}
		all, err := s.read.Reservations(ctx, tx, r.Reservation)
		if err != nil {
			return err
		}
		if r.Reservation == "" || len(all) == 0 {
			return fmt.Errorf("it is not attached to a reservation (%q)", r.Reservation)
		}
		words, err = s.release(ctx, tx, r, all[0].Nodes, now)
		return err
	})
	if err != nil {
		return err
	}
	for _, word := range words {
		s.server.Notify(word)
	}
	return nil
}

// release gives the words that OAR is to be told.
func (s *System) release(ctx context.Context, tx *sql.Tx, r *observe.Job, hosts []string, now core.Time) (words []string, err error) {
	base, err := baseOf(r, len(hosts))
	if err != nil {
		return nil, err
	}
	atOnce, err := s.db.MayLaunch(ctx, tx, int64(r.ID), r.Reservation, hosts, now)
	if err != nil {
		return nil, err
	}
	places, err := s.db.Resources(ctx, tx, hosts[:base])
	if err != nil {
		return nil, err
	}
	if err := s.db.Place(ctx, tx, int64(r.ID), places); err != nil {
		return nil, err
	}
	all := []int64{int64(r.ID)}
	lasts := r.Limit + outlives
	for _, layer := range s.layers(r, base, hosts[base:]) {
		one, err := s.companion(ctx, tx, r, layer, lasts, observe.AtStart, r.Reservation, now)
		if err == nil {
			err = s.keeper.Pass(ctx, tx, int64(r.ID), int64(one.ID), layer)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, int64(one.ID))
	}
	if err := s.db.Release(ctx, tx, int64(r.ID)); err != nil {
		return nil, err
	}
	if atOnce {
		err := s.checkFree(ctx, tx, hosts)
		if atOnce = err == nil; err != nil && !errors.Is(err, adapter.ErrBusy) {
			return nil, err
		}
	}
	if !atOnce { // a pass starts it, or leaves it
		return []string{server.Starts}, nil
	}
	words = []string{server.Starts} // for others: see sparedFor
	for _, one := range all {
		words = append(words, server.Begins(core.JobID(one)))
	}
	s.passSkipped.Store(time.Now().UnixNano())
	return words, s.db.Launch(ctx, tx, all, now)
}

// prepare has a job's cpuset and key made on the nodes above its base on which it is to begin: its script may go there at once, and OAR makes
// them on the base's only. A node on which another job is still, as one that OAR ends when this one begins, is for Detach.
func (s *System) prepare(ctx context.Context, job adapter.Key) error {
	if !s.keeper.Used() {
		return nil
	}
	r, err := s.read.Job(ctx, s.db.Sql, job)
	if err != nil || pending(r) != nil || r.Released || r.Reservation == "" {
		return nil // Release says it
	}
	all, err := s.read.Reservations(ctx, s.db.Sql, r.Reservation)
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
	holders, err := s.read.Jobs(ctx, s.db.Sql, database.IsHolding)
	if err != nil {
		return err
	}
	free := slices.DeleteFunc(slices.Clone(above), func(host string) bool {
		return slices.ContainsFunc(holders, func(h *observe.Job) bool { return slices.Contains(h.Holds, host) })
	})
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return s.keeper.Ready(ctx, int64(r.ID), free, whole)
}

// Hold takes a released job back that has not started, without its companions and its reservation.
func (s *System) Hold(ctx context.Context, job adapter.Key) error {
	var base []string // of a job that was to begin above it
	err := s.alter(ctx, job, func(tx *sql.Tx, r *observe.Job, now core.Time) error {
		var waits []int64
		base = nil
		for _, c := range r.Companions {
			if c.Joined == observe.AtStart && c.State == adapter.Pending {
				waits = append(waits, int64(c.ID))
			}
		}
		if err := s.db.Frag(ctx, tx, now, waits...); err != nil {
			return err
		}
		if pending(r) != nil {
			return nil // it starts: on its base, if its companions could not
		}
		if !r.Adopted {
			return fmt.Errorf("it was not adopted: %w", adapter.ErrGone)
		}
		if len(waits) > 0 {
			base = r.Places
		}
		return s.db.Withdraw(ctx, tx, int64(job.ID), waits)
	})
	s.server.Notify(server.Ends)
	if err == nil {
		var r *observe.Job
		if r, err = s.read.Job(ctx, s.db.Sql, job); err == nil {
			err = pending(r)
		}
	}
	if err != nil {
		return fmt.Errorf("holding job %d: %w", job.ID, err)
	}
	if len(base) > 0 {
		s.retractFromFirst(ctx, job, base)
	}
	return nil
}

// Detach unties a running job from the reservation that it began in, which would not end it anyway. Where nobody has put all nodes of
// the first step into the job's node file before it began (see Prologue), they are there from now on.
func (s *System) Detach(ctx context.Context, job adapter.Key) error {
	if err := s.detach(ctx, job); err != nil {
		return fmt.Errorf("detaching job %d: %w", job.ID, err)
	}
	return nil
}

func (s *System) detach(ctx context.Context, job adapter.Key) error {
	r, err := s.read.Job(ctx, s.db.Sql, job)
	if err != nil {
		return err
	}
	if err := running(r); err != nil {
		return err
	}
	if r.Reservation == "" {
		return nil
	}
	if len(r.Nodes) > len(r.Holds) {
		if err := s.keeper.Ready(ctx, int64(job.ID), r.Nodes[len(r.Holds):], r.Nodes); err != nil {
			s.log.Warn("a job cannot reach all of its nodes", "job", job.ID, "error", err)
		}
		if err := s.publishNodes(ctx, r.Holds[0], &r.Job); err != nil {
			s.log.Warn("a job's node file has the nodes of its base only", "job", job.ID, "error", err)
		}
	}
	return s.db.Tie(ctx, s.db.Sql, int64(job.ID), "")
}
