// Package database provides access to OAR's database, PostgreSQL or MariaDB. It has connections, transactions, and OAR's own tables, which
// it reads and writes like OAR's own programs. Accordion's own tables are in package tables.
//
//	db, err := database.Open(conf)
//	err = db.Change(ctx, func(tx *sql.Tx) error { return db.Frag(ctx, tx, now, job) })
//
//	database.go     connections
//	rows.go         queries and their results
//	dialect.go      differences between the databases; postgresql.go, mariadb.go
//	transaction.go  transactions, repeated after conflicts
//	exclusive.go    operations that one process does at a time
//	changes.go      notifications of changes
//	noop.go         jobs that only occupy nodes; requests to end jobs
//	nodes.go        nodes and their resources; queues.go; states.go
//	pairinsert.go   statements that insert many rows
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"accordion/core"

	"accordion/oar/conf"
)

// DB is OAR's database, PostgreSQL or MariaDB. Its queries work on both. Numbers that Accordion computes are part of a query's text,
// strings are arguments, and the Dialect covers the differences.
type DB struct {
	Dialect
	Conf  conf.Conf
	Sql   *sql.DB
	Users *sql.DB // connections with the read-only account, for SQL that users wrote
	locks *sql.DB // connections that hold locks during long operations

	Abandoned time.Duration // the time after which the database ends an idle transaction
	misreads  bool          // this release of OAR misreads job types (see Noop)
}

// Open prepares the connections. They are opened by their first queries.
func Open(conf conf.Conf) (*DB, error) {
	dialect := DialectOf(conf)
	full, err := dialect.connect(conf, conf.Login)
	if err != nil {
		return nil, err
	}
	users, err := dialect.connectUsers(conf)
	if err != nil {
		return nil, errors.Join(err, full.Close())
	}
	locks, err := dialect.connect(conf, conf.Login)
	if err != nil {
		return nil, errors.Join(err, full.Close(), users.Close())
	}
	return On(conf, full, users, locks), nil
}

// On returns a DB for open handles. `full` belongs to the account that may write, `users` to the read-only account, and `locks` is for
// Exclusive.
func On(conf conf.Conf, full, users, locks *sql.DB) *DB {
	full.SetMaxOpenConns(1)
	users.SetMaxOpenConns(1)
	return &DB{Dialect: DialectOf(conf), Conf: conf, Sql: full, Users: users, locks: locks, Abandoned: abandoned}
}

func address(conf conf.Conf) string { return net.JoinHostPort(conf.Host, strconv.Itoa(conf.Port)) }

// Close closes all connections.
func (d *DB) Close() error {
	return errors.Join(d.Users.Close(), d.locks.Close(), d.Sql.Close())
}

// Second returns the time of the database's clock, which OAR's own programs use.
func (d *DB) Second(ctx context.Context, from Querier) (core.Time, error) {
	return Value[core.Time](ctx, from, "the database's clock", d.seconds())
}

// insert adds a row and returns the number that the database assigned to it.
func (d *DB) insert(ctx context.Context, tx *sql.Tx, table, id, columns string, values ...any) (int64, error) {
	places := make([]string, len(values))
	for i := range values {
		places[i] = d.Arg(i + 1)
	}
	return d.insertNumbered(ctx, tx, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, columns, strings.Join(places, ", ")), id, values)
}

// Run executes statements without arguments. `doing` describes the statements in errors.
func Run(ctx context.Context, tx *sql.Tx, doing string, statements ...string) error {
	for _, one := range statements {
		if _, err := tx.ExecContext(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	return nil
}
