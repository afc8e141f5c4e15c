// Package tables is Accordion's own tables in OAR's database, the door between the sidecar, which writes what it has decided,
// and the pass, which reads it.
//
//	orders, err := tables.Tables{DB: db}.ReadOrders(ctx, tx)
//
//	tables.go        the tables themselves: made, looked for, dropped
//	jobs.go          evolving jobs, written by the sidecar; companions.go: those of a job
//	reservations.go  nodes that the sidecar keeps free, and the jobs that show them
//	launch.go        companions that begin beside OAR's pass
//	leases.go        which sidecar may act; locks.go: what one process does at a time
//	asked.go         for how long users' texts were asked
//	orders.go        all of it, as the pass reads it; places
package tables

import (
	"context"
	"database/sql"
	"strings"

	"accordion/oar/database"
)

// table is one of Accordion's own in OAR's database.
type table struct{ name, columns string }

// tables are those in which the sidecar, which decides when evolving jobs start, grow and shrink, meets the scheduler, which alone
// may write OAR's plan.
var tables = []table{
	// Evolving jobs that were adopted, and their companions. The second of submission stands beside the number, which may be
	// used again. mark is adapter.MarkPrefix and the request, for a companion whether its nodes are the job's; base is the
	// job that a companion makes larger, 0 for that job; released is 0 while it is held and 1 when it is to start now, on its
	// places; reservation is the one it is tied to, in which it is to start.
	{"accordion_jobs", `
		job_id BIGINT NOT NULL PRIMARY KEY,
		submitted BIGINT NOT NULL,
		mark VARCHAR(255) NOT NULL,
		base BIGINT NOT NULL,
		released INTEGER NOT NULL,
		reservation VARCHAR(120) NOT NULL DEFAULT ''
	`},
	// The nodes that the sidecar keeps free; holder is the noop job that shows it in OAR's plan.
	{"accordion_reservations", `
		name VARCHAR(120) NOT NULL PRIMARY KEY,
		owner VARCHAR(255) NOT NULL,
		start_time BIGINT NOT NULL,
		end_time BIGINT NOT NULL,
		over_managed INTEGER NOT NULL,
		idle BIGINT NOT NULL,
		holder BIGINT NOT NULL
	`},
	// The hosts on which the sidecar has had a job's cpuset and key made, or is about to: they are to be cleaned. companion is the
	// job that holds the host for it, 0 until it has one; made is 0 when nothing was done yet, 1 when they may be there, 2 when they are.
	{"accordion_cpusets", `
		base BIGINT NOT NULL,
		host VARCHAR(255) NOT NULL,
		companion BIGINT NOT NULL,
		made INTEGER NOT NULL,
		PRIMARY KEY (base, host)
	`},
	// Which resources a holder holds, or a released job is to have.
	{"accordion_places", `
		job_id BIGINT NOT NULL,
		resource_id BIGINT NOT NULL,
		PRIMARY KEY (job_id, resource_id)
	`},
}

// Tables is OAR's database with Accordion's tables in it: the door between the sidecar and the pass.
type Tables struct{ *database.DB }

// all is every table of ours.
func all() []table { return append(tables[:len(tables):len(tables)], leases, locks, asked) }

// MakeTables makes Accordion's tables in OAR's database. Those that are there stay as they are, with what is in them.
func (d Tables) MakeTables(ctx context.Context) error {
	for _, t := range all() {
		if err := d.create(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

func (d Tables) create(ctx context.Context, t table) error {
	query := "CREATE TABLE IF NOT EXISTS " + t.name + " (" + t.columns + ")" + d.TableOptions()
	// Two processes that make it at once conflict, even with "if not exists".
	return d.Change(ctx, func(tx *sql.Tx) error { return database.Run(ctx, tx, "making the table "+t.name, query) })
}

func (d Tables) drop(ctx context.Context, t table) error {
	statements := []string{"DROP TABLE IF EXISTS " + t.name}
	if d.OARLocksTables() { // MariaDB would wait for a day for who reads the table
		statements = append([]string{"SET SESSION lock_wait_timeout = 1"}, statements...)
	}
	return d.Change(ctx, func(tx *sql.Tx) error { return database.Run(ctx, tx, "removing the table "+t.name, statements...) })
}

// DropTables removes Accordion's tables where they exist, but for the table of locks, and removes
// the holders of its reservations. Jobs of users stay as they are: an evolving job that waits is no
// longer scheduled, and OAR ends the running ones at their ends.
func (d Tables) DropTables(ctx context.Context) error {
	there, err := d.Installed(ctx, d.Sql)
	if err != nil {
		return err
	}
	if there {
		if err := d.removeHolders(ctx); err != nil {
			return err
		}
	}
	for _, t := range all() {
		if t == locks {
			continue
		}
		if err := d.drop(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// Installed says whether all of Accordion's tables are there in which sidecar and pass meet.
func (d Tables) Installed(ctx context.Context, from database.Querier) (bool, error) {
	return d.have(ctx, from, tables...)
}

// Complete says whether every table is there: an older Accordion made fewer.
func (d Tables) Complete(ctx context.Context) (bool, error) { return d.have(ctx, d.Sql, all()...) }

func (d Tables) have(ctx context.Context, from database.Querier, tables ...table) (bool, error) {
	var names []string
	for _, t := range tables {
		names = append(names, "'"+t.name+"'")
	}
	query := "SELECT table_name FROM information_schema.tables WHERE table_schema = " + d.OwnSchema() +
		" AND table_name IN (" + strings.Join(names, ", ") + ")"
	found := 0
	err := database.Rows(ctx, from, "which of Accordion's tables there are", query, nil, func(r *sql.Rows) error {
		found++
		return nil
	})
	return found == len(tables), err
}
