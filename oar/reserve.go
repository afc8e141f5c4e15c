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
	"accordion/oar/tables"
)

// reservationRow is one of ours, with the job that shows it in OAR's plan.
type reservationRow struct {
	adapter.Reservation
	holder int64
}

// reservations reads ours: all, or that of a name.
func (s *System) reservations(ctx context.Context, from database.Querier, name string) ([]*reservationRow, error) {
	where, args := "1 = 1", []any(nil)
	if name != "" {
		where, args = "v.name = "+s.db.Arg(1), []any{name}
	}
	var all []*reservationRow
	byHolder := map[int64]*reservationRow{}
	query := "SELECT v.name, v.owner, v.start_time, v.end_time, v.over_managed, v.idle, v.holder FROM accordion_reservations v WHERE " + where + " ORDER BY v.name"
	err := database.Rows(ctx, from, "the reservations", query, args, func(row *sql.Rows) error {
		r := &reservationRow{}
		err := row.Scan(&r.Name, &r.User, &r.Start, &r.End, &r.OverManaged, &r.Idle, &r.holder)
		byHolder[r.holder] = r
		all = append(all, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	query = `SELECT v.holder, r.network_address FROM accordion_reservations v JOIN accordion_places p ON p.job_id = v.holder
		JOIN resources r ON r.resource_id = p.resource_id WHERE ` + database.OnHost + " AND " + where + " GROUP BY v.holder, r.network_address"
	err = database.Rows(ctx, from, "the reservations' nodes", query, args, func(row *sql.Rows) error {
		var holder int64
		var host string
		err := row.Scan(&holder, &host)
		if r := byHolder[holder]; r != nil {
			r.Nodes = append(r.Nodes, host)
		}
		return err
	})
	for _, r := range all {
		hostlist.Sort(r.Nodes)
	}
	return all, err
}

// Reserve creates a reservation or changes it. It is a job that never runs, and that the scheduler puts into
// OAR's plan over the nodes; schedulers of queues that come after ours respect it.
//
// A start in the past means now.
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
	err := s.db.Change(ctx, func(tx *sql.Tx) error { return s.reserve(ctx, tx, r) })
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

const mostName = 100 // characters of jobs.job_name

func (s *System) reserve(ctx context.Context, tx *sql.Tx, r adapter.Reservation) error {
	now, err := s.db.Second(ctx, tx)
	if err != nil {
		return err
	}
	if r.End <= now {
		return fmt.Errorf("its end %d is past", r.End)
	}
	all, err := s.reservations(ctx, tx, r.Name)
	if err != nil {
		return err
	}
	old := &reservationRow{Reservation: adapter.Reservation{Name: r.Name, Start: core.Forever, OverManaged: true}}
	if len(all) > 0 {
		old = all[0]
		if old.Start <= now {
			r.Start = old.Start // it is active
		}
	}
	r.Start = max(r.Start, min(old.Start, now))
	places, err := s.db.Resources(ctx, tx, r.Nodes)
	if err != nil {
		return err
	}
	if err := s.obstructed(ctx, tx, r, old.Reservation); err != nil {
		return err
	}
	columns := map[bool]int{true: 1}
	if old.holder == 0 {
		holder := database.Noop{User: "oar", Name: r.Name, Queue: s.queue, Hosts: len(r.Nodes), Walltime: r.End - r.Start, Message: "keeps nodes free for Accordion"}
		if old.holder, err = s.db.Submit(ctx, tx, holder, now); err != nil {
			return err
		}
		query := fmt.Sprintf("INSERT INTO accordion_reservations (name, owner, start_time, end_time, over_managed, idle, holder) VALUES (%s, %s, %d, %d, %d, %d, %d)",
			s.db.Arg(1), s.db.Arg(2), r.Start, r.End, columns[r.OverManaged], r.Idle, old.holder)
		if _, err := tx.ExecContext(ctx, query, r.Name, r.User); err != nil {
			return err
		}
	} else {
		query := fmt.Sprintf("UPDATE accordion_reservations SET owner = %s, start_time = %d, end_time = %d, over_managed = %d, idle = %d WHERE name = %s",
			s.db.Arg(1), r.Start, r.End, columns[r.OverManaged], r.Idle, s.db.Arg(2))
		if _, err := tx.ExecContext(ctx, query, r.User, r.Name); err != nil {
			return err
		}
		if err := s.db.Reshape(ctx, tx, old.holder, len(r.Nodes), r.End-r.Start); err != nil {
			return err
		}
	}
	return s.db.Place(ctx, tx, old.holder, places)
}

// obstructed says who is in the way of r: the reservation of another over one of its nodes, or a holder of one whose
// walltime ends after its start. What the reservation has already was looked at when it came by it.
func (s *System) obstructed(ctx context.Context, tx *sql.Tx, r, old adapter.Reservation) error {
	added := r.Nodes
	if !old.OverManaged && r.Start >= old.Start {
		added = slices.DeleteFunc(slices.Clone(r.Nodes), func(host string) bool { return slices.Contains(old.Nodes, host) })
	}
	if r.OverManaged && old.OverManaged && len(old.Nodes) > 0 && r.Start >= old.Start {
		added = slices.DeleteFunc(slices.Clone(r.Nodes), func(host string) bool { return slices.Contains(old.Nodes, host) })
	}
	others, err := s.closures(ctx, tx)
	if err != nil {
		return err
	}
	for _, o := range others {
		if o.Start < r.End && r.Start < o.End && slices.ContainsFunc(o.Nodes, func(host string) bool { return slices.Contains(added, host) }) {
			return fmt.Errorf("job %s is planned on some of them: %w", strings.TrimPrefix(o.Name, "oar-"), adapter.ErrBusy)
		}
	}
	holders, err := s.records(ctx, tx, isHolding)
	if err != nil {
		return err
	}
	for _, h := range holders {
		if h.besteffort() || h.ends() <= r.Start || h.state == "Finishing" || r.OverManaged && (h.base != 0 || h.known) {
			continue
		}
		for _, host := range h.holds {
			if slices.Contains(added, host) {
				return fmt.Errorf("%s is held by job %d: %w", host, h.ID, adapter.ErrBusy)
			}
		}
	}
	return nil
}

// Unreserve deletes a reservation of ours, with the job that showed it.
func (s *System) Unreserve(ctx context.Context, name string) error {
	if !(adapter.Reservation{Name: name}).Ours() {
		return fmt.Errorf("reservation %q is not ours: not deleted", name)
	}
	err := s.db.Change(ctx, func(tx *sql.Tx) error {
		all, err := s.reservations(ctx, tx, name)
		if err != nil || len(all) == 0 {
			return err
		}
		if err := tables.RemoveJob(ctx, tx, all[0].holder); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM accordion_reservations WHERE name = "+s.db.Arg(1), name)
		return err
	})
	if err != nil {
		return fmt.Errorf("deleting reservation %s: %w", name, err)
	}
	return nil
}
