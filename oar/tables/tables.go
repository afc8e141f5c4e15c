// Package tables is Accordion's own tables in OAR's database, the door between the sidecar, which writes what it has decided,
// and the pass, which reads it.
//
//	orders, err := tables.Tables{DB: db}.ReadOrders(ctx, tx)
package tables

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"accordion/oar/database"
)

// tables are Accordion's own in OAR's database, by name and with their columns. In them the sidecar, which decides when
// evolving jobs start, grow and shrink, meets the scheduler, which alone may write OAR's plan.
var tables = []struct{ name, columns string }{
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

// MakeTables makes Accordion's tables in OAR's database. Those that are there stay as they are, with what is in them.
func (d Tables) MakeTables(ctx context.Context) error {
	for _, t := range tables {
		query := "CREATE TABLE IF NOT EXISTS " + t.name + " (" + t.columns + ")"
		if d.Conf.Type == "mysql" {
			query += " ENGINE = InnoDB" // what a transaction wrote must appear together
		}
		if _, err := d.Sql.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("making the table %s: %w", t.name, err)
		}
	}
	return nil
}

// DropTables removes Accordion's tables and the holders of its reservations; where they are not there, nothing. Jobs of
// users stay as they are: one that evolves is not scheduled any more, and OAR ends those that run when they are over.
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
	for _, t := range tables {
		if _, err := d.Sql.ExecContext(ctx, "DROP TABLE IF EXISTS "+t.name); err != nil {
			return fmt.Errorf("removing the table %s: %w", t.name, err)
		}
	}
	return nil
}

// Installed says whether all of Accordion's tables are there.
func (d Tables) Installed(ctx context.Context, from database.Querier) (bool, error) {
	schema := "ANY (current_schemas(false))"
	if d.Conf.Type == "mysql" {
		schema = "DATABASE()"
	}
	var names []string
	for _, t := range tables {
		names = append(names, "'"+t.name+"'")
	}
	query := "SELECT table_name FROM information_schema.tables WHERE table_schema = " + schema +
		" AND table_name IN (" + strings.Join(names, ", ") + ")"
	found := 0
	err := database.Rows(ctx, from, "which of Accordion's tables there are", query, nil, func(r *sql.Rows) error {
		found++
		return nil
	})
	return found == len(tables), err
}

func (d Tables) removeHolders(ctx context.Context) error {
	err := d.Change(ctx, func(tx *sql.Tx) error {
		var holders []int64
		err := database.Rows(ctx, tx, "the reservations", "SELECT holder FROM accordion_reservations", nil, func(r *sql.Rows) error {
			var id int64
			err := r.Scan(&id)
			holders = append(holders, id)
			return err
		})
		if err != nil {
			return err
		}
		for _, id := range holders {
			if err := RemoveJob(ctx, tx, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("removing the reservations: %w", err)
	}
	return nil
}

// RemoveJob deletes a job that never ran, with every row that names it, as if it had never been: for a holder, which is
// nobody's work and has no place in the accounting.
func RemoveJob(ctx context.Context, tx *sql.Tx, job int64) error {
	choices, err := database.Numbers(ctx, tx, "SELECT moldable_id FROM moldable_job_descriptions WHERE moldable_job_id", []int64{job})
	if err != nil {
		return fmt.Errorf("removing job %d: %w", job, err)
	}
	groups, err := database.Numbers(ctx, tx, "SELECT res_group_id FROM job_resource_groups WHERE res_group_moldable_id", choices)
	if err != nil {
		return fmt.Errorf("removing job %d: %w", job, err)
	}
	for _, of := range []struct {
		ids  []int64
		rows []string
	}{
		{groups, []string{"job_resource_descriptions WHERE res_job_group_id"}},
		{choices, []string{"job_resource_groups WHERE res_group_moldable_id", "moldable_job_descriptions WHERE moldable_id",
			"gantt_jobs_predictions WHERE moldable_job_id", "gantt_jobs_resources WHERE moldable_job_id",
			"gantt_jobs_predictions_visu WHERE moldable_job_id", "gantt_jobs_resources_visu WHERE moldable_job_id"}},
		{[]int64{job}, []string{"job_types WHERE job_id", "job_dependencies WHERE job_id", "job_state_logs WHERE job_id",
			"challenges WHERE job_id", "frag_jobs WHERE frag_id_job", "event_logs WHERE job_id", "accordion_places WHERE job_id",
			"jobs WHERE job_id"}},
	} {
		for _, rows := range of.rows {
			for _, id := range of.ids {
				if _, err := tx.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s = %d", rows, id)); err != nil {
					return fmt.Errorf("removing job %d: %w", job, err)
				}
			}
		}
	}
	return nil
}
