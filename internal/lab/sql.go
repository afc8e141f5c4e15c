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

// SQL is the answer of OAR's database, as `oar-lab sql` prints it: a row a line, its fields separated by |.
func (lab *OARLab) SQL(t testing.TB, query string) string {
	t.Helper()
	return lab.database.asked(t, query)
}

// Answers says whether OAR's database does.
func (lab *OARLab) Answers() bool {
	_, err := lab.database.ask("select 1")
	return err == nil
}

// down leaves the database before it goes.
func (lab *OARLab) down() error {
	lab.database.leave()
	return lab.Lab.down()
}

// database asks OAR's, through the socket in a lab's directory. Tests ask so often that a client program for each question took a fifth of
// a processor, and a connection for each, which is a process of PostgreSQL's, still a tenth: they are kept.
type database struct {
	kind      string // PostgreSQL or MariaDB
	directory string

	sync.Mutex
	mariaDB    *sql.DB
	postgreSQL []*pgconn.PgConn // of whom nothing is asked
}

// asked is the answer, which there must be.
func (d *database) asked(t testing.TB, query string) string {
	t.Helper()
	answer, err := d.ask(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

// ask runs the query, which may be several.
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

// takePostgreSQL is a connection that lives, or a new one: the database may have been started anew since the last question.
func (d *database) takePostgreSQL(ctx context.Context) (*pgconn.PgConn, error) {
	d.Lock()
	defer d.Unlock()
	for len(d.postgreSQL) > 0 {
		c := d.postgreSQL[len(d.postgreSQL)-1]
		d.postgreSQL = d.postgreSQL[:len(d.postgreSQL)-1]
		if c.Ping(ctx) == nil {
			return c, nil
		}
		_ = c.Close(ctx) // it is broken
	}
	return pgconn.Connect(ctx, fmt.Sprintf("host=%s port=5432 user=oar dbname=oar sslmode=disable", d.directory))
}

// keep is for the next question, unless the query has left a transaction open.
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

// askPostgreSQL runs the query as psql does: in one message, with answers as text.
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

// askMariaDB writes a null and what would end a field or a row as its client does.
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
