package database

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"accordion/adapter"
	"accordion/core/hostlist"
)

// OnHost is the SQL condition for resources that are part of a node.
const OnHost = "r.type = 'default' AND r.network_address <> ''"

// Properties returns the names of all columns of resources: OAR's own, and the properties that the site added.
func Properties(ctx context.Context, from Querier) ([]string, error) {
	rows, err := from.QueryContext(ctx, "SELECT r.* FROM resources r WHERE 1 = 0")
	if err != nil {
		return nil, fmt.Errorf("reading the properties of resources: %w", err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err == nil {
		err = rows.Err()
	}
	return names, err
}

// Resources returns the numbers of the resources of the hosts, host by host.
func (d *DB) Resources(ctx context.Context, from Querier, hosts []string) ([]int64, error) {
	if len(hosts) == 0 {
		return nil, nil
	}
	where, args := d.In("r.network_address", hosts)
	query := "SELECT r.network_address, r.resource_id FROM resources r WHERE " + OnHost + " AND r.state <> 'Dead' AND " + where + " ORDER BY r.resource_id"
	of, err := Grouped[string, int64](ctx, from, "the nodes' resources", query, args...)
	if err != nil {
		return nil, err
	}
	var all []int64
	for _, host := range hosts {
		if len(of[host]) == 0 {
			return nil, fmt.Errorf("OAR has no node %s: %w", hostlist.Compact([]string{host}), adapter.ErrBusy)
		}
		all = append(all, of[host]...)
	}
	return all, nil
}

// ResourceRows reads all properties of the resources of the hosts. A property without a value is nil.
func (d *DB) ResourceRows(ctx context.Context, hosts []string) (found []map[string]any, err error) {
	if len(hosts) == 0 {
		return nil, nil
	}
	where, args := d.In("r.network_address", hosts)
	query := "SELECT r.* FROM resources r WHERE " + OnHost + " AND r.state <> 'Dead' AND " + where + " ORDER BY r.resource_id"
	err = Rows(ctx, d.Sql, "the nodes' resources", query, args, func(row *sql.Rows) error {
		columns, err := row.Columns()
		if err != nil {
			return err
		}
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		one := map[string]any{}
		err = row.Scan(into...)
		for i, name := range columns {
			if one[name] = nil; values[i].Valid {
				one[name] = values[i].String
			}
		}
		found = append(found, one)
		return err
	})
	return found, err
}

// Alive returns the hosts that have a resource in state Alive.
func (d *DB) Alive(ctx context.Context, from Querier, hosts []string) ([]string, error) {
	where, args := d.In("network_address", hosts)
	query := "SELECT DISTINCT network_address FROM resources WHERE state = 'Alive' AND " + where + " ORDER BY network_address"
	return Column[string](ctx, from, "the nodes' states", query, args...)
}

// Suspect finds the hosts that are Alive, asks OAR's server to make them Suspected, and returns them. It writes the
// same event as OAR writes for a node that fails at the end of a job. This event changes no job, and OAR's own check
// of nodes (finaud) may set the node to Alive again.
func (d *DB) Suspect(ctx context.Context, job int64, hosts []string, why error) (alive []string, err error) {
	err = d.Change(ctx, func(tx *sql.Tx) (err error) {
		if alive, err = d.Alive(ctx, tx, hosts); err != nil || len(alive) == 0 {
			return err
		}
		now, err := d.Second(ctx, tx)
		if err != nil {
			return err
		}
		text := []rune(fmt.Sprintf("[Accordion] OAR suspects %s: job %d: %s", strings.Join(alive, " "), job, OneLine(why)))
		event, err := d.insert(ctx, tx, "event_logs", "event_id", "type, job_id, date, description",
			"PING_CHECKER_NODE_SUSPECTED_END_JOB", job, now, string(text[:min(len(text), eventSize)]))
		if err != nil {
			return err
		}
		for _, host := range alive {
			query := fmt.Sprintf("INSERT INTO event_log_hostnames (event_id, hostname) VALUES (%d, %s)", event, d.Arg(1))
			if _, err := tx.ExecContext(ctx, query, host); err != nil {
				return err
			}
		}
		return nil
	})
	return alive, err
}

// eventSize is the maximum number of characters of an event's description in OAR's database.
const eventSize = 254

// PrepareManyJobs prepares the database for reading many jobs.
func (d *DB) PrepareManyJobs(ctx context.Context, tx *sql.Tx) error {
	if d.manyJobs() == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, d.manyJobs())
	return err
}
