package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"accordion/oar/conf"
)

type mariaDB struct{}

func (mariaDB) Arg(int) string               { return "?" }
func (mariaDB) Quoted(name string) string    { return "`" + name + "`" }
func (mariaDB) OwnSchema() string            { return "DATABASE()" }
func (mariaDB) TableOptions() string         { return " ENGINE = InnoDB" }
func (mariaDB) NotifiesChanges() bool        { return false }
func (mariaDB) OARLocksTables() bool         { return true }
func (mariaDB) seconds() string              { return "SELECT UNIX_TIMESTAMP()" }
func (mariaDB) Microseconds() string         { return "SELECT UNIX_TIMESTAMP(NOW(6)) * 1000000" }
func (mariaDB) InsertOnce(row string) string { return "INSERT IGNORE INTO " + row }
func (mariaDB) manyJobs() string             { return "" }

func (mariaDB) StatementLimit(patience time.Duration) string {
	return fmt.Sprintf("SET SESSION max_statement_time = %.3f", patience.Seconds())
}

func (mariaDB) Overran(err error) bool { return strings.Contains(err.Error(), "max_statement_time") }

func (mariaDB) insertNumbered(ctx context.Context, tx *sql.Tx, insert, _ string, values []any) (int64, error) {
	done, err := tx.ExecContext(ctx, insert, values...)
	if err != nil {
		return 0, err
	}
	return done.LastInsertId()
}

// limits hides the second setting from MySQL, which has no such setting: only MariaDB executes the text between the
// marks.
func (mariaDB) limits(abandoned time.Duration) string {
	return fmt.Sprintf("SET SESSION innodb_lock_wait_timeout = 1 /*M!100300 , SESSION idle_transaction_timeout = %.0f */", abandoned.Seconds())
}

func (mariaDB) NoTable(err error) bool { return mariaDBSays(err, 1146) }

// interrupted returns false. In MariaDB only a statement can end another session, and the SQL of users is an expression.
func (mariaDB) interrupted(error) bool { return false }

// mariaDBSays reports whether an error is MariaDB's and has one of the numbers.
func mariaDBSays(err error, numbers ...uint16) bool {
	var said *mysql.MySQLError
	return errors.As(err, &said) && slices.Contains(numbers, said.Number)
}

func (mariaDB) misreadsTypes(context.Context, Querier) (bool, error) { return false, nil }

func (mariaDB) isConflict(err error) bool {
	return mariaDBSays(err, 1205, 1213, 1062)
}

// HoldPlan does nothing. A pass locks the table of jobs, and so waits for this transaction, which has read a row of
// that table.
func (mariaDB) HoldPlan(context.Context, *sql.Tx) (bool, error) { return true, nil }

func (mariaDB) connect(conf conf.Conf, who conf.Login) (*sql.DB, error) {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = who.User, who.Password, "tcp", address(conf), conf.Database
	c.Timeout, c.Logger = 5*time.Second, silent{}
	made, err := mysql.NewConnector(c)
	if err != nil {
		return nil, fmt.Errorf("connecting to MariaDB at %s: %w", address(conf), err)
	}
	return sql.OpenDB(made), nil
}

func (m mariaDB) connectUsers(conf conf.Conf) (*sql.DB, error) { return m.connect(conf, conf.ReadOnly) }

func (mariaDB) ResetStatement() string { return "" }

// silent is a logger that discards the driver's messages, because the returned errors contain them too.
type silent struct{}

func (silent) Print(...any) {}

const (
	pollEvery   = time.Second      // interval between polls, because MariaDB sends no notifications
	pollTimeout = 10 * time.Second // deadline of one poll
)

// changes polls the newest entries, and calls `call` when they differ from the entries of the last poll.
func (m mariaDB) changes(ctx context.Context, conf conf.Conf, call func()) error {
	db, err := m.connect(conf, conf.Login)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	seen := [2]int64{-1, -1}
	for late := false; ; {
		now, err := newest(ctx, db)
		if err != nil {
			return err
		}
		changed := now != seen
		if changed || late { // `call` is called again one poll later, because oarsub writes its entry shortly before the job waits
			call()
		}
		seen, late = now, changed
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// newest returns the numbers of the newest entries of both logs of states. It reads only the ends of two indexes.
func newest(ctx context.Context, db *sql.DB) (numbers [2]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	err = db.QueryRowContext(ctx, `SELECT (SELECT COALESCE(MAX(job_state_log_id), 0) FROM job_state_logs),
		(SELECT COALESCE(MAX(resource_log_id), 0) FROM resource_logs)`).Scan(&numbers[0], &numbers[1])
	if err != nil {
		return numbers, fmt.Errorf("asking for the newest changes: %w", err)
	}
	return numbers, nil
}
