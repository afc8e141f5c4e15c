package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrSlow reports that SQL which a user wrote takes longer than it may.
var ErrSlow = errors.New("it takes too long")

// ResourceCondition joins the properties of a job and of one part of its request, both SQL that users wrote, to the
// condition that resources must meet.
func ResourceCondition(job, part string) string { return condition(job) + " AND " + condition(part) }

// condition returns SQL that a user wrote as a part of a condition.
func condition(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(1 = 1)"
	}
	return "(" + text + ")"
}

// Eligible returns a column of the resources that match wanted. It asks with the account that may only read, in a reset
// session, in a transaction that can change nothing and ends in time. The error is ErrSlow when it takes too long; any
// other error is in the database's own words. A query that another session of the account interrupts is repeated once:
// another user's SQL can interrupt it.
func Eligible[T any](ctx context.Context, d *DB, column, wanted string, patience time.Duration) ([]T, error) {
	found, err := eligible[T](ctx, d, column, wanted, patience)
	if err != nil && d.interrupted(err) && ctx.Err() == nil {
		return eligible[T](ctx, d, column, wanted, patience)
	}
	return found, err
}

// eligible asks once.
func eligible[T any](ctx context.Context, d *DB, column, wanted string, patience time.Duration) ([]T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, ErrSlow)
	defer cancel()
	conn, err := d.Users.Conn(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting as the account that may only read: %w", err)
	}
	defer conn.Close()
	defer d.resetSession(ctx, conn)
	tx, err := conn.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("querying as the account that may only read: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err = tx.ExecContext(ctx, d.StatementLimit(patience)); err != nil {
		return nil, fmt.Errorf("limiting the time of a request's properties: %w", err)
	}
	found, err := Column[T](ctx, tx, "properties", "SELECT "+column+" FROM resources WHERE "+wanted)
	switch {
	case err == nil:
		return found, nil
	case errors.Is(context.Cause(ctx), ErrSlow), d.Overran(err):
		return nil, ErrSlow
	}
	return nil, errors.Unwrap(err)
}

// resetSession removes what a user's SQL has left in a session (locks, variables), or closes the session, because the
// next query runs another user's SQL.
func (d *DB) resetSession(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if statement := d.ResetStatement(); statement != "" {
		if _, err := conn.ExecContext(ctx, statement); err == nil {
			return
		}
	}
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}
