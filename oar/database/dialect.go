package database

import (
	"context"
	"database/sql"
	"time"

	"accordion/oar/conf"
)

// A Dialect is what PostgreSQL and MariaDB do each in its own way. Whoever writes a query for both asks it, and never which of
// the two it is.
type Dialect interface {
	// Arg is the place of the n-th argument, from 1.
	Arg(n int) string
	// Quoted is a column's name as the database wants it.
	Quoted(name string) string
	// OwnSchema is what information_schema calls the place of OAR's tables, after "table_schema = ".
	OwnSchema() string
	// TableOptions stand behind what makes a table: what a transaction wrote in it appears together.
	TableOptions() string
	// Microseconds is the query for the database's clock in millionths of a second.
	Microseconds() string
	// StatementLimit ends the statements of a transaction that take longer; Overran says that one was ended by it.
	StatementLimit(patience time.Duration) string
	Overran(err error) bool
	// NoTable reports whether an error says that a table does not exist.
	NoTable(err error) bool
	// Renew returns the statement that resets a session; "": no statement does.
	Renew() string
	// InsertOnce is the INSERT of a row that may be there already.
	InsertOnce(row string) string

	// TellsChanges says whether triggers can tell whoever listens what has changed.
	TellsChanges() bool
	// OARLocksTables says whether OAR's programs lock whole tables, some of them while they wait for others.
	OARLocksTables() bool
	// HoldPlan keeps OAR's plan as it is until the transaction is over, or says that somebody is writing it: who does is not
	// waited for. A pass begins by throwing the plan away, and would then not see rows that are written while it waits for ours.
	HoldPlan(ctx context.Context, tx *sql.Tx) (bool, error)

	connect(conf conf.Conf, who conf.Login) (*sql.DB, error)
	// connectUsers connects with the account that may only read, for sessions that Renew resets.
	connectUsers(conf conf.Conf) (*sql.DB, error)
	changes(ctx context.Context, conf conf.Conf, call func()) error
	// seconds is the query for the database's clock.
	seconds() string
	// insertNumbered carries out an INSERT and gives the number that the database put into a column.
	insertNumbered(ctx context.Context, tx *sql.Tx, insert, column string, values []any) (int64, error)
	// limits bound how long a transaction of ours waits for a lock, and how long it may ask for nothing.
	limits(abandoned time.Duration) string
	// interrupted reports whether another session ended a statement or its session.
	interrupted(err error) bool
	// manyJobs is said before many jobs are read; "": nothing has to be.
	manyJobs() string
	// gaveWay says whether two transactions were in each other's way, and this one gave way: the database chose it to, it has
	// waited long enough, or the other was the first to write a row that both looked for in vain.
	gaveWay(err error) bool
	// misreadsTypes says whether this release of OAR takes jobs' types of the kind inner wrongly (see Noop).
	misreadsTypes(ctx context.Context, from Querier) (bool, error)
}

// DialectOf is the one of a configuration's database.
func DialectOf(conf conf.Conf) Dialect {
	if conf.Type == "mysql" {
		return mariaDB{}
	}
	return postgreSQL{}
}
