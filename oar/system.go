package oar

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"accordion/adapter"
	"accordion/core"
	"accordion/oar/conf"
	"accordion/oar/cpuset"
	"accordion/oar/database"
	"accordion/oar/observe"
	"accordion/oar/server"
	"accordion/oar/tables"
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
	db      tables.Tables
	queue   string
	timeout time.Duration
	bin     string
	log     hclog.Logger
	server  *server.Notifier
	users   *server.Accounts
	herald  *server.Herald
	read    *observe.Reader
	reach   server.Remote
	keeper  *cpuset.Keeper

	lastNotified *atomic.Int64   // when OAR was last told of a job that was released, Unix nanoseconds
	asking       *sync.WaitGroup // those who ask for checkpoints
	passSkipped  *atomic.Int64   // when a job last began without a pass, Unix nanoseconds
}

var _ adapter.BatchSystem = (*System)(nil)

// atOnce is how many connections to the database the sidecar has at most.
const atOnce = 6

// Open connects to OAR's database and looks whether Accordion's tables are there (see Setup).
func Open(ctx context.Context, conf conf.Conf, o Options) (*System, error) {
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
	opened, err := database.Open(conf)
	if err != nil {
		return nil, fmt.Errorf("oar: %w", err)
	}
	db := tables.Tables{DB: opened}
	db.Sql.SetMaxOpenConns(atOnce)
	db.Sql.SetMaxIdleConns(atOnce)
	if err := recognize(ctx, db); err != nil {
		return nil, errors.Join(fmt.Errorf("oar: %w", err), db.Close())
	}
	poke, reach := server.NewNotifier(conf.Server, conf.ServerPort, o.Log), server.Remote{Command: conf.Remote}
	return &System{db: db, lastNotified: new(atomic.Int64), passSkipped: new(atomic.Int64), asking: new(sync.WaitGroup), queue: o.Queue, timeout: o.Timeout, bin: o.Bin, log: o.Log, server: poke, reach: reach, users: server.NewAccounts(), herald: server.NewHerald(conf, o.Log),
		read: observe.New(db, o.Queue), keeper: cpuset.NewKeeper(cpuset.New(db, conf.Manager, reach, o.Log), poke, o.Log)}, nil
}

// recognize asks the database whether Accordion is installed there, and which OAR it is. The error is an *adapter.NoAnswer when it does
// not answer.
func recognize(ctx context.Context, db tables.Tables) error {
	there, err := db.Installed(ctx, db.Sql)
	if err == nil && !there {
		return errors.New("the tables of Accordion are not in OAR's database: run `accordion oar install`")
	}
	if err == nil {
		err = db.ReadRelease(ctx)
	}
	if err != nil {
		return &adapter.NoAnswer{Err: err}
	}
	return nil
}

// Close ends the connections. Nothing may be called after it.
func (s *System) Close() {
	s.herald.Close()
	s.asking.Wait()
	s.keeper.Close()
	s.server.Close()
	if err := s.db.Close(); err != nil {
		s.log.Warn("closing OAR's database", "error", err)
	}
}

// Name is OAR's server: OAR gives a cluster no other name.
func (s *System) Name(context.Context) (string, error) { return s.db.Conf.Server, nil }

// Guard is how many seconds an ordinary job may hold its nodes past its walltime. The seconds that OAR leaves between two jobs
// (SCHEDULER_JOB_SECURITY_TIME) are no part of it: the scheduler leaves them before a reservation too.
func (s *System) Guard(context.Context) (core.Time, error) { return conf.LateKill, nil }

// Round is for how many seconds an ordinary job that could begin may wait for its pass (managed.Settings.Round).
func (s *System) Round(context.Context) (core.Time, error) { return s.db.Conf.Round(), nil }

var _ adapter.ChangeNotifier = (*System)(nil)

// Changes has a message soon after a job or a node of OAR's has another state, so that a submission is noticed at once.
func (s *System) Changes() <-chan struct{} { return s.herald.Changes }

// Identity names the queue whose jobs are managed, for everybody who can reach it alike.
func (s *System) Identity(context.Context) (string, error) {
	c := s.db.Conf
	return fmt.Sprintf("oar-%s-%d-%s-%s", c.Host, c.Port, c.Database, s.queue), nil
}
