package observe

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"accordion/core"
	"accordion/core/hostlist"
	"accordion/oar/database"
	"accordion/oar/scheduler"
)

// Jobs reads the jobs that match a condition, and returns them by ID. Strings in the condition are passed as
// arguments. For a job that has ended, Jobs reads only the row in OAR's table of jobs, because the job's rows in other
// tables are in OAR's archive (LOG), which may span years.
func (o *Reader) Jobs(ctx context.Context, from database.Querier, where string, args ...any) ([]*Job, error) {
	var all []*Job
	byID := map[int64]*Job{}
	query := `SELECT j.job_id, j.submission_time, COALESCE(j.job_name, ''), j.job_user, j.project, j.queue_name, j.state, j.reservation, j.start_time,
		COALESCE(j.assigned_moldable_job, 0), j.message, COALESCE(m.moldable_walltime, 0), COALESCE(a.base, -1), COALESCE(a.mark, ''), COALESCE(a.released, 0),
		COALESCE(a.reservation, '')
		FROM jobs j LEFT JOIN accordion_jobs a ON a.job_id = j.job_id AND a.submitted = j.submission_time
		LEFT JOIN moldable_job_descriptions m ON m.moldable_id = j.assigned_moldable_job AND m.moldable_index = 'CURRENT' WHERE ` + where + " ORDER BY j.job_id"
	err := database.Rows(ctx, from, "the jobs", query, args, func(row *sql.Rows) error {
		r := &Job{}
		var reservation, tied string
		var base int64
		err := row.Scan(&r.ID, &r.Submitted, &r.Name, &r.User, &r.Project, &r.queue, &r.OARState, &reservation, &r.Started,
			&r.Moldable, &r.message, &r.Limit, &base, &r.Joined, &r.Released, &tied)
		r.advance = reservation != "None"
		if r.Adopted = base >= 0; r.Adopted {
			r.BaseJob = base
		}
		if r.BaseJob == 0 {
			r.Reservation, r.Mark, r.Joined = tied, r.Joined, ""
		} else {
			r.MadeIn = tied
			if strings.HasPrefix(r.Joined, JoiningMark) {
				r.Joined, r.With = "", r.Joined
			}
		}
		r.Partition, r.Account = r.queue, r.Project
		byID[int64(r.ID)] = r
		all = append(all, r)
		return err
	})
	if err != nil || len(all) == 0 {
		return all, err
	}
	for _, part := range []func() error{
		func() error { return o.readKinds(ctx, from, byID, where, args) },
		func() error { return o.readHolds(ctx, from, byID, where, args) },
		func() error { return o.readPlaces(ctx, from, byID, where, args) },
		func() error { return o.readRequested(ctx, from, byID, where, args) },
		func() error { return o.readWaitsFor(ctx, from, byID, where, args) },
		func() error { return o.readSuspended(ctx, from, byID, where, args) },
	} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	for _, r := range all {
		r.State = r.stateOf()
	}
	return all, nil
}

// readKinds reads the jobs' types, and the requests among them.
func (o *Reader) readKinds(ctx context.Context, from database.Querier, byID map[int64]*Job, where string, args []any) error {
	query := "SELECT t.job_id, t.type FROM jobs j JOIN job_types t ON t.job_id = j.job_id WHERE t.types_index = 'CURRENT' AND (" + where + ") ORDER BY t.job_type_id"
	err := database.Rows(ctx, from, "the jobs' types", query, args, func(row *sql.Rows) error {
		var id int64
		var kind string
		err := row.Scan(&id, &kind)
		if r := byID[id]; r != nil {
			r.types = append(r.types, strings.TrimSpace(kind))
		}
		return err
	})
	for _, r := range byID {
		r.Comment = requestOf(r.types)
		if r.Comment != "" {
			r.Unfit = unfit(r)
		}
	}
	return err
}

// readHolds reads the hosts that jobs hold.
func (o *Reader) readHolds(ctx context.Context, from database.Querier, byID map[int64]*Job, where string, args []any) error {
	query := `SELECT j.job_id, r.network_address FROM jobs j JOIN assigned_resources a ON a.moldable_job_id = j.assigned_moldable_job
		JOIN resources r ON r.resource_id = a.resource_id WHERE a.assigned_resource_index = 'CURRENT' AND ` + database.OnHost + " AND " + database.IsHolding +
		" AND (" + where + ") GROUP BY j.job_id, r.network_address ORDER BY j.job_id, r.network_address"
	return database.Rows(ctx, from, "the jobs' hosts", query, args, func(row *sql.Rows) error {
		var id int64
		var host string
		err := row.Scan(&id, &host)
		if r := byID[id]; r != nil && !(r.OARState == "Suspended" && !r.evolving() && r.BaseJob == 0 && o.freesSuspended()) {
			r.Holds = append(r.Holds, host)
		}
		return err
	})
}

// freesSuspended reports whether OAR gives the hosts of a suspended job to other jobs. Evolving jobs are an exception, because they have a
// promise for their hosts.
func (o *Reader) freesSuspended() bool { return slices.Contains(o.db.Conf.SuspendedFree, "default") }

// readPlaces reads the hosts on which released jobs will start.
func (o *Reader) readPlaces(ctx context.Context, from database.Querier, byID map[int64]*Job, where string, args []any) error {
	query := `SELECT j.job_id, r.network_address FROM jobs j JOIN accordion_places p ON p.job_id = j.job_id
		JOIN resources r ON r.resource_id = p.resource_id WHERE ` + database.OnHost + " AND (" + where + ") GROUP BY j.job_id, r.network_address"
	err := database.Rows(ctx, from, "the jobs' places", query, args, func(row *sql.Rows) error {
		var id int64
		var host string
		err := row.Scan(&id, &host)
		if r := byID[id]; r != nil {
			r.Places = append(r.Places, host)
		}
		return err
	})
	for _, r := range byID {
		hostlist.Sort(r.Places)
	}
	return err
}

// readRequested reads the sizes and limits that jobs request. A waiting job gets the size and limit of the configuration that OAR has
// planned for it, or else of its first configuration.
func (o *Reader) readRequested(ctx context.Context, from database.Querier, byID map[int64]*Job, where string, args []any) error {
	query := `SELECT j.job_id, m.moldable_id, m.moldable_walltime, COALESCE(MAX(CASE WHEN d.res_job_resource_type = 'network_address' THEN d.res_job_value END), 0)
		FROM jobs j JOIN moldable_job_descriptions m ON m.moldable_job_id = j.job_id
		JOIN job_resource_groups g ON g.res_group_moldable_id = m.moldable_id
		JOIN job_resource_descriptions d ON d.res_job_group_id = g.res_group_id
		WHERE m.moldable_index = 'CURRENT' AND g.res_group_index = 'CURRENT' AND d.res_job_index = 'CURRENT' AND ` + database.IsLive +
		" AND (" + where + ") GROUP BY j.job_id, m.moldable_id, m.moldable_walltime ORDER BY j.job_id, m.moldable_id"
	err := database.Rows(ctx, from, "the jobs' configurations", query, args, func(row *sql.Rows) error {
		var id, moldable int64
		var walltime core.Time
		var nodes int
		err := row.Scan(&id, &moldable, &walltime, &nodes)
		r := byID[id]
		if r != nil && r.Want == 0 && r.queued() {
			r.Want, r.Limit = max(nodes, 1), walltime
		}
		if r != nil && !r.evolving() { // a pass adds the pause between two jobs to the limit
			r.Choices = append(r.Choices, core.EP{{Duration: walltime + o.db.Conf.SecurityTime, Nodes: nodes}})
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range byID {
		if slices.ContainsFunc(r.Choices, func(ep core.EP) bool { return ep[0].Nodes < 1 }) { // the request is not for whole hosts
			r.Choices = nil
		}
	}
	query = `SELECT j.job_id, m.moldable_walltime, COUNT(DISTINCT r.network_address)
		FROM jobs j JOIN moldable_job_descriptions m ON m.moldable_job_id = j.job_id
		JOIN gantt_jobs_resources_visu g ON g.moldable_job_id = m.moldable_id JOIN resources r ON r.resource_id = g.resource_id
		WHERE m.moldable_index = 'CURRENT' AND ` + database.OnHost + " AND " + database.IsWaiting + " AND (" + where + ") GROUP BY j.job_id, m.moldable_id, m.moldable_walltime"
	return database.Rows(ctx, from, "OAR's plan", query, args, func(row *sql.Rows) error {
		var id int64
		var walltime core.Time
		var nodes int
		err := row.Scan(&id, &walltime, &nodes)
		if r := byID[id]; r != nil && nodes > 0 && !r.evolving() {
			r.Want, r.Limit = nodes, walltime
		}
		return err
	})
}

// readWaitsFor sets Blocked for jobs that wait for the end of another job, and the earliest start of postponed jobs.
func (o *Reader) readWaitsFor(ctx context.Context, from database.Querier, byID map[int64]*Job, where string, args []any) error {
	query := `SELECT j.job_id, p.job_id_required FROM jobs j JOIN job_dependencies p ON p.job_id = j.job_id JOIN jobs o ON o.job_id = p.job_id_required
		WHERE p.job_dependency_index = 'CURRENT' AND ` + strings.ReplaceAll(database.IsLive, "j.", "o.") + " AND " + database.IsWaiting + " AND (" + where + ")"
	err := database.Rows(ctx, from, "the jobs' dependencies", query, args, func(row *sql.Rows) error {
		var id, on int64
		err := row.Scan(&id, &on)
		if r := byID[id]; r != nil {
			r.Blocked, r.Why = true, fmt.Sprintf("it waits for the end of job %d", on)
		}
		return err
	})
	for _, r := range byID {
		if k, err := readKindsOf(r); err == nil {
			r.Begin = k.Postpone
		}
	}
	return err
}

// readSuspended adds the time for which a job was suspended to its limit, because OAR lets the job run longer by that time.
func (o *Reader) readSuspended(ctx context.Context, from database.Querier, byID map[int64]*Job, where string, args []any) error {
	query := fmt.Sprintf("SELECT j.job_id, SUM(CASE WHEN l.date_stop = 0 THEN %d ELSE l.date_stop END - l.date_start)", time.Now().Unix()) +
		" FROM jobs j JOIN job_state_logs l ON l.job_id = j.job_id WHERE j.suspended = 'YES' AND l.job_state IN ('Suspended', 'Resuming') AND " +
		database.IsHolding + " AND (" + where + ") GROUP BY j.job_id"
	return database.Rows(ctx, from, "the suspended jobs", query, args, func(row *sql.Rows) error {
		var id int64
		var sum core.Time
		err := row.Scan(&id, &sum)
		if r := byID[id]; r != nil {
			r.Limit += max(sum, 0)
		}
		return err
	})
}

// readKindsOf parses the types that restrict when a job may run. It ignores types that only OAR's own schedulers support.
func readKindsOf(r *Job) (scheduler.Kinds, error) {
	return scheduler.ReadTypes(slices.DeleteFunc(slices.Clone(r.types), func(t string) bool {
		return slices.Contains(scheduler.Unsupported, typeName(t)) || strings.HasPrefix(t, "ep") || typeName(t) == "launch"
	}))
}
