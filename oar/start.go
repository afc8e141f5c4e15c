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

// Attach ties a waiting job to a reservation. Release then starts the job on the reservation's nodes.
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
		return s.db.SetReservation(ctx, tx, int64(job.ID), reservation)
	})
	if err != nil {
		return fmt.Errorf("attaching job %d: %w", job.ID, err)
	}
	return nil
}

// Release lets an adopted job start on the nodes of the reservation to which it is attached. The base gets as many of these nodes as the
// job's smallest step has, and companions get the others. Release first makes the job's cpuset and key on the companions' nodes; the error
// is ErrBusy if that takes too long. OAR starts the jobs immediately if no pass can interfere, and otherwise in its next passes.
func (s *System) Release(ctx context.Context, job adapter.Key) error {
	informed := "" // the node on which a file was left for the job's prologue
	var before errgroup.Group
	before.Go(func() error { informed = s.leaveForPrologue(ctx, job); return nil })
	before.Go(func() error { return s.prepare(ctx, job) })
	err := before.Wait()
	if err == nil {
		err = s.begin(ctx, job)
	}
	if err != nil {
		if informed != "" { // the job may start on other nodes next time
			s.retract(context.WithoutCancel(ctx), job, informed)
		}
		return fmt.Errorf("releasing job %d: %w", job.ID, err)
	}
	return nil
}

// begin releases a job whose nodes are prepared, and notifies OAR.
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

// release releases the job and its companions, and returns the commands to send to OAR's server.
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
	if !atOnce { // a pass starts it
		return []string{server.Starts}, nil
	}
	words = []string{server.Starts} // a pass for other jobs (see repeatFor)
	for _, one := range all {
		words = append(words, server.Begins(core.JobID(one)))
	}
	s.passSkipped.Store(time.Now().UnixNano())
	return words, s.db.Launch(ctx, tx, all, now)
}

// prepare makes a job's cpuset and key on the nodes above its base on which it will start. The job's script may use these nodes
// immediately, and OAR prepares only the nodes of the base. prepare leaves out nodes that another job still holds, for example a besteffort
// job that OAR ends when this job starts. Detach prepares those nodes.
func (s *System) prepare(ctx context.Context, job adapter.Key) error {
	if !s.keeper.Used() {
		return nil
	}
	r, err := s.read.Job(ctx, s.db.Sql, job)
	if err != nil || pending(r) != nil || r.Released || r.Reservation == "" {
		return nil // begin reports this error
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

// Hold takes back the release of a job that has not started, and removes its companions and its tie to the reservation.
func (s *System) Hold(ctx context.Context, job adapter.Key) error {
	var base []string // places of the base, if the job was to start with companions
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
			return nil // the job is starting, on its base alone if its companions could not start
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

// Detach unties a running job from the reservation in which it started. (The end of the reservation would not end the job anyway.) If the
// prologue did not write all nodes of the first step into the job's node file, Detach does so.
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
	return s.db.SetReservation(ctx, s.db.Sql, int64(job.ID), "")
}
