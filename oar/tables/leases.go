package tables

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"accordion/core"
	"accordion/oar/database"
)

// leases is the table of leases. A lease says which sidecar may act on a queue's jobs, and until which time of the
// database's clock. Sidecars write the table. A pass reads it to know whether a sidecar is alive.
var leases = table{"accordion_leases", `
	queue VARCHAR(120) NOT NULL PRIMARY KEY,
	holder VARCHAR(255) NOT NULL,
	host VARCHAR(255) NOT NULL,
	pid BIGINT NOT NULL,
	journal VARCHAR(255) NOT NULL,
	began BIGINT NOT NULL,
	ends BIGINT NOT NULL
`}

// Lease is a row of the table.
type Lease struct {
	Queue       string
	Holder      string // ID of a sidecar, the same after a restart; "" if the last sidecar released the lease and its reservations stay until Ends
	Host        string
	PID         int
	Journal     string
	Began, Ends core.Time
}

// TakeLease gives the queue's lease to the holder in `l`, for `length` from now on, unless another sidecar has an
// unexpired lease. It returns the resulting lease, which may belong to another sidecar. If an older Accordion was
// installed, it creates the table.
func (d Tables) TakeLease(ctx context.Context, l Lease, length time.Duration) (Lease, error) {
	if err := d.makeLeases(ctx); err != nil {
		return Lease{}, err
	}
	return d.lease(ctx, l, length, "holder = %[1]s OR holder = '' OR ends <= %[2]d")
}

// SeizeLease gives the lease to the holder in `l` even if another sidecar has it.
func (d Tables) SeizeLease(ctx context.Context, l Lease, length time.Duration) (Lease, error) {
	if err := d.makeLeases(ctx); err != nil {
		return Lease{}, err
	}
	return d.lease(ctx, l, length, "holder = %[1]s OR ends > 0")
}

// lease executes one conditional statement and returns the resulting lease. The condition may use
// %[1]s for the holder and %[2]d for the present Unix second of the database's clock.
func (d Tables) lease(ctx context.Context, l Lease, length time.Duration, may string) (now Lease, err error) {
	err = d.Change(ctx, func(tx *sql.Tx) error {
		second, err := d.Second(ctx, tx)
		if err != nil {
			return err
		}
		ends := second + core.Time(length/time.Second)
		row := fmt.Sprintf("accordion_leases (queue, holder, host, pid, journal, began, ends) VALUES (%s, %s, %s, %d, %s, %d, %d)",
			d.Arg(1), d.Arg(2), d.Arg(3), l.PID, d.Arg(4), second, ends)
		if _, err := tx.ExecContext(ctx, d.InsertOnce(row), l.Queue, l.Holder, l.Host, l.Journal); err != nil {
			return fmt.Errorf("taking the lease: %w", err)
		}
		// MariaDB evaluates assignments from left to right. So `began` comes first, because it needs the old holder.
		update := fmt.Sprintf(`UPDATE accordion_leases SET began = CASE WHEN holder = %s THEN began ELSE %d END, holder = %s, host = %s, pid = %d, journal = %s, ends = %d
			WHERE queue = %s AND (%s)`, d.Arg(1), second, d.Arg(2), d.Arg(3), l.PID, d.Arg(4), ends, d.Arg(5), fmt.Sprintf(may, d.Arg(6), second))
		if _, err := tx.ExecContext(ctx, update, l.Holder, l.Holder, l.Host, l.Journal, l.Queue, l.Holder); err != nil {
			return fmt.Errorf("taking the lease: %w", err)
		}
		now, err = d.leaseOf(ctx, tx, l.Queue)
		return err
	})
	return now, err
}

// leaseOf reads a queue's lease. It returns the zero Lease if there is none.
func (d Tables) leaseOf(ctx context.Context, from database.Querier, queue string) (l Lease, err error) {
	query := "SELECT queue, holder, host, pid, journal, began, ends FROM accordion_leases WHERE queue = " + d.Arg(1)
	err = database.Rows(ctx, from, "the lease", query, []any{queue}, func(r *sql.Rows) error {
		return r.Scan(&l.Queue, &l.Holder, &l.Host, &l.PID, &l.Journal, &l.Began, &l.Ends)
	})
	return l, err
}

// Leased reports whether a sidecar has the queue's lease at a second of the database's clock.
func (d Tables) Leased(ctx context.Context, queue string, now core.Time) (bool, error) {
	there, err := d.exist(ctx, d.Sql, leases)
	if err != nil || !there {
		return false, err
	}
	l, err := d.leaseOf(ctx, d.Sql, queue)
	return l.Holder != "" && l.Ends > now, err
}

// LeaseOf reads a queue's lease. It returns the zero Lease if there is none.
func (d Tables) LeaseOf(ctx context.Context, queue string) (Lease, error) {
	there, err := d.exist(ctx, d.Sql, leases)
	if err != nil || !there {
		return Lease{}, err
	}
	return d.leaseOf(ctx, d.Sql, queue)
}

// LeaveLease ends the holder's lease. It does nothing if another sidecar has the lease. For the duration `keep` the row stays, without a
// holder.
func (d Tables) LeaveLease(ctx context.Context, queue, holder string, keep time.Duration) error {
	return d.Change(ctx, func(tx *sql.Tx) error {
		second, err := d.Second(ctx, tx)
		if err != nil {
			return err
		}
		query := fmt.Sprintf("DELETE FROM accordion_leases WHERE queue = %s AND holder = %s", d.Arg(1), d.Arg(2))
		if keep > 0 {
			query = fmt.Sprintf("UPDATE accordion_leases SET holder = '', ends = %d WHERE queue = %s AND holder = %s",
				second+core.Time(keep/time.Second), d.Arg(1), d.Arg(2))
		}
		_, err = tx.ExecContext(ctx, query, queue, holder)
		return err
	})
}

// makeLeases creates the table if it does not exist.
func (d Tables) makeLeases(ctx context.Context) error {
	there, err := d.exist(ctx, d.Sql, leases)
	if err != nil || there {
		return err
	}
	return d.create(ctx, leases)
}
