package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// ErrNoTable means that the table of a lock does not exist.
var ErrNoTable = errors.New("the table does not exist")

// Exclusive runs `do` while it holds a lock. The lock is an INSERT of `row`, such as "locks (number) VALUES (7)". The
// values of `row` are a unique key, so no other transaction can insert the same row. The INSERT is never committed, so
// the lock ends with the session. Only accounts that may write the table can take such a lock. Advisory locks
// (pg_advisory_lock, GET_LOCK), in contrast, are open to every account, and so to SQL that users write.
func (d *DB) Exclusive(ctx context.Context, row string, do func() error) error {
	conn, err := d.locks.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to OAR's database: %w", err)
	}
	defer conn.Close()
	defer d.rollBack(ctx, conn)
	for {
		err := d.insertOpen(ctx, conn, row)
		switch {
		case err == nil:
			return do()
		case d.NoTable(err):
			return fmt.Errorf("locking %s: %w: %w", row, ErrNoTable, err)
		case !d.isConflict(err) || ctx.Err() != nil:
			return fmt.Errorf("waiting for another process that does the same: %w", err)
		}
		d.rollBack(ctx, conn)
	}
}

// insertOpen begins a transaction, inserts the row and leaves the transaction open. If another transaction has
// inserted the same row, insertOpen waits for that transaction, but not longer than our transactions wait for any
// lock.
func (d *DB) insertOpen(ctx context.Context, conn *sql.Conn, row string) error {
	for _, statement := range []string{"BEGIN", d.limits(0), "INSERT INTO " + row} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// rollBack rolls the open transaction back, even if ctx has ended. If that fails, it closes the connection.
func (d *DB) rollBack(ctx context.Context, conn *sql.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if _, err := conn.ExecContext(ctx, "ROLLBACK"); err != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn })
	}
}
