package lab

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// SQL returns the result of a query to OAR's database. The result has the format of `oar-lab sql`: a line for each
// row, with fields separated by |.
func (lab *OARLab) SQL(t testing.TB, query string) string {
	t.Helper()
	return lab.database.asked(t, query)
}

// Answers reports whether OAR's database answers.
func (lab *OARLab) Answers() bool {
	_, err := lab.database.ask("select 1")
	return err == nil
}

// down closes the connections to the database before it takes the lab down.
func (lab *OARLab) down() error {
	lab.database.leave()
	return lab.Lab.down()
}

// A database queries OAR's database through the socket in a lab's directory. It keeps its connections, because
// tests query often. A client program for each query would take a fifth of a CPU. A new connection for each query,
// which is a process in PostgreSQL, would take a tenth.
type database struct {
	kind      string // PostgreSQL or MariaDB
	directory string

	sync.Mutex
	mariaDB    *sql.DB
	postgreSQL []*pgconn.PgConn // idle connections
}

// asked returns the result of a query. It fails the test if there is an error.
func (d *database) asked(t testing.TB, query string) string {
	t.Helper()
	answer, err := d.ask(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

// ask runs one or several queries.
func (d *database) ask(query string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), oarPatience)
	defer cancel()
	var rows []string
	var err error
	if d.kind == MariaDB {
		var db *sql.DB
		if db, err = d.openMariaDB(); err == nil {
			rows, err = askMariaDB(ctx, db, query)
		}
	} else {
		var c *pgconn.PgConn
		if c, err = d.takePostgreSQL(ctx); err == nil {
			rows, err = askPostgreSQL(ctx, c, query)
			d.keep(c)
		}
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n"), err
}

// takePostgreSQL returns an idle connection that still works, or a new connection. The database may have been
// restarted since the last query.
func (d *database) takePostgreSQL(ctx context.Context) (*pgconn.PgConn, error) {
	d.Lock()
	defer d.Unlock()
	for len(d.postgreSQL) > 0 {
		c := d.postgreSQL[len(d.postgreSQL)-1]
		d.postgreSQL = d.postgreSQL[:len(d.postgreSQL)-1]
		if c.Ping(ctx) == nil {
			return c, nil
		}
		_ = c.Close(ctx) // the connection is broken
	}
	return pgconn.Connect(ctx, fmt.Sprintf("host=%s port=5432 user=oar dbname=oar sslmode=disable", d.directory))
}

// keep keeps a connection for the next query, unless it is in an open transaction.
func (d *database) keep(c *pgconn.PgConn) {
	d.Lock()
	defer d.Unlock()
	if c.IsClosed() || c.TxStatus() != 'I' {
		_ = c.Close(context.Background())
		return
	}
	d.postgreSQL = append(d.postgreSQL, c)
}

func (d *database) openMariaDB() (*sql.DB, error) {
	d.Lock()
	defer d.Unlock()
	if d.mariaDB != nil {
		return d.mariaDB, nil
	}
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd, config.DBName, config.MultiStatements = "unix", filepath.Join(d.directory, "socket"), "oar", "lab", "oar", true
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	d.mariaDB = sql.OpenDB(connector)
	return d.mariaDB, nil
}

// leave closes the connections.
func (d *database) leave() {
	d.Lock()
	defer d.Unlock()
	for _, c := range d.postgreSQL {
		_ = c.Close(context.Background())
	}
	d.postgreSQL = nil
	if d.mariaDB != nil {
		_ = d.mariaDB.Close()
	}
}

// askPostgreSQL runs the query as psql does: in one message, with results as text.
func askPostgreSQL(ctx context.Context, c *pgconn.PgConn, query string) (rows []string, err error) {
	results, err := c.Exec(ctx, query).ReadAll()
	for _, result := range results {
		for _, row := range result.Rows {
			fields := make([]string, len(row))
			for i, field := range row {
				fields[i] = string(field)
			}
			rows = append(rows, strings.Join(fields, "|"))
		}
	}
	return rows, err
}

// askMariaDB runs the query. It formats nulls, and separators inside fields, as MariaDB's own client does.
func askMariaDB(ctx context.Context, db *sql.DB, query string) (rows []string, err error) {
	answer, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	columns, err := answer.Columns()
	if err != nil {
		return nil, err
	}
	escape := strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`)
	fields, into := make([]sql.RawBytes, len(columns)), make([]any, len(columns))
	for i := range fields {
		into[i] = &fields[i]
	}
	for answer.Next() {
		if err := answer.Scan(into...); err != nil {
			return nil, err
		}
		texts := make([]string, len(fields))
		for i, field := range fields {
			if texts[i] = "NULL"; field != nil {
				texts[i] = escape.Replace(string(field))
			}
		}
		rows = append(rows, strings.Join(texts, "|"))
	}
	return rows, answer.Err()
}
