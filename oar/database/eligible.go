package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrSlow is of a user's text that takes longer than it may.
var ErrSlow = errors.New("it takes too long")

// Wanted is what a job's properties and those of a part of its request, both SQL that users wrote, together want of resources.
func Wanted(job, part string) string { return condition(job) + " AND " + condition(part) }

// condition is a user's text as a part of a condition.
func condition(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(1 = 1)"
	}
	return "(" + text + ")"
}

// Eligible gives a column of the resources that are so wanted. The account that may only read asks, in a transaction that can change
// nothing and ends in time. ErrSlow when it does not; any other error is in the database's own words.
func Eligible[T any](ctx context.Context, d *DB, column, wanted string, patience time.Duration) ([]T, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, ErrSlow)
	defer cancel()
	tx, err := d.Users.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("asking as the account that may only read: %w", err)
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
