// Package database is OAR's database, PostgreSQL or MariaDB: connections, transactions, and OAR's own tables, read and written
// as OAR's own programs do it. What Accordion keeps there is in package tables.
//
//	db, err := database.Open(conf)
//	err = db.Change(ctx, func(tx *sql.Tx) error { return db.Frag(ctx, tx, now, job) })
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"accordion/core"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"accordion/oar/conf"
)

// DB is OAR's, whichever it is. Its queries are written for both: numbers of ours stand in them as they are, text is
// an argument, and arg gives its place.
type DB struct {
	Conf  conf.Conf
	Sql   *sql.DB
	Users *sql.DB // with the account that may only read: for text that users wrote
	locks *sql.DB // whose connections hold locks while something else is waited for

	Abandoned time.Duration // how long a transaction may be left alone
	Dialect   dialect       // of the jobs that are written
}

// Open prepares the connections; the first query makes them.
func Open(conf conf.Conf) (*DB, error) {
	full, err := Connector(conf, conf.Login)
	if err != nil {
		return nil, err
	}
	users, err := Connector(conf, conf.ReadOnly)
	if err != nil {
		return nil, errors.Join(err, full.Close())
	}
	locks, err := Connector(conf, conf.Login)
	if err != nil {
		return nil, errors.Join(err, full.Close(), users.Close())
	}
	full.SetMaxOpenConns(1)
	users.SetMaxOpenConns(1)
	return &DB{Conf: conf, Sql: full, Users: users, locks: locks, Abandoned: abandoned}, nil
}

func Connector(conf conf.Conf, who conf.Login) (*sql.DB, error) {
	address := net.JoinHostPort(conf.Host, strconv.Itoa(conf.Port))
	if conf.Type == "mysql" {
		c := mysql.NewConfig()
		c.User, c.Passwd, c.Net, c.Addr, c.DBName = who.User, who.Password, "tcp", address, conf.Database
		c.Timeout, c.Logger = 5*time.Second, silent{}
		made, err := mysql.NewConnector(c)
		if err != nil {
			return nil, fmt.Errorf("connecting to MariaDB at %s: %w", address, err)
		}
		return sql.OpenDB(made), nil
	}
	config, err := Postgres(conf, who)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*config), nil
}

// Postgres says how PostgreSQL is connected to.
func Postgres(conf conf.Conf, who conf.Login) (*pgx.ConnConfig, error) {
	address := net.JoinHostPort(conf.Host, strconv.Itoa(conf.Port))
	dsn := url.URL{Scheme: "postgres", User: url.UserPassword(who.User, who.Password), Host: address, Path: conf.Database,
		RawQuery: "sslmode=prefer&connect_timeout=5"}
	config, err := pgx.ParseConfig(dsn.String())
	if err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL at %s: %w", address, err)
	}
	return config, nil
}

// silent takes what the driver would print by itself: the errors say it too.
type silent struct{}

func (silent) Print(...any) {}

func (d *DB) Close() error {
	return errors.Join(d.Users.Close(), d.locks.Close(), d.Sql.Close())
}

// Arg is the place of the n-th argument, from 1.
func (d *DB) Arg(n int) string {
	if d.Conf.Type == "mysql" {
		return "?"
	}
	return "$" + strconv.Itoa(n)
}

// Querier is what a query is put to: a database or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Rows runs a query and gives each row to scan.
func Rows(ctx context.Context, from Querier, what, query string, args []any, scan func(*sql.Rows) error) error {
	found, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	defer found.Close()
	for found.Next() {
		if err := scan(found); err != nil {
			return fmt.Errorf("reading %s: %w", what, err)
		}
	}
	if err := found.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	return nil
}

// Second is the database's second: the one that OAR's own programs write.
func (d *DB) Second(ctx context.Context, from Querier) (core.Time, error) {
	query := "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp())) AS BIGINT)"
	if d.Conf.Type == "mysql" {
		query = "SELECT UNIX_TIMESTAMP()"
	}
	var now core.Time
	err := Rows(ctx, from, "the database's clock", query, nil, func(r *sql.Rows) error { return r.Scan(&now) })
	return now, err
}

// insert adds a row and gives the number that the database gave it.
func (d *DB) insert(ctx context.Context, tx *sql.Tx, table, id, columns string, values ...any) (int64, error) {
	places := make([]string, len(values))
	for i := range values {
		places[i] = d.Arg(i + 1)
	}
	query := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, columns, strings.Join(places, ", "))
	if d.Conf.Type == "mysql" {
		done, err := tx.ExecContext(ctx, query, values...)
		if err != nil {
			return 0, err
		}
		return done.LastInsertId()
	}
	var number int64
	err := tx.QueryRowContext(ctx, query+" RETURNING "+id, values...).Scan(&number)
	return number, err
}

// List writes numbers for a condition: 1, 2, 3.
func List(ids []int64) string {
	if len(ids) == 0 {
		return "-1" // nobody's
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ids)), ", "), "[]")
}

// Numbers gives the numbers that a query finds for each of some others.
func Numbers(ctx context.Context, from Querier, query string, ids []int64) ([]int64, error) {
	var found []int64
	for _, id := range ids {
		err := Rows(ctx, from, "its rows", fmt.Sprintf("%s = %d", query, id), nil, func(r *sql.Rows) error {
			var n int64
			err := r.Scan(&n)
			found = append(found, n)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Run carries out statements without arguments.
func Run(ctx context.Context, tx *sql.Tx, doing string, statements ...string) error {
	for _, one := range statements {
		if _, err := tx.ExecContext(ctx, one); err != nil {
			return fmt.Errorf("%s: %w", doing, err)
		}
	}
	return nil
}
