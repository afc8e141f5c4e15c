package database

import (
	"context"
	"database/sql"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Change runs `do` in a transaction. If that conflicts with another transaction, it runs `do` again in a new one.
func (d *DB) Change(ctx context.Context, do func(*sql.Tx) error) error {
	return d.retryConflicts(ctx, func() error { return d.Transaction(ctx, do) })
}

// IsConflict reports whether a transaction failed because of another one.
func (d *DB) IsConflict(err error) bool { return d.isConflict(err) }

// tries is the maximum number of times that a transaction is tried, with pauses of 50, 200 and 800 ms between the
// tries. Three tries were not enough, because the conflicting transaction may take long.
const tries = 4

// retryConflicts repeats a transaction until it does not conflict with another one.
func (d *DB) retryConflicts(ctx context.Context, transaction func() error) error {
	pauses := &backoff.ExponentialBackOff{InitialInterval: 50 * time.Millisecond, Multiplier: 4, MaxInterval: time.Second}
	_, err := backoff.Retry(ctx, func() (none struct{}, err error) {
		if err = transaction(); err != nil && !d.isConflict(err) {
			err = backoff.Permanent(err)
		}
		return none, err
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(tries))
	return err
}

// AtOneInstant runs `read` in a transaction that sees the database as of one instant. If the database ends the transaction, AtOneInstant
// repeats it. MariaDB ends it if one of OAR's programs locks several of the tables meanwhile. `from` selects the account and is Sql or
// Users.
func (d *DB) AtOneInstant(ctx context.Context, from *sql.DB, read func(*sql.Tx) error) error {
	return d.retryConflicts(ctx, func() error {
		tx, err := from.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		return read(tx)
	})
}

const (
	// lockTimeout is how many milliseconds a transaction of ours waits for a lock. PostgreSQL looks for deadlocks after a second of
	// waiting. Our transactions give up earlier, so that PostgreSQL never ends one of OAR's transactions instead. MariaDB looks for
	// deadlocks immediately, and its timeout is in seconds.
	lockTimeout = 700
	// abandoned is the time after which the database ends an idle transaction of ours. A sidecar that was stopped, or that lost its
	// network, must not hold locks for which OAR's server waits.
	abandoned = 15 * time.Second
)

// Transaction runs `do` in a transaction, and commits all of its changes or none. Each query sees what was committed before the query, in
// both databases.
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
