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

// ErrSlow means that SQL which a user wrote exceeded its time limit.
var ErrSlow = errors.New("it takes too long")

// ResourceCondition returns the condition that resources must meet for a part of a job's request. It combines the properties of the job and
// of the part, both of which are SQL that users wrote.
func ResourceCondition(job, part string) string { return condition(job) + " AND " + condition(part) }

// condition makes SQL that a user wrote safe to be combined with other conditions.
func condition(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(1 = 1)"
	}
	return "(" + text + ")"
}

// Eligible returns a column of the resources that match `wanted`. It uses the read-only account, a reset session, and a read-only
// transaction with a time limit. The error is ErrSlow if the query exceeds `patience`; any other error is the database's. Another user's
// SQL can interrupt the query from another session of the account, so an interrupted query is repeated once.
func Eligible[T any](ctx context.Context, d *DB, column, wanted string, patience time.Duration) ([]T, error) {
	found, err := eligible[T](ctx, d, column, wanted, patience)
	if err != nil && d.interrupted(err) && ctx.Err() == nil {
		return eligible[T](ctx, d, column, wanted, patience)
	}
	return found, err
}

// eligible does what Eligible does, but repeats no query.
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
