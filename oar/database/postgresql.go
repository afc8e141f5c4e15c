package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"accordion/oar/conf"
)

type postgreSQL struct{}

func (postgreSQL) Arg(n int) string          { return "$" + strconv.Itoa(n) }
func (postgreSQL) Quoted(name string) string { return `"` + name + `"` }
func (postgreSQL) OwnSchema() string         { return "ANY (current_schemas(false))" }
func (postgreSQL) TableOptions() string      { return "" }
func (postgreSQL) NotifiesChanges() bool     { return true }
func (postgreSQL) OARLocksTables() bool      { return false }

func (postgreSQL) seconds() string {
	return "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp())) AS BIGINT)"
}

func (postgreSQL) Microseconds() string {
	return "SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000000"
}

func (postgreSQL) StatementLimit(patience time.Duration) string {
	return fmt.Sprintf("SET LOCAL statement_timeout = %d", patience.Milliseconds())
}

func (postgreSQL) Overran(err error) bool { return strings.Contains(err.Error(), "statement timeout") }

func (postgreSQL) insertNumbered(ctx context.Context, tx *sql.Tx, insert, column string, values []any) (number int64, err error) {
	err = tx.QueryRowContext(ctx, insert+" RETURNING "+column, values...).Scan(&number)
	return number, err
}

func (postgreSQL) InsertOnce(row string) string {
	return "INSERT INTO " + row + " ON CONFLICT DO NOTHING"
}

func (postgreSQL) limits(abandoned time.Duration) string {
	return fmt.Sprintf("SET LOCAL lock_timeout = %d; SET LOCAL idle_in_transaction_session_timeout = %d", lockTimeout, abandoned.Milliseconds())
}

func (postgreSQL) NoTable(err error) bool { return postgreSQLSays(err, "42P01") }

// interrupted reports whether another session ended the statement. Any session of a role may end other sessions of the same role
// (pg_cancel_backend, pg_terminate_backend).
func (p postgreSQL) interrupted(err error) bool {
	return postgreSQLSays(err, "57014", "57P01") && !p.Overran(err)
}

// postgreSQLSays reports whether an error is PostgreSQL's and has one of the codes.
func postgreSQLSays(err error, codes ...string) bool {
	var said *pgconn.PgError
	return errors.As(err, &said) && slices.Contains(codes, said.Code)
}

// manyJobs returns the statement that disables nested loops. Without statistics about the number of jobs, PostgreSQL would look up the rows
// of each job separately, which took a minute for 2,000 jobs.
func (postgreSQL) manyJobs() string { return "SET LOCAL enable_nestloop = off" }

// lockNotAvailable is PostgreSQL's error code for a lock that was not granted immediately or in time.
const lockNotAvailable = "55P03"

func (postgreSQL) isConflict(err error) bool {
	return postgreSQLSays(err, "40001", "40P01", lockNotAvailable, "23505")
}

// misreadsTypes returns true for OAR 2.6. That release is recognized by the version of its tables, 2.5.10.
func (postgreSQL) misreadsTypes(ctx context.Context, from Querier) (misreads bool, err error) {
	err = Rows(ctx, from, "the form of OAR's tables", "SELECT version FROM schema", nil, func(r *sql.Rows) error {
		var version string
		err := r.Scan(&version)
		form := make([]int, 3)
		if _, failed := fmt.Sscanf(version, "%d.%d.%d", &form[0], &form[1], &form[2]); failed == nil {
			misreads = slices.Compare(form, []int{2, 5, 10}) >= 0
		}
		return err
	})
	return misreads, err
}

// HoldPlan locks the whole table. A DELETE that has waited for the lock of a table also deletes the rows that were
// added meanwhile. A DELETE that has waited for the lock of a row does not delete them.
func (postgreSQL) HoldPlan(ctx context.Context, tx *sql.Tx) (bool, error) {
	const doing = "holding OAR's plan"
	if err := Run(ctx, tx, doing, "SAVEPOINT before_the_plan"); err != nil {
		return false, err
	}
	err := Run(ctx, tx, doing, "LOCK TABLE gantt_jobs_predictions IN SHARE ROW EXCLUSIVE MODE NOWAIT")
	if postgreSQLSays(err, lockNotAvailable) {
		return false, Run(ctx, tx, doing, "ROLLBACK TO SAVEPOINT before_the_plan")
	}
	return err == nil, err
}

func (p postgreSQL) connect(conf conf.Conf, who conf.Login) (*sql.DB, error) {
	config, err := p.config(conf, who)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*config), nil
}

// connectUsers connects without prepared statements. Resetting a session removes its prepared statements, so the driver must not keep any.
func (p postgreSQL) connectUsers(conf conf.Conf) (*sql.DB, error) {
	config, err := p.config(conf, conf.ReadOnly)
	if err != nil {
		return nil, err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	return stdlib.OpenDB(*config), nil
}

func (postgreSQL) ResetStatement() string { return "DISCARD ALL" }

func (postgreSQL) config(conf conf.Conf, who conf.Login) (*pgx.ConnConfig, error) {
	where := url.URL{Scheme: "postgres", User: url.UserPassword(who.User, who.Password), Host: address(conf), Path: conf.Database,
		RawQuery: "sslmode=prefer&connect_timeout=5"}
	config, err := pgx.ParseConfig(where.String())
	if err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL at %s: %w", address(conf), err)
	}
	return config, nil
}

// changes calls `call` for each notification, until the connection breaks.
func (p postgreSQL) changes(ctx context.Context, conf conf.Conf, call func()) error {
	config, err := p.config(conf, conf.Login)
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connecting to listen: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, "LISTEN "+Channel); err != nil {
		return fmt.Errorf("listening on channel %s: %w", Channel, err)
	}
	call() // changes may have happened before the LISTEN
	for {
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return fmt.Errorf("listening on channel %s: %w", Channel, err)
		}
		call()
	}
}
