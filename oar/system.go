package oar

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/core"
)

// Options say which part of OAR is ours.
type Options struct {
	Queue   string        // the queue that Accordion schedules
	Timeout time.Duration // within which OAR must have done what it was asked for (start a companion, say). 0: 15 s
	Bin     string        // directory of oardel; "" looks it up in PATH
	Log     hclog.Logger  // nil: nothing is logged
}

// System is OAR as the sidecar sees it. It writes what is decided into Accordion's tables, from which the scheduler (see
// Schedule) puts it into OAR's plan, and pokes OAR's server. Its methods may be called from several goroutines.
//
// An evolving job is a job of OAR's on as many nodes as its profile's least step has, its base, and companions: jobs of
// type noop that hold the other nodes. Accounting stays right job by job, and nothing of OAR's own tables is changed but as
// its own programs do it.
type System struct {
	db      *database
	queue   string
	timeout time.Duration
	bin     string
	log     hclog.Logger
	server  *poker
	users   *accounts
	herald  *herald
	lately  *lately
	reach   remote
	keeper  *keeper
}

var _ adapter.BatchSystem = (*System)(nil)

// atOnce is how many connections to the database the sidecar has at most.
const atOnce = 6

// Open connects to OAR's database and looks whether Accordion's tables are there (see Setup).
func Open(ctx context.Context, conf Conf, o Options) (*System, error) {
	if o.Queue == "" {
		return nil, errors.New("oar: no queue given: name the one that Accordion schedules")
	}
	if o.Timeout < 0 {
		return nil, errors.New("oar: the time-out must not be negative")
	}
	if o.Timeout == 0 {
		o.Timeout = 15 * time.Second
	}
	if o.Log == nil {
		o.Log = hclog.NewNullLogger()
	}
	db, err := open(conf)
	if err != nil {
		return nil, fmt.Errorf("oar: %w", err)
	}
	db.sql.SetMaxOpenConns(atOnce)
	db.sql.SetMaxIdleConns(atOnce)
	there, err := db.installed(ctx, db.sql)
	if err == nil && !there {
		err = errors.New("the tables of Accordion are not in OAR's database: run `accordion oar install`")
	}
	if err == nil {
		db.dialect, err = db.speaks(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("oar: %w", err), db.close())
	}
	server, reach := newPoker(conf.Server, conf.ServerPort, o.Log), remote{conf.Remote}
	return &System{db: db, queue: o.Queue, timeout: o.Timeout, bin: o.Bin, log: o.Log, server: server, reach: reach, users: newAccounts(), herald: newHerald(conf, o.Log),
		lately: &lately{}, keeper: newKeeper(cpusets{db, manager{conf.Manager, reach, o.Log}}, server, o.Log)}, nil
}

// Close ends the connections. Nothing may be called after it.
func (s *System) Close() {
	s.herald.close()
	s.keeper.close()
	s.server.close()
	if err := s.db.close(); err != nil {
		s.log.Warn("closing OAR's database", "error", err)
	}
}

// Name is OAR's server: OAR gives a cluster no other name.
func (s *System) Name(context.Context) (string, error) { return s.db.conf.Server, nil }

// lateKill is by how many seconds OAR is late, at most, when it ends a job that has reached its walltime: its server looks
// every ten seconds for such jobs.
const lateKill core.Time = 12

// Guard is how many seconds an ordinary job may hold its nodes past its walltime. The seconds that OAR leaves between two jobs
// (SCHEDULER_JOB_SECURITY_TIME) are no part of it: the scheduler leaves them before a reservation too.
func (s *System) Guard(context.Context) (core.Time, error) { return lateKill, nil }

// second is the database's second: the one that OAR's own programs write.
func (d *database) second(ctx context.Context, from querier) (core.Time, error) {
	query := "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp())) AS BIGINT)"
	if d.conf.Type == "mysql" {
		query = "SELECT UNIX_TIMESTAMP()"
	}
	var now core.Time
	err := rows(ctx, from, "the database's clock", query, nil, func(r *sql.Rows) error { return r.Scan(&now) })
	return now, err
}

// insert adds a row and gives the number that the database gave it.
func (d *database) insert(ctx context.Context, tx *sql.Tx, table, id, columns string, values ...any) (int64, error) {
	places := make([]string, len(values))
	for i := range values {
		places[i] = d.arg(i + 1)
	}
	query := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, columns, strings.Join(places, ", "))
	if d.conf.Type == "mysql" {
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

// list writes numbers for a condition: 1, 2, 3.
func list(ids []int64) string {
	if len(ids) == 0 {
		return "-1" // nobody's
	}
	return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(ids)), ", "), "[]")
}
