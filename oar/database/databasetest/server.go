// Package databasetest provides OAR's database for tests. It keeps OAR's tables in an SQLite file and accepts the SQL
// that Accordion sends to PostgreSQL.
//
//	server := databasetest.New(t)
//	server.Do("INSERT INTO jobs (job_id, …) VALUES (7, …)")
//	orders, err := tables.Tables{DB: server.DB}.ReadOrders(ctx, server.DB.Sql)
package databasetest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"

	"accordion/core"
	"accordion/oar/conf"
	"accordion/oar/database"
)

// Schema creates OAR's tables.
//
//go:embed oar.sql
var Schema string

// A Server is a database with OAR's tables, which are empty at first.
type Server struct {
	DB *database.DB
	t  testing.TB

	mu    sync.Mutex
	now   core.Time
	fails func(statement string) error
	said  []string
}

// New returns a database that lasts as long as the test. Its clock shows 1,000,000.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, now: 1_000_000}
	c := connector{server: s, file: filepath.Join(t.TempDir(), "oar.db")}
	s.DB = database.On(conf.Conf{Type: "Pg"}, sql.OpenDB(c), sql.OpenDB(c), sql.OpenDB(c))
	t.Cleanup(func() {
		if err := s.DB.Close(); err != nil {
			t.Error(err)
		}
	})
	s.Do(strings.Split(Schema, ";\n")...)
	return s
}

// Set sets the database's clock.
func (s *Server) Set(now core.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Fail sets a function that is called before each statement. If the function returns an error, the statement fails with that error.
// Fail(nil) removes the function.
func (s *Server) Fail(fails func(statement string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = fails
}

// Said returns the statements since the last call of Said.
func (s *Server) Said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.said
	s.said = nil
	return all
}

// Do executes statements, and fails the test if a statement fails.
func (s *Server) Do(statements ...string) {
	s.t.Helper()
	for _, one := range statements {
		if strings.TrimSpace(one) == "" {
			continue
		}
		if _, err := s.DB.Sql.ExecContext(context.Background(), one); err != nil {
			s.t.Fatalf("%s: %v", one, err)
		}
	}
}

// Rows returns the rows that a query finds. The values of a row are joined by bars.
func (s *Server) Rows(query string) (all []string) {
	s.t.Helper()
	rows, err := s.DB.Sql.QueryContext(context.Background(), query)
	if err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			s.t.Fatalf("%s: %v", query, err)
		}
		words := make([]string, len(values))
		for i, v := range values {
			words[i] = v.String
		}
		all = append(all, strings.Join(words, "|"))
	}
	if err := rows.Err(); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
	return all
}

// Errors of PostgreSQL, by their codes.
var (
	// Locked reports that another session holds a lock.
	Locked = &pgconn.PgError{Code: "55P03", Message: "could not obtain lock"}
	// Deadlocked reports that the database ended a transaction to resolve a deadlock.
	Deadlocked = &pgconn.PgError{Code: "40P01", Message: "deadlock detected"}
)

type connector struct {
	server *Server
	file   string
}

func (c connector) Driver() driver.Driver { return nil }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	conn, err := (&sqlite3.SQLiteDriver{}).Open("file:" + c.file + "?_busy_timeout=20&_journal_mode=WAL&_synchronous=OFF")
	if err != nil {
		return nil, err
	}
	return connection{conn.(*sqlite3.SQLiteConn), c.server}, nil
}

// A connection translates statements for PostgreSQL into SQLite's.
type connection struct {
	*sqlite3.SQLiteConn
	server *Server
}

func (c connection) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	tx, err := c.SQLiteConn.BeginTx(ctx, driver.TxOptions{})
	return tx, code(err)
}

func (c connection) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	translated, err := c.server.translate(text)
	if err != nil || translated == "" {
		return driver.RowsAffected(0), err
	}
	result, err := c.SQLiteConn.ExecContext(ctx, translated, args)
	return result, code(err)
}

func (c connection) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	translated, err := c.server.translate(text)
	if err != nil {
		return nil, err
	}
	rows, err := c.SQLiteConn.QueryContext(ctx, translated, args)
	return rows, code(err)
}

var places = regexp.MustCompile(`\$(\d+)`)

// translate returns the statement for SQLite, or "" if there is nothing to execute.
func (s *Server) translate(text string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said = append(s.said, text)
	if s.fails != nil {
		if err := s.fails(text); err != nil {
			return "", err
		}
	}
	if strings.HasPrefix(text, "SET ") || strings.HasPrefix(text, "LOCK TABLE ") {
		return "", nil
	}
	text = strings.NewReplacer(
		"CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp())) AS BIGINT)", fmt.Sprint(s.now),
		"information_schema.tables WHERE table_schema = ANY (current_schemas(false))", "(SELECT name AS table_name FROM sqlite_master WHERE type = 'table') WHERE 1 = 1",
	).Replace(text)
	return places.ReplaceAllString(text, "?$1"), nil
}

// code returns an error of SQLite with the code that PostgreSQL has for it.
func code(err error) error {
	var said sqlite3.Error
	if !errors.As(err, &said) {
		return err
	}
	switch {
	case said.Code == sqlite3.ErrBusy || said.Code == sqlite3.ErrLocked:
		return &pgconn.PgError{Code: Locked.Code, Message: err.Error()}
	case said.ExtendedCode == sqlite3.ErrConstraintPrimaryKey || said.ExtendedCode == sqlite3.ErrConstraintUnique:
		return &pgconn.PgError{Code: "23505", Message: err.Error()}
	case strings.Contains(err.Error(), "no such table"):
		return &pgconn.PgError{Code: "42P01", Message: err.Error()}
	}
	return err
}
