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

// Options are the settings of a System.
type Options struct {
	Queue   string        // the queue that Accordion schedules
	Timeout time.Duration // timeout of each operation of OAR, such as starting a companion; 0 means 15 s
	Bin     string        // directory of oardel; "" means that PATH is searched
	Log     hclog.Logger  // nil if nothing is logged
}

// System implements adapter.BatchSystem for OAR. It writes decisions into Accordion's tables and notifies OAR's server. The scheduler reads
// these tables and writes the decisions into OAR's plan (scheduler.Schedule). Its methods may be called concurrently.
//
// An evolving job consists of a base and of companions. The base is an OAR job with as many nodes as the smallest step of the profile.
// Companions are jobs of type noop that hold the other nodes. So OAR's accounting is right for each job. System changes OAR's tables only
// in the ways in which OAR's own programs change them.
type System struct {
	db      tables.Tables
	queue   string
	timeout time.Duration
	bin     string
	log     hclog.Logger
	server  *server.Notifier
	users   *server.Accounts
	watcher *server.ChangeWatcher
	read    *observe.Reader
	reach   server.Remote
	keeper  *cpuset.Keeper

	lastNotified *atomic.Int64   // when OAR was last notified of a released job, Unix nanoseconds
	asking       *sync.WaitGroup // goroutines that ask for checkpoints
	passSkipped  *atomic.Int64   // when a job last started without a pass, Unix nanoseconds
}

var _ adapter.BatchSystem = (*System)(nil)

// atOnce is the maximum number of the sidecar's connections to the database.
const atOnce = 6

// Open connects to OAR's database and checks that Accordion's tables exist (see package setup).
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
	notifier, reach := server.NewNotifier(conf.Server, conf.ServerPort, o.Log), server.Remote{Command: conf.Remote}
	return &System{db: db, lastNotified: new(atomic.Int64), passSkipped: new(atomic.Int64), asking: new(sync.WaitGroup), queue: o.Queue, timeout: o.Timeout, bin: o.Bin, log: o.Log, server: notifier, reach: reach, users: server.NewAccounts(), watcher: server.NewChangeWatcher(conf, o.Log),
		read: observe.New(db, o.Queue), keeper: cpuset.NewKeeper(cpuset.New(db, conf.Manager, reach, o.Log), notifier, o.Log)}, nil
}

// recognize checks that Accordion is installed in the database, and reads OAR's release. The error is an *adapter.NoAnswerError if the
// database does not answer.
func recognize(ctx context.Context, db tables.Tables) error {
	there, err := db.Installed(ctx, db.Sql)
	if err == nil && !there {
		return errors.New("the tables of Accordion are not in OAR's database: run `accordion oar install`")
	}
	if err == nil {
		err = db.ReadRelease(ctx)
	}
	if err != nil {
		return &adapter.NoAnswerError{Err: err}
	}
	return nil
}

// Close closes the connections. No method may be called after it.
func (s *System) Close() {
	s.watcher.Close()
	s.asking.Wait()
	s.keeper.Close()
	s.server.Close()
	if err := s.db.Close(); err != nil {
		s.log.Warn("closing OAR's database", "error", err)
	}
}

// Name returns the host of OAR's server, because OAR has no other name for a cluster.
func (s *System) Name(context.Context) (string, error) { return s.db.Conf.Server, nil }

// Guard returns how many seconds an ordinary job may hold its nodes past its walltime. It does not include SCHEDULER_JOB_SECURITY_TIME, the
// pause between two jobs, because the scheduler keeps this pause before a reservation too.
func (s *System) Guard(context.Context) (core.Time, error) { return conf.LateKill, nil }

// Round returns how many seconds an ordinary job that could start may have to wait for the next pass (managed.Settings.Round).
func (s *System) Round(context.Context) (core.Time, error) { return s.db.Conf.Round(), nil }

var _ adapter.ChangeNotifier = (*System)(nil)

// Changes returns a channel that receives a message soon after the state of a job or a node has changed, so that submissions are noticed
// without delay.
func (s *System) Changes() <-chan struct{} { return s.watcher.Changes }

// Identity returns a name of the managed queue. The name is the same for every sidecar that can reach the queue.
func (s *System) Identity(context.Context) (string, error) {
	c := s.db.Conf
	return fmt.Sprintf("oar-%s-%d-%s-%s", c.Host, c.Port, c.Database, s.queue), nil
}
