package database

import (
	"context"
	"database/sql"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Change does something in one transaction, and again when the database ended it because of another one.
func (d *DB) Change(ctx context.Context, do func(*sql.Tx) error) error {
	return d.untilNoneIsInTheWay(ctx, func() error { return d.Transaction(ctx, do) })
}

// GaveWay reports whether a transaction failed because another was in its way.
func (d *DB) GaveWay(err error) bool { return d.gaveWay(err) }

// tries is how often a transaction that gave way is tried, with pauses of 50, 200 and 800 ms. The other one takes a while: three times in a
// row it was still there.
const tries = 4

// untilNoneIsInTheWay tries a transaction until it no longer gives way.
func (d *DB) untilNoneIsInTheWay(ctx context.Context, transaction func() error) error {
	pauses := &backoff.ExponentialBackOff{InitialInterval: 50 * time.Millisecond, Multiplier: 4, MaxInterval: time.Second}
	_, err := backoff.Retry(ctx, func() (none struct{}, err error) {
		if err = transaction(); err != nil && !d.gaveWay(err) {
			err = backoff.Permanent(err)
		}
		return none, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(tries))
	return err
}

// AtOneInstant reads what was there at one instant, and again when the database ended the reading: MariaDB does so where one of
// OAR's programs locks several of the tables meanwhile. From is whose account reads: Sql or Users.
func (d *DB) AtOneInstant(ctx context.Context, from *sql.DB, read func(*sql.Tx) error) error {
	return d.untilNoneIsInTheWay(ctx, func() error {
		tx, err := from.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		return read(tx)
	})
}

const (
	// patient is for how many milliseconds a transaction of ours waits for OAR's: for less than PostgreSQL waits before it looks who
	// must give way (a second), so that it is never one of OAR's programs. MariaDB looks at once, and counts in seconds.
	patient = 700
	// abandoned is after how long the database ends a transaction of ours that asks for nothing more: a sidecar that was stopped, or
	// cut off, must not keep what OAR's server waits for.
	abandoned = 15 * time.Second
)

// Transaction commits what do has done, or nothing of it. Each query sees what was committed before it, whatever the database.
func (d *DB) Transaction(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := d.Sql.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, d.limits(d.Abandoned)); err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}
