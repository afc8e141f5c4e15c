package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// change does something in one transaction, and again when the database ended it because of another one.
func (d *database) change(ctx context.Context, do func(*sql.Tx) error) error {
	return untilNoneIsInTheWay(func() error { return d.transaction(ctx, do) })
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

// atOneInstant reads what was there at one instant, and again when the database ended the reading: MariaDB does so where one of
// OAR's programs locks several of the tables meanwhile.
func (d *database) atOneInstant(ctx context.Context, read func(*sql.Tx) error) error {
	return untilNoneIsInTheWay(func() error {
		tx, err := d.sql.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		return read(tx)
	})
}

// patient is for how many milliseconds a transaction of ours waits for OAR's: for less than PostgreSQL waits before it looks who
// must give way (a second), so that it is never one of OAR's programs.
const patient = 700

// transaction commits what do has done, or nothing of it. Each query sees what was committed before it, whatever the database.
func (d *database) transaction(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := d.sql.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if d.conf.Type != "mysql" {
		if _, err := tx.ExecContext(ctx, fmt.Sprintf("SET LOCAL lock_timeout = %d", patient)); err != nil {
			return err
		}
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
