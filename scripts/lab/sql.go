package lab

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

// SQL is the answer of OAR's database, as `oar-lab sql` prints it: a row a line, its fields separated by |. Tests ask so often that a
// client program for each question took a fifth of a processor.
func (lab *OARLab) SQL(t testing.TB, query string) string {
	t.Helper()
	answer, err := lab.ask(query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answer
}

// Answers says whether OAR's database does.
func (lab *OARLab) Answers() bool {
	_, err := lab.ask("select 1")
	return err == nil
}

// ask has a connection of its own, through the socket in the lab's directory: the database may have been started anew since the last one.
func (lab *OARLab) ask(query string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), oarPatience)
	defer cancel()
	var rows []string
	var err error
	if lab.Database == MariaDB {
		rows, err = askMariaDB(ctx, filepath.Join(lab.Dir, "db", "socket"), query)
	} else {
		rows, err = askPostgreSQL(ctx, filepath.Join(lab.Dir, "db"), query)
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n"), err
}

// askPostgreSQL runs the query, which may be several, as psql does: in one message, with answers as text.
func askPostgreSQL(ctx context.Context, directory, query string) (rows []string, err error) {
	c, err := pgconn.Connect(ctx, fmt.Sprintf("host=%s port=5432 user=oar dbname=oar sslmode=disable", directory))
	if err != nil {
		return nil, err
	}
	defer c.Close(ctx)
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
func askMariaDB(ctx context.Context, socket, query string) (rows []string, err error) {
	config := mysql.NewConfig()
	config.Net, config.Addr, config.User, config.Passwd, config.DBName, config.MultiStatements = "unix", socket, "oar", "lab", "oar", true
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
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
