// Package tables provides Accordion's own tables in OAR's database. The sidecar writes its decisions there, and a pass
// reads them.
//
//	orders, err := tables.Tables{DB: db}.ReadOrders(ctx, tx)
//
//	tables.go        create, find and drop the tables
//	jobs.go          evolving jobs, written by the sidecar; companions.go: their companions
//	reservations.go  nodes that the sidecar keeps free, and their holders
//	launch.go        launch jobs without a pass of OAR's
//	leases.go        which sidecar may act; locks.go: what one process does at a time
//	querytimes.go    how long users' SQL was evaluated
//	orders.go        everything, as the pass reads it; places
package tables

import (
	"context"
	"database/sql"
	"strings"

	"accordion/oar/database"
)

// table is one of Accordion's tables in OAR's database.
type table struct{ name, columns string }

// tables are the tables through which the sidecar and the scheduler communicate. The sidecar decides when evolving jobs
// start, grow and shrink. Only the scheduler may write OAR's plan.
var tables = []table{
	// Adopted evolving jobs, and their companions. The columns `submitted` and `job_id` together identify a job,
	// because OAR may use a job ID again. `mark` is adapter.MarkPrefix and the request; for a companion it says
	// whether the companion's nodes belong to the job. `base` is the base of a companion, and 0 for a base. `released`
	// is 0 while the job is held, and 1 if it is to start now on its places. `reservation` is the reservation in which
	// the job is to start.
	{"accordion_jobs", `
		job_id BIGINT NOT NULL PRIMARY KEY,
		submitted BIGINT NOT NULL,
		mark VARCHAR(255) NOT NULL,
		base BIGINT NOT NULL,
		released INTEGER NOT NULL,
		reservation VARCHAR(120) NOT NULL DEFAULT ''
	`},
	// The nodes that the sidecar keeps free. The column `holder` is the noop job that represents the reservation in OAR's plan.
	{"accordion_reservations", `
		name VARCHAR(120) NOT NULL PRIMARY KEY,
		owner VARCHAR(255) NOT NULL,
		start_time BIGINT NOT NULL,
		end_time BIGINT NOT NULL,
		over_managed INTEGER NOT NULL,
		idle BIGINT NOT NULL,
		holder BIGINT NOT NULL
	`},
	// The hosts on which the sidecar has made, or is about to make, a job's cpuset and key, which must be cleaned
	// later. The column `companion` is the job that holds the host, or 0 until there is one. `made` is Noted, Begun or
	// Made.
	{"accordion_cpusets", `
		base BIGINT NOT NULL,
		host VARCHAR(255) NOT NULL,
		companion BIGINT NOT NULL,
		made INTEGER NOT NULL,
		PRIMARY KEY (base, host)
	`},
	// The resources of a reservation (by its holder), and the resources that released jobs will get.
	{"accordion_places", `
		job_id BIGINT NOT NULL,
		resource_id BIGINT NOT NULL,
		PRIMARY KEY (job_id, resource_id)
	`},
}

// Tables is OAR's database with Accordion's tables.
type Tables struct{ *database.DB }

// all returns all of Accordion's tables.
func all() []table { return append(tables[:len(tables):len(tables)], leases, locks, asked) }

// MakeTables creates Accordion's tables in OAR's database. Existing tables and their rows stay unchanged.
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
	// Two processes that create the table simultaneously conflict, even with "if not exists".
	return d.Change(ctx, func(tx *sql.Tx) error { return database.Run(ctx, tx, "making the table "+t.name, query) })
}

func (d Tables) drop(ctx context.Context, t table) error {
	statements := []string{"DROP TABLE IF EXISTS " + t.name}
	if d.OARLocksTables() { // MariaDB would wait up to a day for a reader of the table
		statements = append([]string{"SET SESSION lock_wait_timeout = 1"}, statements...)
	}
	return d.Change(ctx, func(tx *sql.Tx) error { return database.Run(ctx, tx, "removing the table "+t.name, statements...) })
}

// DropTables removes Accordion's tables if they exist, except the table of locks, and removes the holders of
// reservations. Jobs of users stay unchanged. Waiting evolving jobs are no longer scheduled, and running ones end at
// their walltime.
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

// Installed reports whether all tables that the sidecar and a pass share exist.
func (d Tables) Installed(ctx context.Context, from database.Querier) (bool, error) {
	return d.exist(ctx, from, tables...)
}

// Complete reports whether every table exists. An older Accordion made fewer tables.
func (d Tables) Complete(ctx context.Context) (bool, error) { return d.exist(ctx, d.Sql, all()...) }

func (d Tables) exist(ctx context.Context, from database.Querier, tables ...table) (bool, error) {
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
