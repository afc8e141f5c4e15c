package oar

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"accordion/adapter"
	"accordion/core"
	"accordion/core/hostlist"
	"accordion/oar/database"
	"accordion/oar/observe"
	"accordion/oar/tables"
)

// Reserve creates a reservation or changes it. In OAR, a reservation is a job that never runs (the holder), which the scheduler puts into
// OAR's plan on the reserved nodes. Schedulers of queues that OAR plans later respect the holder. A start in the past means now.
func (s *System) Reserve(ctx context.Context, r adapter.Reservation) error {
	doing := fmt.Sprintf("reservation %s over %s", r.Name, hostlist.Compact(r.Nodes))
	switch {
	case !r.Ours() || len(r.Name) > mostName:
		return fmt.Errorf("reservation %q: its name must begin with %s and have at most %d characters", r.Name, adapter.Prefix, mostName)
	case len(r.Nodes) == 0:
		return fmt.Errorf("%s: no nodes", doing)
	case r.User == "":
		return fmt.Errorf("%s: nobody may use it", doing)
	case r.End <= r.Start:
		return fmt.Errorf("%s: it ends before it begins (%d, %d)", doing, r.Start, r.End)
	}
	var moved []plannedStart
	err := s.db.Change(ctx, func(tx *sql.Tx) (err error) {
		moved, err = s.reserve(ctx, tx, r)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	s.retractAll(ctx, moved)
	return nil
}

const mostName = 100 // maximum number of characters of jobs.job_name

// reserve returns the starts that were planned on nodes which the reservation no longer has.
func (s *System) reserve(ctx context.Context, tx *sql.Tx, r adapter.Reservation) (moved []plannedStart, err error) {
	now, err := s.db.Second(ctx, tx)
	if err != nil {
		return nil, err
	}
	if r.End <= now {
		return nil, fmt.Errorf("its end %d is past", r.End)
	}
	all, err := s.read.Reservations(ctx, tx, r.Name)
	if err != nil {
		return nil, err
	}
	old := observe.Reservation{Reservation: adapter.Reservation{Name: r.Name, Start: core.Forever, OverManaged: true}}
	if len(all) > 0 {
		old = all[0]
		if old.Start <= now {
			r.Start = old.Start // the reservation is active
		}
	}
	r.Start = max(r.Start, min(old.Start, now))
	places, err := s.db.Resources(ctx, tx, r.Nodes)
	if err != nil {
		return nil, err
	}
	if err := s.checkConflicts(ctx, tx, r, old.Reservation); err != nil {
		return nil, err
	}
	row := tables.Reservation{Name: r.Name, Owner: r.User, From: r.Start, To: r.End, OverManaged: r.OverManaged, Idle: r.Idle, Holder: old.Holder}
	if err := s.write(ctx, tx, &row, len(r.Nodes), now); err != nil {
		return nil, err
	}
	if len(old.Nodes) > 0 && !slices.Equal(old.Nodes, r.Nodes) {
		if moved, err = s.startsTiedTo(ctx, tx, r.Name, old.Nodes); err != nil {
			return nil, err
		}
	}
	return moved, s.db.Place(ctx, tx, row.Holder, places)
}

// write writes a reservation's row and its holder. It makes the holder if row.Holder is 0.
func (s *System) write(ctx context.Context, tx *sql.Tx, row *tables.Reservation, hosts int, now core.Time) (err error) {
	lasts := row.To - row.From
	if row.Holder != 0 {
		if err := s.db.ChangeReservation(ctx, tx, *row); err != nil {
			return err
		}
		return s.db.Reshape(ctx, tx, row.Holder, hosts, lasts)
	}
	holder := database.Noop{User: "oar", Name: row.Name, Queue: s.queue, Hosts: hosts, Walltime: lasts, Message: "keeps nodes free for Accordion"}
	if row.Holder, err = s.db.Submit(ctx, tx, holder, now); err != nil {
		return err
	}
	return s.db.AddReservation(ctx, tx, *row)
}

// checkConflicts returns an error if a node of reservation `r` has a conflict. Conflicts are reservations of other
// programs, and jobs whose walltimes end after the start of `r`. It does not check again the nodes and times that the
// reservation already had.
func (s *System) checkConflicts(ctx context.Context, tx *sql.Tx, r, old adapter.Reservation) error {
	added := r.Nodes
	if !old.OverManaged && r.Start >= old.Start {
		added = slices.DeleteFunc(slices.Clone(r.Nodes), func(host string) bool { return slices.Contains(old.Nodes, host) })
	}
	if r.OverManaged && old.OverManaged && len(old.Nodes) > 0 && r.Start >= old.Start {
		added = slices.DeleteFunc(slices.Clone(r.Nodes), func(host string) bool { return slices.Contains(old.Nodes, host) })
	}
	others, err := s.read.Others(ctx, tx)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.Start < r.End && r.Start < o.End && slices.ContainsFunc(o.Nodes, func(host string) bool { return slices.Contains(added, host) }) {
			return fmt.Errorf("job %s is planned on some of them: %w", strings.TrimPrefix(o.Name, "oar-"), adapter.ErrBusy)
		}
	}
	holders, err := s.read.Jobs(ctx, tx, database.IsHolding)
	if err != nil {
		return err
	}
	for _, h := range holders {
		if h.Besteffort() || h.Ends() <= r.Start || h.OARState == "Finishing" || r.OverManaged && (h.BaseJob != 0 || h.Adopted) {
			continue
		}
		for _, host := range h.Holds {
			if slices.Contains(added, host) {
				return fmt.Errorf("%s is held by job %d: %w", host, h.ID, adapter.ErrBusy)
			}
		}
	}
	return nil
}

// Unreserve deletes a reservation of Accordion's, and its holder.
func (s *System) Unreserve(ctx context.Context, name string) error {
	if !(adapter.Reservation{Name: name}).Ours() {
		return fmt.Errorf("reservation %q is not ours: not deleted", name)
	}
	var undone []plannedStart
	err := s.db.Change(ctx, func(tx *sql.Tx) error {
		all, err := s.read.Reservations(ctx, tx, name)
		if err != nil || len(all) == 0 {
			return err
		}
		if undone, err = s.startsTiedTo(ctx, tx, name, all[0].Nodes); err != nil {
			return err
		}
		return s.db.RemoveReservation(ctx, tx, tables.Reservation{Name: name, Holder: all[0].Holder})
	})
	if err != nil {
		return fmt.Errorf("deleting reservation %s: %w", name, err)
	}
	s.retractAll(ctx, undone)
	return nil
}

// Reserved implements release.System.
func (s *System) Reserved(ctx context.Context) (all []adapter.Reservation, jobs []adapter.Job, err error) {
	err = s.db.AtOneInstant(ctx, s.db.Sql, func(tx *sql.Tx) error {
		all, jobs = nil, nil
		reservations, err := s.read.Reservations(ctx, tx, "")
		if err != nil {
			return err
		}
		for _, r := range reservations {
			all = append(all, r.Reservation)
		}
		live, err := s.read.Jobs(ctx, tx, database.IsLive)
		for _, j := range live {
			if j.BaseJob == 0 { // a companion belongs to its job
				jobs = append(jobs, j.Job)
			}
		}
		return err
	})
	return all, jobs, err
}

// retractAll removes the files that were left on nodes for starts that do not take place, or that take place on other nodes.
func (s *System) retractAll(ctx context.Context, starts []plannedStart) {
	for _, one := range starts {
		s.retractFromFirst(ctx, one.job, one.base)
	}
}
