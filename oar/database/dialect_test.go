package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"

	"accordion/oar/conf"
)

// A recorder is a database that records its statements and answers each query with the number 1.
type recorder struct{ told []string }

func (r *recorder) Connect(context.Context) (driver.Conn, error) { return recorded{r}, nil }
func (r *recorder) Driver() driver.Driver                        { return nil }

type recorded struct{ *recorder }

func (c recorded) tell(text string, args []driver.NamedValue) {
	for _, a := range args {
		text += fmt.Sprintf(" [%v]", a.Value)
	}
	c.told = append(c.told, text)
}

func (c recorded) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c recorded) Close() error                        { return nil }
func (c recorded) Begin() (driver.Tx, error)           { return c, nil }
func (c recorded) Commit() error                       { return nil }
func (c recorded) Rollback() error                     { return nil }

func (c recorded) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return c, nil }

func (c recorded) ExecContext(_ context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.tell(text, args)
	return c, nil
}

func (c recorded) LastInsertId() (int64, error) { return 1, nil }
func (c recorded) RowsAffected() (int64, error) { return 1, nil }

func (c recorded) QueryContext(_ context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.tell(text, args)
	return &one{}, nil
}

type one struct{ read bool }

func (o *one) Columns() []string { return []string{"n"} }
func (o *one) Close() error      { return nil }

func (o *one) Next(into []driver.Value) error {
	if o.read {
		return io.EOF
	}
	o.read, into[0] = true, int64(1)
	return nil
}

// The test compares the statements for each database word for word.
func TestTheSQLOfBothDialects(t *testing.T) {
	ctx := context.Background()
	inTransaction := func(do func(d *DB, tx *sql.Tx) error) func(*DB) error {
		return func(d *DB) error {
			tx, err := d.Sql.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			return errors.Join(do(d, tx), tx.Commit())
		}
	}
	for _, c := range []struct {
		name                string
		do                  func(*DB) error
		postgreSQL, mariaDB []string
	}{
		{"the second", func(d *DB) error { _, err := d.Second(ctx, d.Sql); return err },
			[]string{"SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp())) AS BIGINT)"},
			[]string{"SELECT UNIX_TIMESTAMP()"}},
		{"a row with a number", inTransaction(func(d *DB, tx *sql.Tx) error {
			number, err := d.insert(ctx, tx, "jobs", "job_id", "name, project", "a", "b")
			if number != 1 {
				return fmt.Errorf("its number is %d, want 1", number)
			}
			return err
		}),
			[]string{"INSERT INTO jobs (name, project) VALUES ($1, $2) RETURNING job_id [a] [b]"},
			[]string{"INSERT INTO jobs (name, project) VALUES (?, ?) [a] [b]"}},
		{"the end of a job", inTransaction(func(d *DB, tx *sql.Tx) error { return d.Frag(ctx, tx, 100, 7) }),
			[]string{"INSERT INTO frag_jobs (frag_id_job, frag_date) VALUES (7, 100) ON CONFLICT DO NOTHING",
				"INSERT INTO event_logs (type, job_id, date, description, to_check) VALUES ('FRAG_JOB_REQUEST', 7, 100, 'Accordion requested to frag the job', 'NO')"},
			[]string{"INSERT IGNORE INTO frag_jobs (frag_id_job, frag_date) VALUES (7, 100)",
				"INSERT INTO event_logs (type, job_id, date, description, to_check) VALUES ('FRAG_JOB_REQUEST', 7, 100, 'Accordion requested to frag the job', 'NO')"}},
		{"a transaction", func(d *DB) error { return d.Transaction(ctx, func(*sql.Tx) error { return nil }) },
			[]string{"SET LOCAL lock_timeout = 700; SET LOCAL idle_in_transaction_session_timeout = 15000"},
			[]string{"SET SESSION innodb_lock_wait_timeout = 1 /*M!100300 , SESSION idle_transaction_timeout = 15 */"}},
		{"a lock", func(d *DB) error { return d.Exclusive(ctx, "locks (number) VALUES (42)", func() error { return nil }) },
			[]string{"BEGIN", "SET LOCAL lock_timeout = 700; SET LOCAL idle_in_transaction_session_timeout = 0",
				"INSERT INTO locks (number) VALUES (42)", "ROLLBACK"},
			[]string{"BEGIN", "SET SESSION innodb_lock_wait_timeout = 1 /*M!100300 , SESSION idle_transaction_timeout = 0 */",
				"INSERT INTO locks (number) VALUES (42)", "ROLLBACK"}},
		{"many jobs", inTransaction(func(d *DB, tx *sql.Tx) error { return d.PrepareManyJobs(ctx, tx) }),
			[]string{"SET LOCAL enable_nestloop = off"}, nil},
		{"OAR's release", func(d *DB) error { return d.ReadRelease(ctx) }, []string{"SELECT version FROM schema"}, nil},
		{"OAR's plan held", inTransaction(func(d *DB, tx *sql.Tx) error { _, err := d.HoldPlan(ctx, tx); return err }),
			[]string{"SAVEPOINT before_the_plan", "LOCK TABLE gantt_jobs_predictions IN SHARE ROW EXCLUSIVE MODE NOWAIT"}, nil},
		{"the hosts' resources", func(d *DB) error { _, err := d.Alive(ctx, d.Sql, []string{"n1", "n2"}); return err },
			[]string{"SELECT DISTINCT network_address FROM resources WHERE state = 'Alive' AND network_address IN ($1, $2) ORDER BY network_address [n1] [n2]"},
			[]string{"SELECT DISTINCT network_address FROM resources WHERE state = 'Alive' AND network_address IN (?, ?) ORDER BY network_address [n1] [n2]"}},
	} {
		for kind, want := range map[string][]string{"Pg": c.postgreSQL, "mysql": c.mariaDB} {
			kept := &recorder{}
			db := sql.OpenDB(kept)
			d := &DB{Dialect: DialectOf(conf.Conf{Type: kind}), Sql: db, locks: db, Abandoned: abandoned}
			if err := c.do(d); err != nil {
				t.Errorf("%s, %s: %v", c.name, kind, err)
			}
			if !slices.Equal(kept.told, want) {
				t.Errorf("%s, %s: told\n%s\nwant\n%s", c.name, kind, strings.Join(kept.told, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// The test compares the pieces of SQL, in both dialects, that other packages put into queries.
func TestTextsOfBothDialects(t *testing.T) {
	for _, c := range []struct {
		kind string
		want []string
	}{
		{"Pg", []string{"$3", `"mem"`, "ANY (current_schemas(false))", "", "SELECT EXTRACT(EPOCH FROM clock_timestamp()) * 1000000",
			"SET LOCAL statement_timeout = 1500", "DISCARD ALL", "true", "false"}},
		{"mysql", []string{"?", "`mem`", "DATABASE()", " ENGINE = InnoDB", "SELECT UNIX_TIMESTAMP(NOW(6)) * 1000000",
			"SET SESSION max_statement_time = 1.500", "", "false", "true"}},
	} {
		d := DialectOf(conf.Conf{Type: c.kind})
		got := []string{d.Arg(3), d.Quoted("mem"), d.OwnSchema(), d.TableOptions(), d.Microseconds(), d.StatementLimit(1500 * time.Millisecond), d.ResetStatement(),
			fmt.Sprint(d.NotifiesChanges()), fmt.Sprint(d.OARLocksTables())}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q\nwant %q", c.kind, got, c.want)
		}
	}
}

func TestConflictErrorsOfBothDatabases(t *testing.T) {
	for _, c := range []struct {
		err                 error
		postgreSQL, mariaDB bool
	}{
		{&pgconn.PgError{Code: "40001"}, true, false},
		{&pgconn.PgError{Code: "40P01"}, true, false},
		{&pgconn.PgError{Code: "55P03"}, true, false},
		{&pgconn.PgError{Code: "23505"}, true, false},
		{&pgconn.PgError{Code: "42601"}, false, false},
		{&mysql.MySQLError{Number: 1205}, false, true},
		{&mysql.MySQLError{Number: 1213}, false, true},
		{&mysql.MySQLError{Number: 1062}, false, true},
		{&mysql.MySQLError{Number: 1064}, false, false},
		{errors.New("connection refused"), false, false},
	} {
		wrapped := fmt.Errorf("reserving: %w", c.err)
		if pg, my := (postgreSQL{}).isConflict(wrapped), (mariaDB{}).isConflict(wrapped); pg != c.postgreSQL || my != c.mariaDB {
			t.Errorf("%v: gave way %v and %v, want %v and %v", c.err, pg, my, c.postgreSQL, c.mariaDB)
		}
	}
}

func TestConflictIsRetriedAfterIncreasingPauses(t *testing.T) {
	deadlock := &mysql.MySQLError{Number: 1213}
	for _, c := range []struct {
		name   string
		fails  int // number of times that the transaction fails
		err    error
		within time.Duration // the context ends after this time; 0 if it does not end
		tries  int
		took   time.Duration
		failed bool
	}{
		{"not at all", 0, nil, 0, 1, 0, false},
		{"once", 1, deadlock, 0, 2, 50 * time.Millisecond, false},
		{"three times", 3, deadlock, 0, 4, 1050 * time.Millisecond, false},
		{"always", 9, deadlock, 0, 4, 1050 * time.Millisecond, true},
		{"always, and nobody waits any more", 9, deadlock, 100 * time.Millisecond, 2, 100 * time.Millisecond, true},
		{"by its own fault", 9, &mysql.MySQLError{Number: 1064}, 0, 1, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, begun, tries := t.Context(), time.Now(), 0
			if c.within > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.within)
				defer cancel()
			}
			err := (&DB{Dialect: mariaDB{}}).retryConflicts(ctx, func() error {
				if tries++; tries <= c.fails {
					return fmt.Errorf("reading the jobs: %w", c.err)
				}
				return nil
			})
			if took := time.Since(begun); tries != c.tries || took != c.took || (err != nil) != c.failed {
				t.Errorf("fails %s: %d tries in %v, error %v; want %d in %v, an error: %t", c.name, tries, took, err, c.tries, c.took, c.failed)
			}
		})
	}
}

// OAR 2.6 with PostgreSQL launches every job that has any type other than a bare "inner". So with that release, and only with that one, the
// holder of a reservation must have the bare type.
func TestTypesOfJobsThatOARMustNotLaunch(t *testing.T) {
	for _, c := range []struct {
		job     Noop
		misread bool
		want    string
	}{
		{Noop{}, false, "noop,inner=7"},
		{Noop{}, true, "inner"},
		{Noop{Base: 3}, false, "noop,inner=3"},
		{Noop{Base: 3}, true, "noop,inner=3"},
	} {
		if got := strings.Join(c.job.types(7, c.misread), ","); got != c.want {
			t.Errorf("%+v, misread %v: %s, want %s", c.job, c.misread, got, c.want)
		}
	}
}

func TestMissingTableAndInterruptionErrorsOfBothDatabases(t *testing.T) {
	for _, c := range []struct {
		err                           error
		pgNone, pgInterrupted, myNone bool
	}{
		{&pgconn.PgError{Code: "42P01"}, true, false, false},
		{&pgconn.PgError{Code: "57014", Message: "canceling statement due to user request"}, false, true, false},
		{&pgconn.PgError{Code: "57014", Message: "canceling statement due to statement timeout"}, false, false, false},
		{&pgconn.PgError{Code: "57P01"}, false, true, false},
		{&mysql.MySQLError{Number: 1146}, false, false, true},
		{errors.New("connection refused"), false, false, false},
	} {
		wrapped := fmt.Errorf("asking: %w", c.err)
		pg, my := postgreSQL{}, mariaDB{}
		if pg.NoTable(wrapped) != c.pgNone || pg.interrupted(wrapped) != c.pgInterrupted || my.NoTable(wrapped) != c.myNone || my.interrupted(wrapped) {
			t.Errorf("%v: PostgreSQL: no table %v, interrupted %v; MariaDB: no table %v, interrupted %v", c.err, pg.NoTable(wrapped), pg.interrupted(wrapped),
				my.NoTable(wrapped), my.interrupted(wrapped))
		}
	}
}
