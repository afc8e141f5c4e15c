// Package setup installs Accordion in an OAR, removes it again, and checks the installation: tables, the queue,
// admission rules, triggers, and the epilogue of the server.
//
//	parts := setup.Setup{Conf: c, Queue: "evolve", File: "/etc/oar/oar.conf", OARDir: conf.DefaultOARDir, Tell: tell}
//	err := parts.Install(ctx)
//
//	install.go    the parts in their order; each has a file: install_triggers.go, install_queue.go, install_epilogue.go, install_rules.go
//	preflight.go  checks before the sidecar runs; preflight_conf.go: of oar.conf; preflight_nodes.go: of the nodes
package setup

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"accordion/oar/conf"
	"accordion/oar/database"
	"accordion/oar/tables"
)

// SchedulerName is the file name under which OAR calls this program as the scheduler of a queue, because OAR cannot pass a subcommand.
const SchedulerName = "accordion_oar"

// Setup has the settings of `accordion oar install` and `accordion oar uninstall`. Both commands can be repeated, and continue after an
// interruption.
type Setup struct {
	Conf     conf.Conf
	Queue    string // the queue whose jobs Accordion plans; see NewQueue
	Priority int    // priority of the queue; AsItIs leaves it unchanged, and gives a new queue DefaultPriority
	Program  string // path of this program, which OAR will call
	OARDir   string // directory of OAR's own programs, with the folder schedulers
	File     string // path of oar.conf; the server's epilogue is in the same folder
	Epilogue bool   // oar.conf may be edited to add or remove the server's epilogue; a copy of the old file is left in the same folder

	// Tell receives a line for each part: "made: …", "there: …", "mended: …", "removed: …", "not there: …".
	Tell func(line string)
}

const (
	// AsItIs is the Priority that leaves a queue's priority unchanged.
	AsItIs = -1
	// DefaultPriority is the priority of a new queue: above OAR's queues default (2) and admin (10).
	DefaultPriority = 20
	// DefaultQueue is the queue's name.
	DefaultQueue = "evolve"
)

// NewQueue returns an error for a name that a managed queue cannot have.
func NewQueue(name string) error {
	if !queueName.MatchString(name) {
		return fmt.Errorf("%q is no name for a queue: want a letter, then up to 30 letters, digits, _ and -", name)
	}
	return nil
}

// part is one part of an installation. `put` makes it and `take` removes it; both return a line about what was done.
type part struct {
	put, take func(ctx context.Context, d setupStore) (string, error)
}

// first returns the parts that need exclusive access to OAR's tables, and so have to wait for every reader of these tables. They are made,
// and removed, before anything else is changed.
func (s Setup) first() []part {
	if !database.DialectOf(s.Conf).NotifiesChanges() {
		return nil
	}
	return []part{{s.makeTriggers, s.removeTriggers}}
}

// parts returns the other parts, in the order in which they are made. The admission rules are last, because users can submit evolving jobs
// as soon as these exist. The parts are removed in reverse order.
func (s Setup) parts() []part {
	all := []part{{s.makeTables, s.removeTables}}
	all = append(all, part{s.makeLink, s.removeLink}, part{s.makeQueue, s.removeQueue}, part{s.makeEpilogue, s.removeEpilogue})
	for _, r := range Rules(s.Queue) {
		all = append(all, part{r.install, r.uninstall})
	}
	return all
}

// setupStore is OAR's database, with the functions that install and remove parts in it.
type setupStore struct{ tables.Tables }

// Install makes missing parts and repairs wrong ones. It stops at the first part that cannot be made, and the error names that part.
func (s Setup) Install(ctx context.Context) error {
	opened, err := database.Open(s.Conf)
	if err != nil {
		return err
	}
	defer opened.Close()
	d := setupStore{tables.Tables{DB: opened}}
	return d.WithLock(ctx, tables.InstallLock, func() error {
		for _, p := range slices.Concat(s.first(), s.parts()) {
			line, err := p.put(ctx, d)
			if err != nil {
				return err
			}
			s.Tell(line)
		}
		return nil
	})
}

// ErrJobs means that jobs are in the queue.
var ErrJobs = errors.New("jobs are in the queue")

// Uninstall removes all parts. It changes nothing if jobs are in the queue (ErrJobs), or if oar.conf names the epilogue and may not be
// edited (ErrNamed).
func (s Setup) Uninstall(ctx context.Context) error {
	opened, err := database.Open(s.Conf)
	if err != nil {
		return err
	}
	defer opened.Close()
	d := setupStore{tables.Tables{DB: opened}}
	if err := d.WithLock(ctx, tables.InstallLock, func() error { return s.uninstall(ctx, d) }); err != nil {
		return err
	}
	return s.waitForTable(ctx, d, "accordion_locks", func() error { return d.DropLocks(ctx) })
}

func (s Setup) uninstall(ctx context.Context, d setupStore) error {
	jobs := s.empty(ctx, d)
	if jobs != nil {
		jobs = fmt.Errorf("nothing was removed: %w", jobs)
	}
	if err := errors.Join(jobs, s.checkUnnamed()); err != nil {
		return err
	}
	all := s.parts()
	slices.Reverse(all)
	for _, p := range slices.Concat(s.first(), all) {
		line, err := p.take(ctx, d)
		if err != nil {
			return err
		}
		s.Tell(line)
	}
	return nil
}

// empty returns ErrJobs if the queue contains a job that is not the holder of a reservation.
func (s Setup) empty(ctx context.Context, d setupStore) error {
	there, err := d.Installed(ctx, d.Sql)
	if err != nil {
		return err
	}
	query := "SELECT COUNT(*), COALESCE(MIN(job_id), 0) FROM jobs j WHERE state NOT IN ('Terminated', 'Error') AND queue_name = " + d.Arg(1)
	if there {
		query += " AND " + tables.NoHolder
	}
	var jobs, first int64
	err = database.Rows(ctx, d.Sql, "the jobs of the queue", query, []any{s.Queue}, func(r *sql.Rows) error { return r.Scan(&jobs, &first) })
	if err == nil && jobs > 0 {
		err = fmt.Errorf("%w: %d of %s, the first of them %d: wait for their end, or end them (oardel), and try again", ErrJobs, jobs, s.Queue, first)
	}
	return err
}

// tablesLine names the tables, for Tell.
const tablesLine = "tables accordion_jobs, accordion_reservations, accordion_cpusets, accordion_places, accordion_leases, accordion_locks and accordion_asked"

func (s Setup) makeTables(ctx context.Context, d setupStore) (string, error) {
	complete, err := d.Complete(ctx)
	if err != nil || complete {
		return "there: " + tablesLine, err
	}
	older, err := d.Installed(ctx, d.Sql)
	if err != nil {
		return "", err
	}
	if older { // an older Accordion made fewer tables
		return "mended: " + tablesLine, d.MakeTables(ctx)
	}
	return "made: " + tablesLine, d.MakeTables(ctx)
}

func (s Setup) removeTables(ctx context.Context, d setupStore) (string, error) {
	there, err := d.Installed(ctx, d.Sql)
	if err != nil {
		return "", err
	}
	if err := s.waitForTable(ctx, d, "accordion_jobs", func() error { return d.DropTables(ctx) }); err != nil {
		return "", err
	}
	if !there {
		return "not there: " + tablesLine, nil
	}
	return "removed: " + tablesLine, nil
}
