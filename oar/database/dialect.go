package database

import (
	"context"
	"database/sql"
	"time"

	"accordion/oar/conf"
)

// A Dialect covers the differences between PostgreSQL and MariaDB. Queries for both use its methods and never check
// which of the two it is.
type Dialect interface {
	// Arg returns the placeholder of the n-th argument, from 1.
	Arg(n int) string
	// Quoted returns a column's name in the database's quotes.
	Quoted(name string) string
	// OwnSchema returns the schema of OAR's tables, for "table_schema = " in queries of information_schema.
	OwnSchema() string
	// TableOptions returns the end of a CREATE TABLE statement, which makes the table support transactions.
	TableOptions() string
	// Microseconds returns the query for the database's clock in microseconds.
	Microseconds() string
	// StatementLimit returns a statement that limits the time of each later statement of the transaction. Overran reports whether an error
	// is the consequence of that limit.
	StatementLimit(patience time.Duration) string
	Overran(err error) bool
	// NoTable reports whether an error says that a table does not exist.
	NoTable(err error) bool
	// ResetStatement returns the statement that resets a session, or "" if the database has none.
	ResetStatement() string
	// InsertOnce returns an INSERT that does nothing if the row exists already.
	InsertOnce(row string) string

	// NotifiesChanges reports whether triggers can notify listeners of changes.
	NotifiesChanges() bool
	// OARLocksTables reports whether OAR's programs lock whole tables, and hold some of these locks while they wait
	// for other locks.
	OARLocksTables() bool
	// HoldPlan keeps OAR's plan unchanged until the transaction ends. It returns false, without waiting, if another
	// transaction is writing the plan. A pass begins by deleting the plan. Without HoldPlan the pass would wait for
	// our transaction, and would then not delete the rows that our transaction has added.
	HoldPlan(ctx context.Context, tx *sql.Tx) (bool, error)

	connect(conf conf.Conf, who conf.Login) (*sql.DB, error)
	// connectUsers connects with the read-only account, for sessions that ResetStatement resets.
	connectUsers(conf conf.Conf) (*sql.DB, error)
	changes(ctx context.Context, conf conf.Conf, call func()) error
	// seconds returns the query for the database's clock in seconds.
	seconds() string
	// insertNumbered executes an INSERT and returns the number that the database assigned to the column.
	insertNumbered(ctx context.Context, tx *sql.Tx, insert, column string, values []any) (int64, error)
	// limits returns the statement that bounds how long our transaction waits for a lock, and how long it may be idle.
	limits(abandoned time.Duration) string
	// interrupted reports whether the error means that another session ended the statement or its session.
	interrupted(err error) bool
	// manyJobs returns the statement to execute before many jobs are read, or "" if none is needed.
	manyJobs() string
	// isConflict reports whether the transaction failed because of another transaction. The database ended it to resolve a deadlock, or it
	// waited too long for a lock, or the other transaction inserted the same row first.
	isConflict(err error) bool
	// misreadsTypes reports whether this release of OAR misreads the job type inner (see Noop).
	misreadsTypes(ctx context.Context, from Querier) (bool, error)
}

// DialectOf returns the dialect of the configured database.
func DialectOf(conf conf.Conf) Dialect {
	if conf.Type == "mysql" {
		return mariaDB{}
	}
	return postgreSQL{}
}
