package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// database is OAR's, whichever it is. Its queries are written for both: numbers of ours stand in them as they are, text is
// an argument, and arg gives its place.
type database struct {
	conf  Conf
	sql   *sql.DB
	users *sql.DB // with the account that may only read: for text that users wrote
	locks *sql.DB // whose connections hold locks while something else is waited for

	abandoned time.Duration // how long a transaction may be left alone
	dialect   dialect       // of the jobs that are written
}

// open prepares the connections; the first query makes them.
func open(conf Conf) (*database, error) {
	full, err := connector(conf, conf.Login)
	if err != nil {
		return nil, err
	}
	users, err := connector(conf, conf.ReadOnly)
	if err != nil {
		return nil, errors.Join(err, full.Close())
	}
	locks, err := connector(conf, conf.Login)
	if err != nil {
		return nil, errors.Join(err, full.Close(), users.Close())
	}
	full.SetMaxOpenConns(1)
	users.SetMaxOpenConns(1)
	return &database{conf: conf, sql: full, users: users, locks: locks, abandoned: abandoned}, nil
}

func connector(conf Conf, who Login) (*sql.DB, error) {
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
	config, err := postgres(conf, who)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*config), nil
}

// postgres says how PostgreSQL is connected to.
func postgres(conf Conf, who Login) (*pgx.ConnConfig, error) {
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

func (d *database) close() error {
	return errors.Join(d.users.Close(), d.locks.Close(), d.sql.Close())
}

// arg is the place of the n-th argument, from 1.
func (d *database) arg(n int) string {
	if d.conf.Type == "mysql" {
		return "?"
	}
	return "$" + strconv.Itoa(n)
}

// querier is what a query is put to: a database or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// rows runs a query and gives each row to scan.
func rows(ctx context.Context, from querier, what, query string, args []any, scan func(*sql.Rows) error) error {
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
