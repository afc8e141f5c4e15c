// Package database is OAR's database, PostgreSQL or MariaDB: connections, transactions, and OAR's own tables, read and written
// as OAR's own programs do it. What Accordion keeps there is in package tables.
//
//	db, err := database.Open(conf)
//	err = db.Change(ctx, func(tx *sql.Tx) error { return db.Frag(ctx, tx, now, job) })
//
//	database.go     connections
//	rows.go         queries, and what their rows hold
//	dialect.go      what the databases do each in its own way: postgresql.go, mariadb.go
//	transaction.go  transactions, made again where one gave way
//	exclusive.go    what one process does at a time
//	changes.go      word of changes
//	noop.go         jobs that only occupy nodes; jobs asked to end
//	nodes.go        nodes and their resources; queues.go; states.go
//	pairinsert.go   many rows in a statement
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

// DB is OAR's database, PostgreSQL or MariaDB. Its queries are written for both: numbers that Accordion computes are in
// their text, strings are arguments, and the Dialect covers the differences.
type DB struct {
	Dialect
	Conf  conf.Conf
	Sql   *sql.DB
	Users *sql.DB // with the account that may only read: for SQL that users wrote
	locks *sql.DB // connections that hold locks while something else is awaited

	Abandoned time.Duration // after how long an idle transaction is ended
	misreads  bool          // OAR misreads types: see ReadRelease
}

// Open prepares the connections. The first query opens them.
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

// On returns the database for open handles: full for the account that may write, users for the one that may only read,
// and locks for Exclusive.
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

// Run executes statements without arguments. doing describes them in errors.
func Run(ctx context.Context, tx *sql.Tx, doing string, statements ...string) error {
	for _, one := range statements {
		if _, err := tx.ExecContext(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	return nil
}
