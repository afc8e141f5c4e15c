package oar

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"accordion/adapter"
	"accordion/adapter/hostfile"
	"accordion/core"
	"accordion/oar/database"
	"accordion/oar/observe"
	"accordion/oar/tables"
)

var _ adapter.Auditor = (*System)(nil)

// CurrentState implements adapter.Auditor. It lists only the hosts files that are on this host.
func (s *System) CurrentState(ctx context.Context) (*adapter.CurrentState, error) {
	all := &adapter.CurrentState{At: time.Now()}
	err := s.db.AtOneInstant(ctx, s.db.Sql, func(tx *sql.Tx) error {
		all.Jobs, all.Companions, all.Reservations, all.Kept = nil, nil, nil, nil
		live, err := s.read.Jobs(ctx, tx, database.IsLive+" AND "+tables.NoHolder)
		if err != nil {
			return err
		}
		for _, r := range live {
			j := r.Job
			j.Nodes = r.Holds
			if j.Expands = core.JobID(r.BaseJob); r.BaseJob != 0 {
				all.Companions = append(all.Companions, j.ID)
			}
			all.Jobs = append(all.Jobs, j)
		}
		reservations, err := s.read.Reservations(ctx, tx, "")
		if err != nil {
			return err
		}
		for _, r := range reservations {
			all.Reservations = append(all.Reservations, r.Reservation)
		}
		all.Kept, err = kept(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading OAR's database: %w", err)
	}
	all.Kept = append(all.Kept, hostfile.Kept("/tmp", s.db.Conf.Server, all.At)...)
	return all, nil
}

// kept returns the cpusets that are recorded for jobs, on hosts that can be cleaned. It does not report rows of accordion_places, because
// the scheduler ignores the places of jobs that have ended.
func kept(ctx context.Context, tx *sql.Tx) ([]adapter.Leftover, error) {
	all, err := database.All(ctx, tx, "the cpusets", "SELECT c.base, c.host FROM accordion_cpusets c WHERE EXISTS (SELECT 1 FROM resources r WHERE r.network_address = c.host AND r.state = 'Alive')", nil,
		func(k *adapter.Leftover) []any { return []any{(*int64)(&k.Job.ID), &k.Name} })
	for i := range all {
		all[i].What, all[i].Fix = "cpuset", "restart the sidecar, which cleans the host"
	}
	return all, err
}

// grain is the number of seconds by which a start or an end in OAR's tables may differ from the real time. The times in OAR's tables run
// ahead of the clock when passes follow each other quickly.
const grain core.Time = 2

// bookedTakes limits the time of one query of the database.
const bookedTakes = 5 * time.Minute

// Accounting implements adapter.Auditor. It reads OAR's tables of jobs and of the resources that they had.
func (s *System) Accounting(ctx context.Context, since core.Time) (*adapter.Accounting, error) {
	ctx, cancel := context.WithTimeout(ctx, bookedTakes)
	defer cancel()
	books := &adapter.Accounting{Grain: grain}
	where := fmt.Sprintf("j.start_time > 0 AND (j.stop_time >= %d OR j.stop_time = 0)", since)
	err := s.db.AtOneInstant(ctx, s.db.Sql, func(tx *sql.Tx) error {
		now, err := s.db.Second(ctx, tx)
		if err != nil {
			return err
		}
		books.Jobs, err = bookedJobs(ctx, tx, where, now)
		if err != nil {
			return err
		}
		return bookedHosts(ctx, tx, where, books.Jobs)
	})
	if err != nil {
		return nil, fmt.Errorf("reading OAR's accounting: %w", err)
	}
	return books, nil
}

// bookedJobs reads the jobs. Each job gets one hold without hosts; bookedHosts adds the hosts.
func bookedJobs(ctx context.Context, tx *sql.Tx, where string, now core.Time) (all []adapter.AccountedRun, err error) {
	query := `SELECT j.job_id, j.submission_time, COALESCE(j.job_name, ''), j.job_user, j.queue_name, j.state, COALESCE(j.suspended, 'NO'), j.start_time, j.stop_time, COALESCE(a.base, 0), COALESCE(a.mark, '')
		FROM jobs j LEFT JOIN accordion_jobs a ON a.job_id = j.job_id AND a.submitted = j.submission_time WHERE ` + where + " ORDER BY j.job_id"
	err = database.Rows(ctx, tx, "the jobs", query, nil, func(row *sql.Rows) error {
		var b adapter.AccountedRun
		var suspended, mark string
		var start, stop core.Time
		err := row.Scan(&b.ID, &b.Submitted, &b.Name, &b.User, &b.Partition, &b.State, &suspended, &start, &stop, &b.Expands, &mark)
		// a companion without one of these marks belongs to a growth that failed
		b.Starts = b.Expands != 0 && mark == observe.AtStart
		b.Stays, b.Suspended, b.Open = b.Starts || b.Expands != 0 && mark == observe.Grown, suspended == "YES", stop == 0
		if b.Open {
			stop = max(now, start)
		}
		b.Holds = []adapter.Hold{{From: start, To: stop}}
		all = append(all, b)
		return err
	})
	return all, err
}

// bookedHosts adds the hosts of each job, and sets Alone if the job had all resources of all its hosts.
func bookedHosts(ctx context.Context, tx *sql.Tx, where string, jobs []adapter.AccountedRun) error {
	byID := make(map[core.JobID]*adapter.AccountedRun, len(jobs))
	for i := range jobs {
		jobs[i].Alone = true
		byID[jobs[i].ID] = &jobs[i]
	}
	query := `SELECT j.job_id, r.network_address, COUNT(*), MIN(h.all_of_it) FROM jobs j JOIN assigned_resources a ON a.moldable_job_id = j.assigned_moldable_job
		JOIN resources r ON r.resource_id = a.resource_id
		JOIN (SELECT network_address, COUNT(*) AS all_of_it FROM resources WHERE type = 'default' AND network_address <> '' GROUP BY network_address) h
			ON h.network_address = r.network_address
		WHERE ` + database.OnHost + " AND " + where + " GROUP BY j.job_id, r.network_address ORDER BY j.job_id, r.network_address"
	return database.Rows(ctx, tx, "the jobs' hosts", query, nil, func(row *sql.Rows) error {
		var id core.JobID
		var host string
		var has, all int
		err := row.Scan(&id, &host, &has, &all)
		if b := byID[id]; b != nil {
			b.Holds[0].Nodes, b.Alone = append(b.Holds[0].Nodes, host), b.Alone && has == all
		}
		return err
	})
}
