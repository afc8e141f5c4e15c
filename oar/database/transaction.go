package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// Change does something in one transaction, and again when the database ended it because of another one.
func (d *DB) Change(ctx context.Context, do func(*sql.Tx) error) error {
	return untilNoneIsInTheWay(func() error { return d.Transaction(ctx, do) })
}

// untilNoneIsInTheWay tries a transaction up to four times.
func untilNoneIsInTheWay(transaction func() error) error {
	for try := 1; ; try++ {
		err := transaction()
		if err == nil || try == 4 || !clashed(err) {
			return err
		}
	}
}

// AtOneInstant reads what was there at one instant, and again when the database ended the reading: MariaDB does so where one of
// OAR's programs locks several of the tables meanwhile.
func (d *DB) AtOneInstant(ctx context.Context, read func(*sql.Tx) error) error {
	return untilNoneIsInTheWay(func() error {
		tx, err := d.Sql.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
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
	limits := fmt.Sprintf("SET LOCAL lock_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d", patient, d.Abandoned.Milliseconds())
	if d.Conf.Type == "mysql" { // only MariaDB reads what is between the marks
		limits = fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = 1 /*M!100300 , SESSION idle_transaction_timeout = %.0f */", d.Abandoned.Seconds())
	}
	if _, err := tx.ExecContext(ctx, limits); err != nil {
		return err
	}
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// clashed says whether two transactions were in each other's way, and this one gave way: the database chose it to, it has
// waited long enough, or the other was the first to write a row that both looked for in vain.
func clashed(err error) bool {
	var pg *pgconn.PgError
	var my *mysql.MySQLError
	switch {
	case errors.As(err, &pg):
		return slices.Contains([]string{"40001", "40P01", "55P03", "23505"}, pg.Code)
	case errors.As(err, &my):
		return my.Number == 1205 || my.Number == 1213 || my.Number == 1062
	}
	return false
}

// WithLock does something while nobody else does anything under the same lock. It is the connection's, and so let go when this process dies.
func (d *DB) WithLock(ctx context.Context, lock int64, do func() error) error {
	conn, err := d.locks.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to OAR's database: %w", err)
	}
	defer conn.Close()
	take, leave := fmt.Sprintf("SELECT 1 FROM pg_advisory_lock(%d)", lock), fmt.Sprintf("SELECT pg_advisory_unlock(%d)", lock)
	if d.Conf.Type == "mysql" {
		take, leave = fmt.Sprintf("SELECT GET_LOCK('accordion %d', 3600)", lock), fmt.Sprintf("SELECT RELEASE_LOCK('accordion %d')", lock)
	}
	got := 0
	if err := conn.QueryRowContext(ctx, take).Scan(&got); err != nil {
		return fmt.Errorf("waiting for another who does the same: %w", err)
	}
	if got != 1 {
		return errors.New("another who does the same does not come to an end")
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := conn.ExecContext(ctx, leave); err != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // the connection goes, and its lock with it
		}
	}()
	return do()
}
